"""What the agent reads about one request: `results/ID.json`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from executor.errors import Problem
from executor.outcome import State
from executor.policy.model import Operation, RiskClass

PROTOCOL = 1
OUTPUT_LIMIT = 256 * 1024  # bytes of UTF-8

Redact = Callable[[str], str]

# Control characters (but tab and newline) drive terminals; halves of surrogate pairs cannot be encoded.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_ENDS: Mapping[State, tuple[str, str]] = {
    State.TIMED_OUT: ("it passed its deadline and was ended", "look at the state (git_status) before trying again"),
    State.INTERRUPTED: (
        "the gateway stopped while it ran; whether it took effect is unknown",
        "look at the state (git_status, git_check) before trying again",
    ),
    State.DENIED: ("an operator said no", "do not retry; ask for something else or go on without it"),
    State.EXPIRED: (
        "nobody answered in time; this is not a no",
        "raise it again when somebody is likely to be there",
    ),
    State.UNDELIVERABLE: ("nobody could be asked; this is not a no", "raise it again later"),
    State.WITHDRAWN: ("it was taken back before it ran", "raise it again if it is still wanted"),
}


def iso(moment: datetime) -> str:
    """A zone-aware time as ISO 8601 in UTC with milliseconds: 2025-11-30T16:34:05.120Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


Moment = Annotated[AwareDatetime, PlainSerializer(iso, return_type=str, when_used="json")]


class View(BaseModel):
    """A part of a result."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=View)


class ErrorView(View):
    """Why it did not succeed: `code` for programs, `message` and `hint` for models and people."""

    code: str
    message: str
    hint: str = ""


class ApprovalView(View):
    """What became of asking: why it was asked, who must and did agree, and the operator's own words."""

    reasons: tuple[str, ...] = ()
    quorum: int = 1
    votes: int = 0
    expires_at: Moment | None = None
    decided_by: str | None = None
    decided_at: Moment | None = None
    reason: str | None = None


class DecisionView(View):
    """The answer to a dry run: what would happen. Nothing was run and nobody was asked."""

    answer: Literal["run", "ask", "refuse"]
    reasons: tuple[str, ...] = ()


class Result(View):
    """One request as the agent sees it; built by `build_result`, which masks every text."""

    protocol: int = PROTOCOL
    id: str
    operation: Operation | None  # None: a typed request that could not be read
    repo: str
    state: State
    risk: RiskClass | None = Field(default=None, serialization_alias="class")
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    output: str = ""
    truncated: bool = False
    error: ErrorView | None = None
    approval: ApprovalView | None = None
    verified: dict[str, JsonValue] = Field(default_factory=dict)
    received_at: Moment
    started_at: Moment | None = None
    finished_at: Moment | None = None
    decision: DecisionView | None = None
    conflict: ErrorView | None = None

    def to_json(self) -> str:
        """As published: every key of the protocol, `decision` and `conflict` only where there is one."""
        absent = {key for key in ("decision", "conflict") if getattr(self, key) is None}
        return self.model_dump_json(indent=2, by_alias=True, exclude=absent) + "\n"


def build_result(
    redact: Redact,
    *,
    id: str,
    operation: Operation | None,
    repo: str,
    state: State,
    received_at: datetime,
    started_at: datetime | None = None,
    finished_at: datetime | None = None,
    risk: RiskClass | None = None,
    argv: Sequence[str] = (),
    exit_code: int | None = None,
    output: str = "",
    truncated: bool = False,
    error: Problem | None = None,
    approval: ApprovalView | None = None,
    verified: Mapping[str, object] | None = None,
    decision: DecisionView | None = None,
    conflict: Problem | None = None,
) -> Result:
    """Given what is known of a request, return its result with every text masked by `redact` and made showable.

    Output over `OUTPUT_LIMIT` keeps its head and tail. A request that ended without an error of its own, but not
    well, gets one that says what the state means and what to do.
    """
    shown, cut = cap(showable(redact(output)), OUTPUT_LIMIT)
    return Result(
        id=id,
        operation=operation,
        repo=repo,
        state=state,
        risk=risk,
        argv=tuple(_masked(list(argv), redact)),
        exit_code=exit_code,
        output=shown,
        truncated=truncated or cut,
        error=_error_view(error, redact) or _end_of(state, approval, redact),
        approval=_masked_view(approval, redact),
        verified=_masked(dict(verified or {}), redact),
        received_at=received_at,
        started_at=started_at,
        finished_at=finished_at,
        decision=_masked_view(decision, redact),
        conflict=_error_view(conflict, redact),
    )


def showable(text: str) -> str:
    """Make control characters visible (as `\\x1b`), so that no text can drive the terminal of who prints it."""
    return _UNSHOWABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str) -> str:
    """The same, on one line."""
    return showable(text).replace("\n", "\\n")


def cap(text: str, limit: int) -> tuple[str, bool]:
    """Return `text` within `limit` bytes of UTF-8, its head and tail kept, and whether something was left out."""
    data = text.encode()
    if len(data) <= limit:
        return text, False
    half = (limit - 80) // 2  # the marker takes less than 80 bytes
    head, tail = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return f"{head}\n[... {len(data) - 2 * half:,} bytes left out ...]\n{tail}", True


def _masked(value: object, redact: Redact) -> Any:
    """Mask every text within a plain value; what JSON has no word for becomes text."""
    if value is None or isinstance(value, bool | int | float | datetime):
        return value
    if isinstance(value, Mapping):
        return {str(key): _masked(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item, redact) for item in value]
    return showable(redact(str(value)))


def _masked_view(view: V | None, redact: Redact) -> V | None:
    return None if view is None else type(view).model_validate(_masked(view.model_dump(), redact))


def _error_view(problem: Problem | None, redact: Redact) -> ErrorView | None:
    if problem is None:
        return None
    message, hint = _masked([problem.message, problem.hint], redact)
    return ErrorView(code=problem.code, message=message, hint=hint)


def _end_of(state: State, approval: ApprovalView | None, redact: Redact) -> ErrorView | None:
    if state not in _ENDS:
        return None
    message, hint = _ENDS[state]
    if state is State.DENIED and approval is not None and approval.reason:
        message = f"{message}: {_masked(approval.reason, redact)}"
    return ErrorView(code=state, message=message, hint=hint)
