"""How the text of a setting becomes a value; the messages never repeat what was given (G07)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from executor.policy.model import Operation, RiskClass

_SEPARATORS = re.compile(r"[,\s]+")
_QUOTES = ("'", '"')
_USER_ID = re.compile(r"[1-9][0-9]{0,18}")
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,100}")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+(?:/[A-Za-z0-9._~/-]*)?")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")  # repository names, as they may stand in a flag's name
DECIDABLE = tuple(risk for risk in RiskClass if risk is not RiskClass.NEVER)


def plain(value: object) -> object:
    """Given a setting as it came, return it stripped, or raise ValueError where another reader left its marks on it.

    `docker --env-file` keeps quotes and trailing comments literally, where systemd and compose take them off (E07).
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in _QUOTES:
        raise ValueError(
            "the value is wrapped in quotes that are kept literally (docker --env-file does that); write it without"
        )
    if re.search(r"\s#", text):
        raise ValueError("the value holds a comment after it; put comments on their own line")
    return text


def split_list(value: object) -> tuple[str, ...]:
    """Given a list setting as text (commas, spaces, or a JSON list) or as a list, return its entries (G06)."""
    if isinstance(value, str):
        text = value.strip()
        if not text.startswith("["):
            return tuple(entry for entry in _SEPARATORS.split(text) if entry)
        try:
            value = json.loads(text)
        except ValueError:
            raise ValueError("starts like a JSON list but is not one; commas or spaces do as well") from None
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple | set | frozenset):
        raise ValueError("must be a list: entries separated by commas or spaces")
    if not all(isinstance(entry, str | int) and not isinstance(entry, bool) for entry in value):
        raise ValueError("every entry of the list must be a word or a number")
    return tuple(str(entry) for entry in value)


def words_like(value: object, pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
    """Given a list setting, return its entries; raise ValueError where one is not written like `what`."""
    found = split_list(value)
    for position, entry in enumerate(found, start=1):
        if not pattern.fullmatch(entry):
            raise ValueError(f"entry {position} is not {what}")
    return found


def operations(value: object) -> tuple[Operation, ...]:
    """Given a list of operation names, return the operations; `*` stands for all of them."""
    found: list[Operation] = []
    for position, entry in enumerate(split_list(value), start=1):
        if entry == "*":
            found.extend(Operation)
            continue
        try:
            found.append(Operation(entry))
        except ValueError:
            raise ValueError(f"entry {position} is not an operation{_nearest(entry)}") from None
    return tuple(dict.fromkeys(found))


def _nearest(entry: str) -> str:
    names = [operation.value for operation in Operation]
    near = difflib.get_close_matches(entry.lower(), names, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(names)}"


def per_class(value: object) -> dict[RiskClass, int]:
    """Given one number for every class (`2`), or `class:number` entries, or a table, return the number by class.

    A plain number comes first and the named classes replace it: `3600, force:900`.
    """
    if isinstance(value, Mapping):
        entries = [f"{name}:{number}" for name, number in value.items()]
    else:
        entries = list(split_list(value))
    found: dict[RiskClass, int] = {}
    for position, entry in enumerate(entries, start=1):
        name, colon, number = entry.rpartition(":")
        if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
            raise ValueError(f"entry {position} must be a whole number above 0, or class:number")
        if not colon:
            found = dict.fromkeys(DECIDABLE, int(number)) | found
            continue
        if name not in DECIDABLE:
            raise ValueError(f"entry {position} names no class; there are: {', '.join(DECIDABLE)}")
        found[RiskClass(name)] = int(number)
    return found


def absolute(path: Path) -> Path:
    """Given a path, return it with `~` expanded; raise ValueError unless it is absolute then."""
    try:
        expanded = path.expanduser()
    except RuntimeError:
        raise ValueError("`~` cannot be expanded here; write the path in full") from None
    if not expanded.is_absolute():
        raise ValueError("must be an absolute path (a service has no working directory of yours)")
    return expanded


def repository_name(path: Path) -> str:
    """Given a work tree, return the name it goes by: its directory's where that can stand in a flag's name."""
    return path.name if NAME.fullmatch(path.name) else "repo"


def user_ids(value: object) -> tuple[int, ...]:
    """Given a list of Telegram user ids, return them as numbers: names can be changed, and taken by others (A26)."""
    return tuple(dict.fromkeys(map(int, words_like(value, _USER_ID, "a numeric user id"))))


def bot_token(token: SecretStr) -> SecretStr:
    """Given a bot's token, return it; raise ValueError if it cannot be one."""
    if token.get_secret_value() and not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError("is not what BotFather gives: a number, a colon, and letters, digits, - or _")
    return token


def web_address(text: str) -> str:
    """Given the address of a server, return it without a slash at its end; raise ValueError if it is none."""
    if text and not _ADDRESS.fullmatch(text):
        raise ValueError("must be http:// or https://, a host, and perhaps a port and a path")
    return text.rstrip("/")


def sqlite_file(url: str) -> Path | None:
    """Given a database URL, return the file that it names, or None where the database is no file."""
    found = re.fullmatch(r"sqlite(?:\+\w+)?:///([^?]+)(?:\?.*)?", url)
    return Path(found[1]) if found else None
