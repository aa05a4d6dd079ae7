"""Which file names in the shared directory mean something. Pure; works on bytes, because file names are bytes.

    OP.flag   OP.ID.flag   OP@REPO.flag   OP@REPO.ID.flag   ID.request.json   ID.withdraw

`OP` is an operation, `ID` and `REPO` are 1 to 64 of `A-Z a-z 0-9 _ -`, beginning with a letter or digit. Neither has
a dot, so each name can be read in one way only. Everything else is not ours: look-alike letters, a trailing newline,
another case, an unknown operation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from executor.errors import Refused
from executor.policy.model import Operation

NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"  # request ids and repository names
RESULTS = "results"
# Published beside results/.
PLAIN_FILES = frozenset({"git_status.txt", "git_check.txt", "health_check.json", "gateway.json"})
COMMANDS_LOG = "commands.log"
UNREAD = "unknown"  # stands for the operation of a typed request that could not be read

# Ids of what operators and the queue monitor ask for begin so; an agent that could guess one would have it first.
NOT_THE_AGENTS = ("operator-", "monitor-")

_OPERATIONS = {operation.value.encode(): operation for operation in Operation}
_RESERVED = frozenset({*_OPERATIONS, UNREAD.encode()})
_OPERATION = b"|".join(map(re.escape, _OPERATIONS))
_NAME = NAME_PATTERN.encode()
_FLAG = re.compile(rb"(%b)(?:@(%b))?(?:\.(%b))?\.flag" % (_OPERATION, _NAME, _NAME))
_REQUEST = re.compile(rb"(%b)\.request\.json" % _NAME)
_WITHDRAWAL = re.compile(rb"(%b)\.withdraw" % _NAME)
_TOKEN = rb"[0-9a-f]{16}"
_PRIVATE = re.compile(rb"\.claim\.%b\.(.+)" % _TOKEN)
_TEMPORARY = re.compile(rb"\.publish\.%b" % _TOKEN)
_SET_ASIDE = re.compile(rb"set-aside\.%b\..+" % _TOKEN)
_RESULT = re.compile(rf"{RESULTS}/({NAME_PATTERN}\.json)")
_RESULT_FILE = re.compile(rb"(%b)\.json" % _NAME)


@dataclass(frozen=True, slots=True)
class FlagName:
    """What a flag's file name says. `repo` and `request_id` are empty where the name has none.

    `operation` is None for the typed form (`ID.request.json`), whose operation and repository are in its JSON.
    """

    operation: Operation | None
    repo: str = ""
    request_id: str = ""

    @property
    def typed(self) -> bool:
        return self.operation is None


def parse_name(name: bytes) -> FlagName | None:
    """Given a file name, return what it says, or None when it is not a flag of ours (which is never an error)."""
    if match := _FLAG.fullmatch(name):
        operation, repo, request_id = match.groups(default=b"")
        return FlagName(_OPERATIONS[operation], repo.decode(), request_id.decode())
    if match := _REQUEST.fullmatch(name):
        return FlagName(None, request_id=match[1].decode())
    return None


def withdrawn_id(name: bytes) -> str | None:
    """Given a file name, return the id of the request that it takes back (`ID.withdraw`), or None if it is none."""
    match = _WITHDRAWAL.fullmatch(name)
    return match[1].decode() if match else None


def refusal_for(flag: FlagName) -> Refused | None:
    """Given a flag's name, return why it cannot be served, or None.

    A request id that is an operation's name (or `unknown`) is refused: its `results/ID.json` would be that
    operation's `results/OP.json`. So is one that reads as an operator's or the queue monitor's. They are parsed all
    the same, so that the agent is told instead of being left waiting.
    """
    if flag.request_id.startswith(NOT_THE_AGENTS):
        why = f"the id {flag.request_id} reads as if an operator or the queue monitor had asked"
    elif flag.request_id.encode() in _RESERVED:
        why = f"results/{flag.request_id}.json holds the latest result of an operation, so that id is taken"
    else:
        return None
    return Refused("reserved_id", why, f"use another id, for example my-{flag.request_id[:32]}")


def private_name(name: bytes, token: str) -> bytes:
    """The name a claimed flag has until its request is recorded; `token` is 16 hexadecimal digits."""
    return b".claim.%b.%b" % (token.encode(), name)


def parse_private(name: bytes) -> bytes | None:
    """Given a file name, return the flag's own name if this is a claimed flag, else None."""
    match = _PRIVATE.fullmatch(name)
    return match[1] if match and parse_name(match[1]) else None


def temporary_name(token: str) -> bytes:
    """The name a file has while it is written, before it is renamed to its place."""
    return b".publish.%b" % token.encode()


def is_temporary(name: bytes) -> bool:
    return _TEMPORARY.fullmatch(name) is not None


def set_aside_name(name: bytes, token: str) -> bytes:
    """The name that something standing in the way of ours is moved to: visible, so that its owner can find it."""
    return b"set-aside.%b.%b" % (token.encode(), name)


def is_set_aside(name: bytes) -> bool:
    return _SET_ASIDE.fullmatch(name) is not None


def result_file(published: str) -> bytes | None:
    """Given a name for publishing, return the file's name within `results/` if it is `results/ID.json`, else None."""
    match = _RESULT.fullmatch(published)
    return match[1].encode() if match else None


def is_request_result(name: bytes) -> bool:
    """Whether a file in `results/` is one request's result, not `OP.json`, the latest of an operation."""
    match = _RESULT_FILE.fullmatch(name)
    return match is not None and match[1] not in _RESERVED
