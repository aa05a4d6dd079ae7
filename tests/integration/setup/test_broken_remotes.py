"""Remotes behind a real sshd that do not answer as they should: the doctor says why, and the mend mends it."""

from __future__ import annotations

import pytest
from remotes import SshRemote
from set_up_host import SetUpHost

pytestmark = pytest.mark.needs("git", "landlock", "sshd", "unprivileged-user")


def remote(host: SetUpHost) -> dict[str, str]:
    return host.doctor()["remote of shop"]


@pytest.mark.parametrize("known", ["", "wrong"], ids=["not known", "another one than before"])
def test_a_host_key_is_fetched_and_put_in_place_by_the_command_that_is_named(
    ssh_host: SetUpHost, sshd: SshRemote, known: str
) -> None:
    hosts = ssh_host.root / "known_hosts"
    hosts.write_text(sshd.wrong_known_hosts.read_text() if known else "")

    found = remote(ssh_host)

    assert found["state"] == "fail"
    assert ("another key than before" in found["mend"]) == bool(known)
    assert "compare the fingerprint" in found["mend"]
    assert "SHA256:" in ssh_host.paste(found["command"]).stdout
    assert remote(ssh_host)["state"] == "ok"


def test_e03_without_a_file_of_host_keys_the_mend_names_the_setting(ssh_host: SetUpHost) -> None:
    ssh_host.write_settings(KNOWN_HOSTS="")

    found = remote(ssh_host)

    assert found["state"] == "fail"
    assert "GATEWAY_KNOWN_HOSTS" in found["mend"]


def test_a_key_that_the_remote_does_not_know_is_told_from_one_that_it_does(
    ssh_host: SetUpHost, sshd: SshRemote
) -> None:
    key = ssh_host.root / "id"
    key.write_bytes(sshd.stranger_key.read_bytes())

    found = remote(ssh_host)

    assert found["state"] == "fail"
    assert "GATEWAY_SSH_KEY" in found["mend"]
    key.write_bytes(sshd.key.read_bytes())
    assert remote(ssh_host)["state"] == "ok"


def test_a_repository_that_is_not_there_and_a_server_that_is_away_are_told_apart(
    ssh_host: SetUpHost, sshd: SshRemote
) -> None:
    bare = sshd.repositories / "shop.git"
    bare.rename(bare.with_name("gone.git"))
    assert "its address" in remote(ssh_host)["mend"]
    bare.with_name("gone.git").rename(bare)
    assert remote(ssh_host)["state"] == "ok"
