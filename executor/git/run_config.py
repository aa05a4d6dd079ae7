"""git_cmd for config: one setting read, or the identity set; git is never left to find the file."""

from __future__ import annotations

from executor.git.committing import set_config
from executor.git.questions import text
from executor.git.remote_address import mask_userinfo
from executor.git.reports import succeeded
from executor.git.repository import Git
from executor.outcome import Outcome, State
from executor.policy.model import Command


def get(git: Git, command: Command) -> Outcome:
    """Tell one setting: those of remotes from the transfer repository (masked), all others from the local one.

    A setting that is not there is an answer: exit code 1 and no output, as git says it.
    """
    key = command.operands[0]
    arguments = ["config", "--get-all", "--", key]
    ask = git.transfer if key.lower().startswith("remote.") else git.local
    done = ask(arguments, check=False)
    found = "".join(f"{mask_userinfo(line)}\n" for line in text(done.stdout).splitlines())
    return Outcome(State.SUCCEEDED, done.exit_code, found)


def set_identity(git: Git, command: Command) -> Outcome:
    """Set user.name or user.email of the repository and read it back."""
    key, value = command.operands
    seen = set_config(git, key, value)
    return succeeded(f"{key} is now {seen}\n", verified={"effect": seen == value})
