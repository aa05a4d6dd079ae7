"""Whether the effect of a request depends on where HEAD is, so that an approval of it holds only there (pure)."""

from __future__ import annotations

from executor.git.command_words import given
from executor.policy.model import Command, Operation, Request

# Commands that build on HEAD; the others mean the same wherever it is, and the agent may commit while they wait.
_FROM_HEAD = frozenset(
    {"commit", "merge", "rebase", "cherry-pick", "revert", "reset", "pull", "stash", "stash push", "stash pop",
     "stash apply", "restore"}
)  # fmt: skip
_FROM_HEAD_TOO = ("bisect ", "notes ")  # families of commands that mean HEAD where they name nothing
_MAKES_BRANCH = frozenset({"-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"})
_DELETES = frozenset({"-d", "-D", "--delete"})
_FOLLOWS = frozenset({"-u", "--set-upstream-to", "--unset-upstream"})  # take the branch as their only operand
_RESUMES = frozenset({"--continue", "--abort", "--skip", "--quit", "--set-upstream"})


def builds_on_head(request: Request, command: Command | None) -> bool:
    """Return whether HEAD matters to `request`, of which `command` is what a git_cmd was judged to be."""
    if command is None:
        return request.operation in (Operation.GIT_COMMIT, Operation.GIT_RECOVER)
    options = given(command)
    if command.subcommand in ("checkout", "switch"):
        return not command.operands and (bool(options & _MAKES_BRANCH) or bool(command.paths))
    if command.subcommand == "branch":  # a branch that is not named is the present one
        named = len(command.operands)
        return named == 0 or (named == 1 and not options & _DELETES and not options & _FOLLOWS)
    if command.subcommand == "tag":
        return len(command.operands) < 2 and not options & _DELETES
    if command.subcommand.startswith(_FROM_HEAD_TOO):
        return len(command.operands) < 2
    return command.subcommand in _FROM_HEAD or bool(options & _RESUMES)
