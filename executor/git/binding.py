"""What an approval is given for, resolved to object ids, so that a yes holds for that and for nothing else.

`bind` resolves everything that the effect of a request depends on; its digest goes into the approval. Directly before
the request runs it is bound again: another digest means that something moved, and `drift` says what, in words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from executor.git.push_plan import NEW, OLD, TAGS, Wanted
from executor.git.pushing import local_commit, remote_of
from executor.git.questions import HEADS, head, index_tree, resolve
from executor.git.recovery_model import RecoveryPlan
from executor.git.recovery_steps import planned
from executor.git.repository import Git
from executor.git.run_push import intent_of
from executor.git.transfer import address_of, ls_remote
from executor.policy.model import Ask, Command, Operation, PushParams, Request

_SHOWN = 10  # digits of an id in a sentence
_FROM_HEAD = frozenset({"commit", "merge", "rebase", "cherry-pick", "revert", "reset", "pull", "stash", "stash push"})
_FROM_STASH = frozenset({"stash pop", "stash apply", "stash drop", "stash branch", "stash clear"})
_MAKES_BRANCH = frozenset({"-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"})
_TAKES_FILES = "Files are taken from the work tree as they are when it runs."


@dataclass(frozen=True, slots=True)
class Binding:
    """What a request's effect depends on.

    `ids` maps names (revisions; for a push `new:REF` and `remote:REF`, "" for none) to object ids. `state` is what is
    no object: the branch that HEAD is on, the remote's address. `notes` say what cannot be bound.
    """

    operation: str
    repo: str
    argv: tuple[str, ...]
    ids: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 over all of it in one spelling."""
        text = json.dumps(self.to_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_data(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "repo": self.repo,
            "argv": list(self.argv),
            "ids": dict(self.ids),
            "state": dict(self.state),
            "notes": list(self.notes),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            data["operation"], data["repo"], tuple(data["argv"]), data["ids"], data["state"], tuple(data["notes"])
        )

    def lines(self) -> tuple[str, ...]:
        """Return it in sentences for an operator."""
        said = [f"{name} is {value}." for name, value in self.state.items()]
        for name, object_id in self.ids.items():
            if name.startswith(OLD):
                ref = name.removeprefix(OLD)
                said.append(f"{ref} at the remote: {_short(object_id)} -> {_short(self.ids.get(NEW + ref, ''))}.")
            elif not name.startswith(NEW):
                said.append(f"{name} is {_short(object_id)}.")
        return (*said, *self.notes)


def drift(old: Binding, new: Binding) -> tuple[str, ...]:
    """Return what moved between two bindings of the same request, in words; empty when nothing did (pure)."""
    moved = [
        f"{_named(name)} was {_short(before.get(name, ''))}, now it is {_short(after.get(name, ''))}."
        for before, after in ((old.ids, new.ids), (old.state, new.state))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    if old.argv != new.argv:
        moved.append("The command itself is another one.")
    if old.notes != new.notes:
        moved.append("What cannot be bound is not the same.")
    return tuple(moved)


def bind(git: Git, request: Request, decision: Ask) -> Binding:
    """Return what `request` depends on now. A push asks the remote. Raises Failed (a name that is not there, …)."""
    ids: dict[str, str] = {}
    state: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    command = decision.command
    if request.operation is Operation.GIT_PUSH and isinstance(request.params, PushParams):
        _bind_branch_push(git, decision.argv[1] if len(decision.argv) > 1 else None, ids, state)
    elif request.operation is Operation.GIT_COMMIT:
        _bind_head(git, ids, state)
        ids["tree"] = index_tree(git)
    elif request.operation is Operation.GIT_ADD:
        notes = (_TAKES_FILES,)
    elif request.operation is Operation.GIT_RECOVER:
        _bind_head(git, ids, state)
        _, plan = planned(git)
        steps = plan.steps if isinstance(plan, RecoveryPlan) else ()
        state["the plan"] = "; ".join(step.title for step in steps) or "nothing to do"
    elif command is not None:
        notes = _bind_command(git, command, ids, state)
    return Binding(str(request.operation), git.paths.name, decision.argv, ids, state, notes)


def _bind_command(git: Git, command: Command, ids: dict[str, str], state: dict[str, str]) -> tuple[str, ...]:
    if command.runner == "push":
        _bind_push(git, command, ids, state)
        return ()
    if _depends_on_head(command):
        _bind_head(git, ids, state)
    if command.subcommand in _FROM_STASH and (stash := resolve(git, "refs/stash", "object")):
        ids["refs/stash"] = stash
    values = [value for _, value in command.options if value]
    for word in (*command.operands, *values):
        found = (
            resolve(git, "@{-1}" if word == "-" else word, "object")
            if not word.startswith("-") or word == "-"
            else None
        )
        if found is not None:
            ids["@{-1}" if word == "-" else word] = found
    given = {name for name, _ in command.options}
    if command.subcommand == "commit" and not given & {"-a", "--all"} and not command.paths:
        ids["tree"] = index_tree(git)
        return ()
    takes = command.subcommand in ("add", "commit") or command.subcommand.startswith("stash")
    return (_TAKES_FILES,) if takes and command.subcommand not in _FROM_STASH else ()


def _depends_on_head(command: Command) -> bool:
    """Whether the effect depends on where HEAD is: commands that build on it, and names made without a start."""
    given = {name for name, _ in command.options}
    if command.subcommand in _FROM_HEAD:
        return True
    if command.subcommand in ("checkout", "switch"):
        return bool(given & _MAKES_BRANCH) and not command.operands
    return (
        command.subcommand in ("tag", "branch")
        and len(command.operands) == 1
        and not given & {"-d", "-D", "--delete"}
    )


def _bind_head(git: Git, ids: dict[str, str], state: dict[str, str]) -> None:
    at = head(git)
    state["HEAD"] = at.branch or "on no branch"
    if at.commit is not None:
        ids["HEAD"] = at.commit


def _bind_branch_push(git: Git, branch: str | None, ids: dict[str, str], state: dict[str, str]) -> None:
    name = branch or head(git).branch
    if name is None:
        return  # the action says that there is no branch to push
    remote = remote_of(git, name)
    state["remote"] = f"{remote} ({address_of(git, remote).masked})"
    ids[NEW + HEADS + name] = local_commit(git, name)
    ids[OLD + HEADS + name] = ls_remote(git, remote, (HEADS + name,)).get(HEADS + name, "")


def _bind_push(git: Git, command: Command, ids: dict[str, str], state: dict[str, str]) -> None:
    intent = intent_of(git, command)
    state["remote"] = f"{intent.remote} ({address_of(git, intent.remote).masked})"
    for one in intent.wanted:
        ids[NEW + one.destination] = _object(git, one)
        ids[OLD + one.destination] = intent.theirs.get(one.destination, "")


def _object(git: Git, one: Wanted) -> str:
    if one.source is None:
        return ""
    return resolve(git, one.source, "object" if one.destination.startswith(TAGS) else "commit") or ""


def _named(name: str) -> str:
    if name.startswith(OLD):
        return f"{name.removeprefix(OLD)} at the remote"
    if name.startswith(NEW):
        return f"what {name.removeprefix(NEW)} would become"
    return name


def _short(value: str) -> str:
    if not value:
        return "nothing"
    return value[:_SHOWN] if len(value) in (40, 64) else value
