"""Whether a repository's remote can be reached is asked as a push would ask, and not more often than is polite."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from probing import probed
from remotes import free_port
from repos import adopted_repository, plain_git, process_runner

from executor.config import ExecutorConfig, RepositoryConfig
from executor.git.access import RemoteAccess
from executor.health import remote_probes
from executor.health.remote_probes import RemoteProbes
from executor.health.report import Finding, Level
from executor.repositories import Repositories


def remotes_of(root: Path, *, adopted: bool = True, remote: bool = True) -> RemoteProbes:
    """The probes of a host with one repository, adopted with a remote on this host."""
    if adopted:
        adopted_repository(root, remote=remote)
    access = RemoteAccess(allow_local_remote=True)
    (root / "tree").mkdir(exist_ok=True)
    config = ExecutorConfig(
        shared_dir=root / "shared",
        state_dir=root / "state",
        repositories=(RepositoryConfig("project", root / "tree", access),),
        host="web-1",
    )
    return RemoteProbes(Repositories(config, process_runner(), threading.Event()))


def looked_at(probes: RemoteProbes) -> Finding:
    (found,) = probed(probes.probes())
    return found


def test_a_remote_that_answers_is_good(tmp_path: Path) -> None:
    found = looked_at(remotes_of(tmp_path))

    assert (found.level, found.subject, found.facts["remote"]) == (Level.GOOD, "project", "origin")


def test_a_remote_that_is_gone_is_bad_and_named_without_its_address(tmp_path: Path) -> None:
    probes = remotes_of(tmp_path)
    address = f"https://localhost:{free_port()}/project.git"
    plain_git(tmp_path / "state/repos/project/transfer.git", "config", "remote.origin.url", address)

    found = looked_at(probes)
    assert (found.level, found.what) == (Level.BAD, "cannot be reached (remote_unreachable)")
    assert found.mend
    assert "localhost" not in found.what


def test_what_a_remote_said_is_remembered_for_a_while(tmp_path: Path) -> None:
    probes = remotes_of(tmp_path)
    first = looked_at(probes)
    (tmp_path / "remotes" / "project.git").rename(tmp_path / "elsewhere.git")

    assert looked_at(probes) is first


def test_a_remote_is_asked_again_after_that_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_probes, "KEPT_SECONDS", 0.0)
    probes = remotes_of(tmp_path)
    looked_at(probes)
    (tmp_path / "remotes" / "project.git").rename(tmp_path / "elsewhere.git")

    assert looked_at(probes).level is Level.BAD


def test_a_repository_without_a_remote_is_neither_good_nor_bad(tmp_path: Path) -> None:
    found = looked_at(remotes_of(tmp_path, remote=False))

    assert (found.level, found.what) == (Level.UNKNOWN, "the repository has no remote")


def test_a_repository_that_was_never_adopted_cannot_be_served(tmp_path: Path) -> None:
    found = looked_at(remotes_of(tmp_path, adopted=False))

    assert (found.level, found.what) == (Level.BAD, "the repository cannot be served (not_adopted)")
