"""The pages about settings: complete, up to date, and read alike by everything that reads env files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from dotenv import dotenv_values

from gateway import settings, settings_reference
from gateway.settings_model import Settings
from gateway.settings_sources import variable

ROOT = Path(__file__).resolve().parents[3]


def systemd(text: str) -> dict[str, str]:
    """EnvironmentFile= of systemd.exec(5): `#` and `;` begin comments, quotes are taken off, blanks inside kept."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#;"]
    return {name: " ".join(shlex.split(value, posix=True)) for name, _, value in pairs}


def docker(text: str) -> dict[str, str]:
    """`docker run --env-file`: only lines that begin with `#` are comments, everything after `=` is the value."""
    lines = [line.lstrip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def compose(text: str) -> dict[str, str]:
    """`env_file:` of compose: quotes off, a space and `#` begin a comment, `$NAME` and `${NAME}` are replaced."""
    found = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*(?:export\s+)?(\w+)\s*=\s*(.*?)(?:\s+#.*)?\s*", line):
            value = match[2]
            if value[:1] in ("'", '"') and value[-1:] == value[:1]:
                value = value[1:-1]
            found[match[1]] = re.sub(r"\$(\w+|\{\w+\})", "", value)
    return found


def with_everything_set() -> str:
    return re.sub(r"^#(GATEWAY_)", r"\1", (ROOT / ".env.example").read_text(), flags=re.M)


@pytest.mark.parametrize("text", [(ROOT / ".env.example").read_text(), with_everything_set()], ids=["as is", "all"])
def test_every_reader_of_env_files_reads_the_example_alike(text: str, tmp_path: Path) -> None:
    (tmp_path / "env").write_text(text)
    expected = dict(dotenv_values(tmp_path / "env"))
    assert systemd(text) == expected
    assert docker(text) == expected
    assert compose(text) == expected


def test_every_setting_is_in_the_example_and_can_be_used_as_it_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "env").write_text(with_everything_set())
    monkeypatch.setenv("GATEWAY_ENV_FILE", str(tmp_path / "env"))
    given = dotenv_values(tmp_path / "env")
    assert set(given) == {variable(name) for name in Settings.model_fields} - {"GATEWAY_REPOSITORIES"}
    assert settings.load().quorum


def test_the_example_and_the_page_say_what_the_model_says() -> None:
    assert (ROOT / ".env.example").read_text() == settings_reference.example()
    assert (ROOT / "docs/settings.md").read_text() == settings_reference.page()
