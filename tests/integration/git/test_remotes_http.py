"""Fetch and push through real smart HTTP with a password: what works, and how each difficulty is named (C03)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from remotes import HttpRemote, bare_repository, http_remote
from repos import Adopted, adopted_repository, commit_file, plain_git, process_runner

from executor.errors import Failed, Refused
from executor.git.pushing import push_branch
from executor.git.repository import Deadlines, RemoteAccess, open_repository
from executor.git.transfer import fetch, ls_remote

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("http-backend")]
CREDENTIALS = ("agent", "p@ss/w:rd")


@contextmanager
def served(tmp_path: Path) -> Iterator[tuple[Adopted, HttpRemote, RemoteAccess]]:
    """An adopted repository whose origin is served over https with a password, and the access that fits."""
    adopted = adopted_repository(tmp_path, pushed=False)
    bare = bare_repository(tmp_path / "served" / "project.git")
    with http_remote(tmp_path / "served", credentials=CREDENTIALS, tls=tmp_path / "tls") as remote:
        plain_git(adopted.paths.transfer, "config", "remote.origin.url", remote.url("project.git"))
        credentials = tmp_path / "credentials"
        credentials.write_text(
            f"https://x:y@elsewhere.example\nhttps://agent:p%40ss%2Fw%3Ard@localhost:{remote.port}\n"
        )
        yield (
            replace(adopted, remote=bare),
            remote,
            RemoteAccess(credential_file=credentials, ca_file=remote.authority),
        )


def failure(repo: Adopted, access: RemoteAccess, deadlines: Deadlines | None = None) -> Failed:
    with pytest.raises(Failed) as caught:
        ls_remote(repo.open(access, deadlines=deadlines), "origin")
    return caught.value


def test_a_branch_is_pushed_and_fetched_with_the_password_of_the_credential_file(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, _remote, access):
        git = repo.open(access)
        assert push_branch(git, "main").verified["effect"] is True
        colleague = tmp_path / "colleague"
        plain_git(tmp_path, "clone", "-q", str(repo.remote), str(colleague))
        theirs = commit_file(colleague, "theirs.txt", "x\n")
        plain_git(colleague, "push", "-q")

        fetch(git, "origin")

        assert repo.ref("refs/remotes/origin/main") == theirs


def test_c03_without_a_password_nothing_is_asked_and_the_outcome_is_named(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, _remote, access):
        assert failure(repo, replace(access, credential_file=None)).code == "auth_failed"


def test_c03_a_wrong_password_is_named(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, remote, access):
        remote.credentials = ("agent", "changed")
        assert failure(repo, access).code == "auth_failed"


@pytest.mark.parametrize(
    ("status", "code"), [(403, "auth_failed"), (404, "remote_not_found"), (503, "remote_unreachable")]
)
def test_what_the_server_answers_is_named(tmp_path: Path, status: int, code: str) -> None:
    with served(tmp_path) as (repo, remote, access):
        remote.status = status
        assert failure(repo, access).code == code


def test_a_redirect_is_not_followed_and_the_password_goes_nowhere_else(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, remote, access), http_remote(tmp_path / "other") as other:
        remote.redirect = other.url("")
        caught = failure(repo, access)

    assert caught.code == "remote_moved"
    assert other.seen == []


def test_a_certificate_that_is_not_trusted_ends_the_attempt(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, _remote, access):
        assert failure(repo, replace(access, ca_file=None)).code == "certificate_untrusted"


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, remote, access):
        remote.hang = True
        assert failure(repo, access, Deadlines(network=0.5)).code == "remote_timeout"


def test_a_stop_of_the_gateway_ends_a_hanging_transfer(tmp_path: Path) -> None:
    stopping = threading.Event()

    def stop_once_asked(remote: HttpRemote) -> None:
        deadline = time.monotonic() + 20
        while not remote.seen and time.monotonic() < deadline:
            time.sleep(0.01)
        stopping.set()

    with served(tmp_path) as (repo, remote, access):
        remote.hang = True
        git = open_repository(repo.paths, process_runner(), access, stopping)
        watcher = threading.Thread(target=stop_once_asked, args=(remote,))
        watcher.start()
        with pytest.raises(Failed) as caught:
            ls_remote(git, "origin")
        watcher.join()

    assert caught.value.code == "cancelled"


def test_plain_http_is_refused_unless_the_host_allows_it(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, _remote, access), http_remote(tmp_path / "served") as plain:
        plain_git(repo.paths.transfer, "config", "remote.origin.url", plain.url("project.git"))
        with pytest.raises(Refused, match="http:// is not allowed"):
            ls_remote(repo.open(access), "origin")

        assert ls_remote(repo.open(replace(access, allow_plain_http=True)), "origin") == {}


def test_who_loses_a_race_at_the_remote_is_told_that_it_moved(tmp_path: Path) -> None:
    with served(tmp_path) as (repo, _remote, access):
        git = repo.open(access)
        push_branch(git, "main")
        assert repo.remote is not None
        plain_git(tmp_path, "clone", "-q", str(repo.remote), str(tmp_path / "colleague"))
        theirs = commit_file(tmp_path / "colleague", "theirs.txt", "x\n")
        plain_git(tmp_path / "colleague", "push", "-q", "origin", "HEAD:refs/heads/topic")
        # the colleague is there after the lease was looked at, and before the branch is moved
        hook = repo.remote / "hooks/pre-receive"
        hook.write_text(f"#!/bin/sh\necho {theirs} > refs/heads/main\n")
        hook.chmod(0o755)
        repo.commit("ours.txt", "ours\n")

        with pytest.raises(Failed) as caught:
            push_branch(git, "main")

    assert caught.value.code == "remote_changed"
    assert repo.remote_ref("refs/heads/main") == theirs
