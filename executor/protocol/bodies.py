"""What a flag's bytes say: the text of a plain body, the fields of a typed request. Pure.

Every function here takes bytes or text that an untrusted writer chose and raises `Refused`, and nothing else, with a
reason that helps an honest writer (report D05: a malformed file must never stop the loop).
"""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from executor.errors import Refused
from executor.policy.model import Operation
from executor.protocol.names import NAME_PATTERN

BODY_LIMIT = 64 * 1024  # bytes
REASON_LIMIT = 2_000  # characters; more does not fit on a card that a person reads
DEPTH_LIMIT = 32  # nested arrays and objects; no request needs more than three
NUMBER_LIMIT = 20  # digits of an integer; no parameter is larger than 64 bits

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Truncated(Refused):
    """The text ends in the middle: its writer may not be done, so a young file is left for later (report D02)."""


class TypedRequest(BaseModel):
    """The fields of an `ID.request.json`. `params` is judged by the operation; `reason` is untrusted text."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    operation: Annotated[Operation, Field(strict=False)]
    repo: Annotated[str, Field(pattern=f"^(?:{NAME_PATTERN})?$")] = ""
    params: dict[str, JsonValue] = Field(default_factory=dict)
    reason: Annotated[str, Field(max_length=REASON_LIMIT)] = ""
    dry_run: bool = False


def body_too_large(size: int) -> Refused:
    """The refusal of a body of `size` bytes, for those who know the size before they read."""
    return Refused(
        "body_too_large",
        f"the body is {size:,} bytes; at most {BODY_LIMIT:,} are read",
        "put large content into files of the work tree and refer to them",
    )


def decode_body(data: bytes) -> str:
    """Given a flag's bytes, return its text with CRLF turned into LF and a leading UTF-8 BOM dropped.

    A trailing newline stays; what it means is the operation's business. Raise `Truncated` if the bytes end within a
    character, `Refused` if they are too many or not plain UTF-8 text.
    """
    if len(data) > BODY_LIMIT:
        raise body_too_large(len(data))
    if _looks_like_utf16(data):
        raise Refused(
            "body_utf16",
            "the body is UTF-16, not UTF-8",
            "write it as UTF-8; in PowerShell: Set-Content -Encoding utf8",
        )
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        kind = Truncated if error.reason == "unexpected end of data" else Refused
        raise kind(
            "body_not_utf8",
            f"the body is not valid UTF-8 ({error.reason} at byte {error.start})",
            "write it as UTF-8",
        ) from None
    return _plain(text)


def looks_cut_off(data: bytes) -> bool:
    """Whether the bytes of a typed request end in the middle of it, so that a young file is better left for later."""
    try:
        parse_request_json(decode_body(data))
    except Truncated:
        return True
    except Refused:
        return False
    return False


def parse_request_json(text: str) -> TypedRequest:
    """Given the text of an `ID.request.json`, return its fields.

    Raise `Truncated` if the text looks cut off, `Refused` if it is not one JSON object of the schema: unknown and
    duplicate keys, values of another type, NaN, infinite and huge numbers, deep nesting, characters that are none.
    """
    _check_brackets(text)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_number
        )
    except json.JSONDecodeError as error:
        raise Refused(
            "request_not_json",
            f"the request is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            "write one JSON object with a JSON library",
        ) from None
    if not isinstance(value, dict):
        raise Refused(
            "request_not_object",
            "the request is JSON but not an object",
            'write {"operation": "git_status"} or the like',
        )
    try:
        return TypedRequest.model_validate(_plain_value(value))
    except ValidationError as error:
        raise Refused("request_invalid", _explain(error), _SCHEMA_HINT) from None


_SCHEMA_HINT = (
    f"keys: operation (one of {', '.join(Operation)}), and where wanted repo, params, reason"
    f" (at most {REASON_LIMIT:,} characters), dry_run"
)


def _looks_like_utf16(data: bytes) -> bool:
    if data.startswith(_UTF16_BOMS):
        return True
    # Without a mark: ASCII text as UTF-16 has a NUL in every other byte.
    return len(data) >= 4 and len(data) % 2 == 0 and (not any(data[::2]) or not any(data[1::2])) and any(data)


def _plain(text: str) -> str:
    """Return `text` with CRLF as LF; refuse what would read differently in a terminal than in a program."""
    if "\0" in text:
        raise Refused("body_nul", "the text contains a NUL character", "write plain UTF-8 text")
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        raise Refused(
            "body_lone_cr",
            "the text contains a carriage return that is not part of a CRLF line end",
            "end lines with LF or CRLF",
        )
    return text


def _check_brackets(text: str) -> None:
    """Refuse deep nesting before a recursive parser sees it, and tell an unfinished text from a wrong one.

    Up to a text's first error this reads it as a JSON parser does, so its depth is never more than counted here.
    """
    depth = 0
    unfinished = not text.strip()
    for token in _STRING_OR_BRACKET.finditer(text):
        match token[0][0]:
            case '"':
                unfinished = unfinished or not token[1]
            case "{" | "[":
                depth += 1
            case _:
                depth -= 1
        if depth > DEPTH_LIMIT:
            raise Refused("request_too_deep", f"the JSON is nested deeper than {DEPTH_LIMIT} levels", "nest less")
    if unfinished or depth > 0:
        raise Truncated(
            "request_cut_off",
            "the JSON ends before it is complete",
            "write it under another name (say ID.tmp), then rename it to ID.request.json",
        )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for raw, value in pairs:
        key = _plain_text(raw)
        if key in result:
            raise Refused(
                "request_duplicate_key", f"the key {_quoted(key)} is there twice in one object", "give each key once"
            )
        result[key] = value
    return result


def _int(digits: str) -> int:
    return _number(digits) if len(digits) > NUMBER_LIMIT else int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _number(digits)


def _number(digits: str) -> NoReturn:
    raise Refused("request_bad_number", f"{digits[:20]} is not a number that is accepted", "use ordinary numbers")


def _plain_value(value: JsonValue) -> JsonValue:
    """Hold every text within a typed request to the rules of a plain body; depth was bounded before."""
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, list):
        return [_plain_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain_value(item) for key, item in value.items()}
    return value


def _plain_text(text: str) -> str:
    if _SURROGATE.search(text):
        raise Refused("request_bad_text", "a text contains half of a surrogate pair", "write whole characters")
    return _plain(text)


def _explain(error: ValidationError) -> str:
    """One sentence from places and messages only; input never enters it unquoted (report G07)."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    places = [f"{'.'.join(_quoted(str(part)) for part in detail['loc'])}: {detail['msg']}" for detail in details[:3]]
    more = f" and {len(details) - 3} more" if len(details) > 3 else ""
    return f"the request does not fit the schema: {'; '.join(places)}{more}"


def _quoted(text: str) -> str:
    return ascii(text[:60])
