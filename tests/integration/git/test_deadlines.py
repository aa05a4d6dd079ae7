"""What the host sets as deadlines is what ends a git process that hangs."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from remotes import silent_listener
from repos import Adopted, adopted_repository, plain_git, process_runner

from executor.config import ExecutorConfig, Limits, RepositoryConfig
from executor.errors import TimedOut
from executor.git.access import RemoteAccess
from executor.git.checking import status
from executor.git.repository import Git
from executor.git.transfer import ls_remote
from executor.repositories import Repositories

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("landlock")]
_PLAIN_HTTP = RemoteAccess(allow_plain_http=True)


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def opened(repo: Adopted, limits: Limits) -> Git:
    """Open the repository as the gateway does, with the limits of its settings."""
    state = repo.paths.root.parents[1]
    config = ExecutorConfig(
        shared_dir=state.parent / "shared",
        state_dir=state,
        repositories=(RepositoryConfig(repo.paths.name, repo.tree, access=_PLAIN_HTTP),),
        host="test-host",
        limits=limits,
    )
    return Repositories(config, process_runner(), threading.Event()).open("")


def test_a_git_that_hangs_on_a_fifo_is_ended_after_the_deadline_of_this_host(repo: Adopted) -> None:
    os.mkfifo(repo.tree / ".gitignore")

    with pytest.raises(TimedOut) as caught:
        status(opened(repo, Limits(deadline_seconds=0.3)))

    assert caught.value.code == "timeout"
    assert "0.3 seconds" in caught.value.message
    assert "GATEWAY_DEADLINE_SECONDS" in caught.value.hint


def test_a_remote_that_never_answers_is_ended_after_the_deadline_of_the_network(repo: Adopted) -> None:
    limits = replace(Limits(), deadline_seconds=600.0, network_deadline_seconds=0.4)
    with silent_listener() as listener:
        plain_git(repo.paths.transfer, "config", "remote.origin.url", f"http://127.0.0.1:{listener.port}/x.git")
        with pytest.raises(TimedOut) as caught:
            ls_remote(opened(repo, limits), "origin")

    assert caught.value.code == "remote_timeout"
    assert "0.4 seconds" in caught.value.message
