"""How keys and passwords are handed to git, without a shell and to one host only."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from executor.errors import ConfigError
from executor.git.access import RemoteAccess, http_configuration, ssh_configuration, write_ssh_program
from executor.git.remote_address import parse_remote

HTTPS = parse_remote("https://example.org/x.git")


def test_the_ssh_configuration_is_its_own_program_and_asks_nobody() -> None:
    text = ssh_configuration(RemoteAccess(ssh_key=Path("/keys/id"), known_hosts=Path("/keys/known hosts")))

    assert text.startswith("#!/usr/bin/ssh -F\n")
    assert 'BatchMode "yes"\n' in text
    assert 'StrictHostKeyChecking "yes"\n' in text
    assert 'IdentityFile "/keys/id"\n' in text
    assert 'IdentitiesOnly "yes"\n' in text
    assert 'UserKnownHostsFile "/keys/known hosts"\n' in text


@pytest.mark.parametrize("path", ['/keys/"id', "/keys/$HOME", "/keys/a\nProxyCommand id", "relative/id", "/keys\\id"])
def test_a_path_that_ssh_would_read_otherwise_is_not_configured(path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ssh_configuration(RemoteAccess(ssh_key=Path(path)))

    assert caught.value.code == "ssh_path"


def test_a_percent_sign_in_a_path_stays_one() -> None:
    assert 'IdentityFile "/keys/100%%"' in ssh_configuration(RemoteAccess(ssh_key=Path("/keys/100%")))


def test_the_ssh_program_is_rewritten_only_when_the_settings_change(tmp_path: Path) -> None:
    program = tmp_path / "ssh"
    write_ssh_program(program, RemoteAccess())
    first = program.stat()
    write_ssh_program(program, RemoteAccess())
    assert program.stat().st_ino == first.st_ino
    assert first.st_mode & 0o777 == 0o700

    write_ssh_program(program, RemoteAccess(ssh_key=Path("/keys/id")))
    assert '"/keys/id"' in program.read_text()


def credential(tmp_path: Path, *lines: str) -> RemoteAccess:
    file = tmp_path / "credentials"
    file.write_text("\n".join(lines) + "\n")
    return RemoteAccess(credential_file=file)


def test_the_password_of_the_host_is_sent_to_that_host(tmp_path: Path) -> None:
    access = credential(tmp_path, "# not a URL", "https://a:b@other.org", "https://me:p%40ss@example.org")

    expected = base64.b64encode(b"me:p@ss").decode()
    assert http_configuration(access, HTTPS) == (
        ("http.https://example.org/.extraHeader", f"Authorization: Basic {expected}"),
    )


@pytest.mark.parametrize(
    "line", ["http://me:pw@example.org", "https://me:pw@example.org:8443", "https://me:pw@example.org.evil.net"]
)
def test_a_password_for_another_scheme_port_or_host_is_not_sent(tmp_path: Path, line: str) -> None:
    assert http_configuration(credential(tmp_path, line), HTTPS) == ()


def test_over_ssh_no_password_is_configured(tmp_path: Path) -> None:
    access = credential(tmp_path, "https://me:pw@example.org")

    assert http_configuration(access, parse_remote("ssh://git@example.org/x")) == ()


def test_a_credential_file_that_cannot_be_read_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        http_configuration(RemoteAccess(credential_file=tmp_path / "missing"), HTTPS)

    assert caught.value.code == "credential_file"
