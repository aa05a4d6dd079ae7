"""Secrets are found in added lines, ordinary changes stay quiet, and nothing is asked over a network."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from made_up_secrets import AWS_KEY, BLOCK, NO_SECRETS, SECRETS, packed

from executor.git.added_lines import AddedLine
from executor.git.secret_signs import chunks
from executor.git.secrets import FINDINGS_LIMIT, INCOMPLETE, SecretFinding, secrets_in


def one(path: str, text: str) -> tuple[SecretFinding, ...]:
    return secrets_in([AddedLine(path, 7, text)])


@pytest.mark.parametrize(("path", "text", "kind"), SECRETS, ids=[f"{path}-{kind}" for path, _, kind in SECRETS])
def test_a_secret_is_found_with_its_place_and_kind(path: str, text: str, kind: str) -> None:
    found = one(path, text)

    assert [(each.path, each.line) for each in found] == [(path, 7)]
    assert kind in found[0].kind


@pytest.mark.parametrize(("path", "text"), NO_SECRETS, ids=[f"{path}-{n}" for n, (path, _) in enumerate(NO_SECRETS)])
def test_an_ordinary_line_is_no_secret(path: str, text: str) -> None:
    assert one(path, text) == ()


@pytest.mark.parametrize(("path", "text", "kind"), SECRETS, ids=[f"{path}-{kind}" for path, _, kind in SECRETS])
def test_the_secret_itself_is_never_told(path: str, text: str, kind: str) -> None:
    longest = max(text.replace('"', " ").replace("'", " ").replace("=", " ").split(), key=len)

    assert longest[-12:] not in repr(one(path, text))


def test_a_private_key_is_told_at_its_first_line_once_its_body_has_come() -> None:
    key = [f"{BLOCK}BEGIN RSA PRIVATE KEY{BLOCK}", "Proc-Type: 4,ENCRYPTED", "", *(packed(48) for _ in range(3))]
    lines = [AddedLine("deploy.sh", number, text) for number, text in enumerate(key, 40)]

    assert secrets_in(lines) == (SecretFinding("deploy.sh", 40, "private key"),)
    assert secrets_in(lines[:3]) == ()


def test_a_key_that_begins_in_one_file_does_not_go_on_in_another() -> None:
    lines = [AddedLine("a.py", 1, f"{BLOCK}BEGIN RSA PRIVATE KEY{BLOCK}"), AddedLine("b.txt", 2, packed(48))]

    assert secrets_in(lines) == ()


def test_tokens_are_told_before_what_is_only_likely() -> None:
    lines = [AddedLine("config.yml", 1, "password: hunter2hunter2"), AddedLine("z.py", 9, f'K = "{AWS_KEY}"')]

    assert [found.path for found in secrets_in(lines)] == ["z.py", "config.yml"]


def test_more_than_is_looked_at_is_said() -> None:
    lines = [AddedLine("a.txt", number, "word " * 10) for number in range(1, 100)]

    assert secrets_in(lines, limit=100) == (SecretFinding("", 0, INCOMPLETE),)
    assert secrets_in(lines) == ()


@pytest.mark.parametrize("text", [f'"{AWS_KEY}"', "password: hunter2hunter2"])
def test_a_flood_of_secrets_is_cut_and_that_is_said(text: str) -> None:
    found = secrets_in(AddedLine("a.yml", number, text) for number in range(1, 1_000))

    assert len(found) == FINDINGS_LIMIT + 1
    assert found[-1].kind == INCOMPLETE


def test_no_detector_makes_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a request was made")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    lines = [AddedLine(path, number, text) for number, (path, text, _) in enumerate(SECRETS, 1)]

    assert len(secrets_in(lines)) == len(SECRETS)


def test_lines_without_anything_to_look_at_do_not_load_the_detectors() -> None:
    program = (
        "import sys; from executor.git.added_lines import AddedLine; from executor.git.secrets import secrets_in;"
        "assert secrets_in([AddedLine('a.py', 1, 'total = a + b')]) == ();"
        "assert not {'detect_secrets', 'requests'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("offset", [0, 1000, 1010, 1020, 1024, 2040])
def test_a_token_on_a_long_line_is_found_wherever_it_lies(offset: int) -> None:
    line = " " * offset + f'"{AWS_KEY}"' + " " * 3000

    assert one("data.js", line)
    assert any(AWS_KEY in piece for piece in chunks(line))


def test_a_line_of_millions_of_characters_is_looked_at_in_pieces() -> None:
    """Patterns that would run over the whole line again and again would not come back from this."""
    for unit in ("a:", "pwd", "eyJ", "sk-", "token=", "://a:"):
        assert one("a.yml", "://" + unit * 500_000) == ()


def test_empty_lines_count_too() -> None:
    assert secrets_in([AddedLine("a.txt", number, "") for number in range(200)], limit=100)[-1].kind == INCOMPLETE
