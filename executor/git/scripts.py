"""Commands of git that are shell scripts, for there is no shell where git runs: done otherwise, or refused (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from executor.errors import Refused
from executor.policy.model import Command

# `git bisect` became a program in 2.40. Before, the script only handed its words on to a program of another name, to
# which they were options until 2.39 (git's own builtin/bisect--helper.c and git-bisect.sh).
_BISECT_IS_A_PROGRAM = (2, 40)
_HELPER_HAS_SUBCOMMANDS = (2, 39)
_STATES = frozenset({"bad", "good", "new", "old"})
_SCRIPTED = frozenset({"octopus", "resolve"})
_STRATEGY = frozenset({"-s", "--strategy"})
_COMBINES = frozenset({"merge", "rebase", "cherry-pick", "revert", "pull"})


def without_shell(words: Sequence[str], version: tuple[int, ...]) -> list[str]:
    """Return the words for git `version` that do what `words` (sub-command first) ask for without a script."""
    if words[0] != "bisect" or version >= _BISECT_IS_A_PROGRAM:
        return list(words)
    verb, *rest = words[1:]
    if verb in _STATES:
        verb, rest = "state", [verb, *rest]
    return ["bisect--helper", verb if version >= _HELPER_HAS_SUBCOMMANDS else f"--bisect-{verb}", *rest]


def refuse_scripts(command: Command) -> None:
    """Raise Refused("strategy_is_a_script") for a merge that git leaves to one of its shell scripts.

    The table lets these strategies through to here, so that who asks for one is told why not.
    """
    if command.subcommand not in _COMBINES:
        return
    for name, value in command.options:
        if name in _STRATEGY and value in _SCRIPTED:
            raise Refused(
                "strategy_is_a_script",
                f"The merge strategy {value} is a shell script, and none is started where git runs.",
                "Leave the strategy out: git's own one (ort) does it.",
            )
    if command.subcommand == "merge" and len(command.operands) > 1:
        raise Refused(
            "strategy_is_a_script",
            "Several branches at once are merged by a shell script (octopus), and none is started where git runs.",
            "Merge them one after the other.",
        )
