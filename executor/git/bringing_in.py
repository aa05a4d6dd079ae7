"""Which commands bring files of commits into the index and the work tree, and of which commits (pure).

Two questions start here: whether an embedded repository would come in, and which files that git does not track would
be written over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from executor.policy.model import Command

BISECT_BAD = ("refs/bisect/bad", "refs/bisect/new")
BISECT_GOOD = ("refs/bisect/good-*", "refs/bisect/old-*")
_STASH = "refs/stash"
# What each command takes when it is given no revision; "" is nothing.
_DEFAULT: Mapping[str, str] = {
    "checkout": "HEAD",
    "switch": "HEAD",
    "restore": "HEAD",
    "reset": "HEAD",
    "merge": "@{upstream}",
    "rebase": "@{upstream}",
    "cherry-pick": "",
    "revert": "",
    "stash push": "HEAD",
    "stash save": "HEAD",
    "stash apply": _STASH,
    "stash pop": _STASH,
    "stash branch": _STASH,
}
_RESUMES = frozenset({"--abort", "--continue", "--skip"})
# They bring changes together, and what they cannot bring together they write beside it, as PATH~NAME.
_MERGES = frozenset(
    {"merge", "rebase", "cherry-pick", "revert", "stash apply", "stash pop", "stash branch"}
)  # fmt: skip
_MERGES_WITH = frozenset({("checkout", "-m"), ("checkout", "--merge"), ("switch", "-m"), ("switch", "--merge")})
# To these A...B is the commit from which both went on (git-checkout(1), git-rebase(1)), to others a range.
_TAKES_A_BASE = frozenset({"checkout", "switch", "restore", "rebase"})
_PICKS = frozenset({"cherry-pick", "revert"})
# One such word, and all of them name one walk (git-cherry-pick(1)).
_RANGE = re.compile(r"\.\.(?![^{}]*\})|^\^|\^(!|@|-\d*)$")
_NAMES_A_TREE = frozenset({("restore", "--source"), ("restore", "-s"), ("rebase", "--onto")})


@dataclass(frozen=True, slots=True)
class Coming:
    """What a command brings in.

    `trees` are revisions of which every file may come, `A...B` being the merge base of both; those that name nothing
    here bring nothing. `ranges` are revisions for one walk, as git-log(1) takes them: every path that one of its
    commits touches may come. `files` are paths that are written to. `resumes`: the rest of a merge, rebase or pick in
    progress, or what was there before it. `bisects`: any commit that the bisection in progress may still come to,
    given what else is known to be bad and good. `merges`: beside each path one of its name with `~` and something
    more may be written.
    """

    trees: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    resumes: bool = False
    bisects: bool = False
    good: tuple[str, ...] = ()
    merges: bool = False


def what_comes(command: Command) -> Coming:
    """Return what `command` brings in; of a pull, what it fetches is not known before, so that is left out."""
    kind, _, verb = command.subcommand.partition(" ")
    if kind == "bisect":
        return _bisect(verb, command.operands)
    if kind == "mv":
        return Coming(files=_moved_to(command.paths))
    if command.subcommand not in _DEFAULT:
        return Coming()
    merges = command.subcommand in _MERGES or any((kind, name) in _MERGES_WITH for name, _ in command.options)
    if _RESUMES & {name for name, _ in command.options} and command.subcommand != "restore":
        return Coming(trees=("ORIG_HEAD", "HEAD"), resumes=True, merges=merges)
    named = [_spelled(command.subcommand, word) for word in _revisions(command)]
    ranges = list(named) if kind in _PICKS and any(map(_RANGE.search, named)) else []
    if kind == "rebase":
        ranges = _written_anew(command, named)
    named += [value for name, value in command.options if value and (command.subcommand, name) in _NAMES_A_TREE]
    trees = [word for word in named if not _RANGE.search(word) or ("..." in word and kind in _TAKES_A_BASE)]
    if command.subcommand == "revert":  # what comes back is what was there before the commit
        trees = [f"{word}^{parent}" for word in trees for parent in (1, 2)]
    return Coming(tuple(trees), tuple(ranges), merges=merges)


def _written_anew(command: Command, named: list[str]) -> list[str]:
    """Return the range of the commits that a rebase makes again, one after the other: each brings its files.

    A file that one of them adds and a later one removes is in no tree at either end.
    """
    if any(name == "--root" for name, _ in command.options):
        return [command.operands[0] if command.operands else "HEAD"]
    return [f"{named[0]}..{named[1] if len(named) > 1 else 'HEAD'}"]


def _revisions(command: Command) -> tuple[str, ...]:
    given = command.operands[1:] if command.subcommand == "stash branch" else command.operands
    default = _DEFAULT[command.subcommand]
    return given or ((default,) if default else ())


def _spelled(subcommand: str, word: str) -> str:
    if word == "-":
        return "@{-1}"
    return f"stash@{{{word}}}" if subcommand.startswith("stash ") and word.isdigit() else word


def _moved_to(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return where `mv` may write: the last path itself, or in it the names of the others."""
    *sources, target = paths
    inside = (f"{target.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}" for source in sources)
    return (target.rstrip("/"), *inside)


def _bisect(verb: str, operands: tuple[str, ...]) -> Coming:
    if verb == "log":
        return Coming()
    if verb == "reset":
        return Coming(trees=operands, resumes=True)
    if verb == "start":
        return Coming(trees=operands[:1] or ("HEAD",), bisects=True, good=operands[1:])
    if verb in ("good", "old"):
        return Coming(bisects=True, good=operands or ("HEAD",))
    return Coming(trees=operands or ("HEAD",), bisects=True)
