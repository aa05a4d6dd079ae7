"""What an operation was given: a flag's body or a typed request's `params` become checked `Params`. Pure.

Both doors lead to the same checks. Every refusal names what is wrong and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from executor.errors import Refused
from executor.git.identity import email_problem, name_problem
from executor.git.lexer import LINE_LIMIT, WORD_LIMIT, split
from executor.git.pathspecs import require_literal_path
from executor.git.refnames import require_ref_name
from executor.git.text import require_visible
from executor.policy.model import (
    AddParams,
    CmdParams,
    CommitParams,
    NoParams,
    Operation,
    Params,
    PushParams,
    QueueParams,
    SetConfigParams,
)

MESSAGE_LIMIT = 64 * 1024  # bytes
PATHS_LIMIT = 1000

_QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}", re.ASCII)


def from_body(operation: Operation, body: str) -> Params:
    """Return what a plain flag asks for, given the text of its body. Raises Refused."""
    return _FROM_BODY[operation](body.replace("\r\n", "\n"))


def from_typed(operation: Operation, params: Mapping[str, object]) -> Params:
    """Return what a typed request asks for, given its `params` object. Raises Refused, also for keys not known."""
    return _FROM_TYPED[operation](params)


# --- bodies


def _add_body(body: str) -> AddParams:
    lines = [line.strip(" \t") for line in body.split("\n")]
    paths = [line for line in lines if line]
    if not paths:
        raise Refused("no_path", "git_add was given no path", "write one path a line, or . to stage everything")
    return _add(paths)


def _commit_body(body: str) -> CommitParams:
    return _commit(body.removesuffix("\n"))


def _push_body(body: str) -> PushParams:
    return _push(body.strip(" \t\n") or None)


def _set_config_body(body: str) -> SetConfigParams:
    parts = body.strip(" \t\n").split("|")
    if len(parts) != 2:
        raise Refused(
            "bad_identity", "the body is not of the form: Name | email", "write: Jane Doe | jane@example.com"
        )
    return _identity(*(part.strip(" \t") for part in parts))


def _queue_body(body: str) -> QueueParams:
    return _queue(body.strip(" \t\n") or None)


def _command_body(body: str) -> CmdParams:
    return _command(split(body))


def _nothing(_: object) -> NoParams:
    """Accept and ignore a body: `echo 1 > git_status.flag` is how many raise a flag that takes nothing."""
    return NoParams()


# --- typed requests


def _add_typed(params: Mapping[str, object]) -> AddParams:
    _keys(params, required="paths")
    paths = _strings(params, "paths")
    if not paths:
        raise Refused("no_path", "git_add was given no path", 'give "paths", such as ["src/app.py"] or ["."]')
    return _add(list(paths), lines=True)


def _commit_typed(params: Mapping[str, object]) -> CommitParams:
    _keys(params, required="message")
    return _commit(_string(params, "message"))


def _push_typed(params: Mapping[str, object]) -> PushParams:
    _keys(params, optional="branch")
    return _push(_string(params, "branch") if params.get("branch") is not None else None)


def _set_config_typed(params: Mapping[str, object]) -> SetConfigParams:
    _keys(params, required="name email")
    return _identity(_string(params, "name"), _string(params, "email"))


def _queue_typed(params: Mapping[str, object]) -> QueueParams:
    _keys(params, optional="queue")
    return _queue(_string(params, "queue") if params.get("queue") is not None else None)


def _command_typed(params: Mapping[str, object]) -> CmdParams:
    _keys(params, optional="command argv")
    if len(params) != 1:
        _bad_params('give either "command", a line, or "argv", a list of words')
    if "command" in params:
        return _command(split(_string(params, "command")))
    return _command(_strings(params, "argv"))


def _nothing_typed(params: Mapping[str, object]) -> NoParams:
    _keys(params)
    return NoParams()


def _keys(params: Mapping[str, object], *, required: str = "", optional: str = "") -> None:
    """Refuse keys that are missing or not known, naming them. Both lists are words in a string."""
    known = {*required.split(), *optional.split()}
    if unknown := sorted(set(params) - known):
        _bad_params(f"unknown: {', '.join(map(repr, unknown))}; known: {', '.join(sorted(known)) or 'none'}")
    if missing := sorted(set(required.split()) - set(params)):
        _bad_params(f"missing: {', '.join(missing)}")


def _string(params: Mapping[str, object], key: str) -> str:
    value = params[key]
    return value if isinstance(value, str) else _bad_params(f'"{key}" must be a string')


def _strings(params: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = params[key]
    if not isinstance(value, list | tuple):
        _bad_params(f'"{key}" must be a list of strings')
    words = tuple(word for word in value if isinstance(word, str))
    return words if len(words) == len(value) else _bad_params(f'"{key}" must be a list of strings')


def _bad_params(why: str) -> NoReturn:
    raise Refused("bad_params", f"the params of this operation are not right: {why}", "correct them and ask again")


# --- the checks both doors share


def _add(paths: list[str], *, lines: bool = False) -> AddParams:
    if len(paths) > PATHS_LIMIT:
        raise Refused("too_many_paths", f"git_add takes at most {PATHS_LIMIT} paths", "name directories, or write .")
    return AddParams(tuple(dict.fromkeys(require_literal_path(path, lines=lines) for path in paths)))


def _commit(message: str) -> CommitParams:
    if not message.strip():
        raise Refused("empty_message", "the commit message is empty", "write what the commit does and why")
    if len(message.encode(errors="replace")) > MESSAGE_LIMIT:
        raise Refused("message_too_long", f"a commit message has at most {MESSAGE_LIMIT} bytes", "shorten it")
    require_visible(message, "the commit message", lines=True)
    return CommitParams(message)


def _push(branch: str | None) -> PushParams:
    if branch is not None:
        if " " in branch or "\n" in branch:
            raise Refused(
                "bad_branch_name",
                "git_push takes one branch and nothing else",
                "write only its name, or nothing for the default branch; raise one flag for each branch",
            )
        require_ref_name(branch, "branch")
    return PushParams(branch)


def _identity(name: str, email: str) -> SetConfigParams:
    require_visible(name, "the name")
    require_visible(email, "the email address")
    problem = name_problem(name) or email_problem(email)
    if problem is not None:
        raise Refused(
            "bad_identity",
            f"{name!r} | {email!r} is not an identity: {problem}",
            "write: Jane Doe | jane@example.com",
        )
    return SetConfigParams(name, email)


def _queue(name: str | None) -> QueueParams:
    if name is not None and not _QUEUE.fullmatch(name):
        raise Refused(
            "bad_queue_name", f"{name!r} is not a queue name", "write one configured name, or nothing for all"
        )
    return QueueParams(name)


def _command(words: tuple[str, ...]) -> CmdParams:
    words = words[1:] if words[:1] == ("git",) else words
    if not words:
        raise Refused("empty_command", "the command is empty", "write one git command, such as: git status")
    if len(words) > WORD_LIMIT or sum(len(word.encode(errors="replace")) + 1 for word in words) > LINE_LIMIT:
        raise Refused(
            "command_too_long", f"a command has at most {WORD_LIMIT} words and {LINE_LIMIT} bytes", "split it"
        )
    return CmdParams(words)


_FROM_BODY: Mapping[Operation, Callable[[str], Params]] = {
    Operation.GIT_STATUS: _nothing,
    Operation.GIT_ADD: _add_body,
    Operation.GIT_COMMIT: _commit_body,
    Operation.GIT_PUSH: _push_body,
    Operation.GIT_CHECK: _nothing,
    Operation.GIT_SET_CONFIG: _set_config_body,
    Operation.GIT_CMD: _command_body,
    Operation.GIT_RECOVER: _nothing,
    Operation.RESTART_QUEUE: _queue_body,
    Operation.HEALTH_CHECK: _nothing,
}
_FROM_TYPED: Mapping[Operation, Callable[[Mapping[str, object]], Params]] = {
    Operation.GIT_STATUS: _nothing_typed,
    Operation.GIT_ADD: _add_typed,
    Operation.GIT_COMMIT: _commit_typed,
    Operation.GIT_PUSH: _push_typed,
    Operation.GIT_CHECK: _nothing_typed,
    Operation.GIT_SET_CONFIG: _set_config_typed,
    Operation.GIT_CMD: _command_typed,
    Operation.GIT_RECOVER: _nothing_typed,
    Operation.RESTART_QUEUE: _queue_typed,
    Operation.HEALTH_CHECK: _nothing_typed,
}
