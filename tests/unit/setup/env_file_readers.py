"""How the four programs that read env files read them, from their documentation and sources."""

from __future__ import annotations

import io
import re
import shlex

from dotenv import dotenv_values


def by_dotenv(text: str) -> dict[str, str | None]:
    """python-dotenv itself."""
    return dict(dotenv_values(stream=io.StringIO(text), interpolate=True))


def by_systemd(text: str) -> dict[str, str | None]:
    """EnvironmentFile= of systemd.exec(5): `#` and `;` lines are comments; quotes and backslashes as in a shell."""
    lines = [line.strip() for line in text.split("\n")]
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#;"]
    return {name: " ".join(shlex.split(value, posix=True)) if "\\" in value or value[:1] in "'\"" else value
            for name, _, value in pairs}  # fmt: skip


def by_docker(text: str) -> dict[str, str | None]:
    """`docker run --env-file`: only lines that begin with `#` are comments, everything after `=` is the value."""
    lines = [line.lstrip() for line in text.split("\n")]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def by_compose(text: str) -> dict[str, str | None]:
    """`env_file:` of compose: quotes off, a space and `#` begin a comment, `$NAME` and `${NAME}` are replaced."""
    found: dict[str, str | None] = {}
    for line in text.split("\n"):
        match = re.fullmatch(r"\s*(?:export\s+)?(\w+)\s*=[ \t]*(.*?)[ \t]*", line)
        if match and not line.lstrip().startswith("#"):
            raw = match[2]
            quoted = raw[:1] in ("'", '"')
            value = raw[1 : raw.find(raw[0], 1)] if quoted else re.sub(r"(^|\s+)#.*", "", raw)
            found[match[1]] = re.sub(r"\$(\w+|\{[^}]*\})", "", value)
    return found


READERS = (by_dotenv, by_systemd, by_docker, by_compose)
