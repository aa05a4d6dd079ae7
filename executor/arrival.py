"""What a claimed flag asks for: name and bytes in, a parsed request or the reason why there is none out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from executor.errors import Refused
from executor.policy.model import Operation, Request
from executor.policy.parameters import from_body, from_typed
from executor.protocol.bodies import decode_body, parse_request_json
from executor.protocol.names import FlagName, refusal_for

_KEPT_OF_UNREADABLE = 2_000  # bytes kept of a body that is no text, so that a person can see what it was


@dataclass(frozen=True, slots=True)
class Arrival:
    """A flag as it was understood. Exactly one of `request` and `refusal` is set.

    `operation` is None for a typed request that could not be read; `text` is what is kept, so that the request can be
    read again after a restart.
    """

    operation: Operation | None
    repo: str
    request_id: str
    typed: bool
    text: str
    reason: str = ""
    dry_run: bool = False
    request: Request | None = None
    refusal: Refused | None = None


def read_arrival(flag: FlagName, content: bytes | None, problem: Refused | None = None) -> Arrival:
    """Given a flag's name and its bytes, or the problem for which they were not read, return what it asks for."""
    raw = content or b""
    try:
        if problem is not None:
            raise problem
        if (reserved := refusal_for(flag)) is not None:
            raise reserved
        text = decode_body(raw)
    except Refused as refusal:
        request_id = "" if refusal.code == "reserved_id" else flag.request_id
        shown = raw[:_KEPT_OF_UNREADABLE].decode("utf-8", "replace")
        return Arrival(flag.operation, flag.repo, request_id, flag.typed, shown, refusal=refusal)
    return restore_arrival(flag.operation, flag.repo, flag.request_id, text)


def restore_arrival(operation: Operation | None, repo: str, request_id: str, text: str) -> Arrival:
    """Given a decoded text (for the typed form with `operation` None), return what it asks for."""
    reason, dry_run, typed = "", False, operation is None
    try:
        if operation is None:
            fields = parse_request_json(text)
            operation, repo, reason, dry_run = fields.operation, fields.repo, fields.reason, fields.dry_run
            params = from_typed(operation, fields.params)
        else:
            params = from_body(operation, text)
    except Refused as refusal:
        return Arrival(operation, repo, request_id, typed, text, reason, dry_run, refusal=refusal)
    request = Request(operation, params, repo, request_id, reason, dry_run)
    return Arrival(operation, repo, request_id, typed, text, reason, dry_run, request=request)
