"""After kill -9: what is found of the request that was interrupted is said in its result, and nothing runs again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from held_pushes import held_pushes
from programs import until
from served_host import ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

DYING = str(Path(__file__).with_name("dying_gateway.py"))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    with served_host(tmp_path_factory.mktemp("found")) as host:
        yield host
        assert "whole" in host.ok("audit", "verify")


def killed_at(host: ServedHost, point: str, operation: str, request_id: str, body: str) -> None:
    """Raise a flag and, where operators are asked, let one say yes; the gateway is killed at a point of its run."""
    dying = host.start(DYING, point, request_id, "run")
    dying.says("READY")
    host.raise_flag(f"{operation}.{request_id}.flag", body)
    if operation == "git_cmd":
        host.in_state(request_id, "awaiting_approval")
        host.ok("approve", request_id)
    assert dying.ends() == -signal.SIGKILL, dying.log
    without_gits(host)


def without_gits(host: ServedHost) -> None:
    for pid in host.gits():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not host.gits(), "the end of the git that was left")


def found(host: ServedHost, request_id: str) -> dict[str, Any]:
    """Wait for the result that says what was found; it is told once, and the request ran once."""
    until(lambda: "found" in host.result(request_id).get("verified", {}), f"what was found of {request_id}")
    kinds = host.kinds(request_id)
    assert [kinds.count(f"request.{state}") for state in ("running", "interrupted", "found")] == [1, 1, 1]
    return host.in_state(request_id, "interrupted")


def test_a_push_that_the_remote_took_before_the_kill_is_said_to_be_there(host: ServedHost) -> None:
    new = host.commit("taken\n")
    killed_at(host, "git ended", "git_push", "taken", "main")
    before = host.pushes()
    with host.running():
        result = found(host, "taken")
    assert result["verified"]["effect"] is True
    assert result["verified"]["found"][0].startswith(f"the remote has it: refs/heads/main is at {new[:10]}")
    assert "the remote has it" in result["error"]["message"]
    assert "do not ask for it again" in result["error"]["hint"]
    assert host.pushes() == before


def test_a_push_that_the_remote_did_not_take_before_the_kill_is_said_not_to_be_there(host: ServedHost) -> None:
    old = host.tip()
    host.commit("held\n")
    with held_pushes(host.bare()) as remote:
        with host.running() as gateway:
            host.raise_flag("git_push.held.flag", "main")
            remote.begun()
            gateway.stop(signal.SIGKILL)
        without_gits(host)
        with host.running():
            result = found(host, "held")
    assert result["verified"]["effect"] is False
    assert result["verified"]["why"] == result["verified"]["found"][0]
    assert result["verified"]["why"].startswith(f"the remote does not have it: refs/heads/main is at {old[:10]}")
    assert "ask for it again" in result["error"]["hint"]


def test_a_push_that_was_killed_before_it_began_is_said_not_to_have_begun(host: ServedHost) -> None:
    host.commit("never begun\n")
    killed_at(host, "started", "git_push", "unbegun", "main")
    with host.running():
        verified = found(host, "unbegun")["verified"]
    assert (verified["effect"], "had not begun" in verified["why"]) == (False, True)


def test_a_remote_that_cannot_be_asked_leaves_it_unknown_and_holds_up_nothing(host: ServedHost) -> None:
    host.commit("out of sight\n")
    killed_at(host, "git ended", "git_push", "unseen", "main")
    away = host.bare().rename(host.root / "away.git")
    with host.running():
        result = found(host, "unseen")
        assert host.ask("git_status.unseen-next.flag")["state"] == "succeeded"
    away.rename(host.bare())
    assert result["verified"]["effect"] is None
    assert "could not be asked" in result["verified"]["found"][0]
    assert "before trying again" in result["error"]["hint"]


@pytest.mark.parametrize(("point", "effect"), [("kept", False), ("git ended", True)])
def test_of_a_commit_it_is_said_whether_the_branch_has_it(host: ServedHost, point: str, effect: bool) -> None:
    request_id = f"commit-{point.replace(' ', '-')}"
    (host.tree() / "file.txt").write_text(f"{request_id}\n")
    host.git("add", "file.txt")
    old, commits = host.git("rev-parse", "main"), host.commits()
    killed_at(host, point, "git_commit", request_id, "Agent's work")
    with host.running():
        verified = found(host, request_id)["verified"]
    assert verified["effect"] is effect
    assert host.commits() == commits + effect
    assert f"on main at {old[:10]}" in verified["found"][0]
    assert f"on main at {host.git('rev-parse', 'main')[:10]}" in verified["found"][0]


def test_of_a_command_it_is_said_which_refs_are_elsewhere(host: ServedHost) -> None:
    killed_at(host, "git ended", "git_cmd", "tagged", "git tag v-killed")
    with host.running():
        verified = found(host, "tagged")["verified"]
    tip = host.git("rev-parse", "main")[:10]
    assert verified["effect"] is None
    assert f"HEAD is on main at {tip}, as when it began" in verified["found"]
    assert f"refs/tags/v-killed was at nothing, and is at {tip}" in verified["found"]


def test_a_tick_after_the_kill_says_what_was_found_too(host: ServedHost) -> None:
    host.commit("by cron\n")
    killed_at(host, "git ended", "git_push", "cron", "main")
    host.ok("tick")
    assert found(host, "cron")["verified"]["effect"] is True
