"""kill -9 at every point of a request's life, for each kind of request: nothing is lost and nothing runs twice.

One host lives through all of it, so that every start also meets what the deaths before it have left.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from held_pushes import held_pushes
from programs import Gateway, until
from served_host import HURRIED, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

DYING = str(Path(__file__).with_name("dying_gateway.py"))
NOT_STARTED = ("renamed", "read", "recorded", "unlinked")
ENDED = ("ended", "answered")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    with served_host(tmp_path_factory.mktemp("killed")) as host:
        yield host
        assert "whole" in host.ok("audit", "verify")


@dataclass(frozen=True)
class Kind:
    """A kind of request: operation and body of its flag, what makes it possible, how often it has had its effect."""

    operation: str
    body: str
    prepare: Callable[[ServedHost, str], None]
    effects: Callable[[ServedHost], int]


def stage_something(host: ServedHost, request_id: str) -> None:
    (host.tree() / "file.txt").write_text(f"{request_id}\n")
    host.git("add", "file.txt")


def commit_something(host: ServedHost, request_id: str) -> None:
    host.commit(f"{request_id}\n")


KINDS = {
    "status": Kind("git_status", "", lambda *_: None, lambda _: 0),
    "commit": Kind("git_commit", "Agent's work", stage_something, ServedHost.commits),
    "push": Kind("git_push", "main", commit_something, ServedHost.pushes),
    "approved": Kind("git_cmd", "git tag v-{id}", lambda *_: None, lambda host: len(host.git("tag").split())),
}


def killed_at(host: ServedHost, point: str, kind: Kind, request_id: str) -> None:
    """Raise the flag and, when operators are asked, let one say yes; the gateway dies at `point`."""
    kind.prepare(host, request_id)
    dying = host.start(DYING, point, request_id, "run")
    dying.says("READY")
    host.raise_flag(f"{kind.operation}.{request_id}.flag", kind.body.format(id=request_id))
    if kind is KINDS["approved"] and point not in NOT_STARTED:
        host.in_state(request_id, "awaiting_approval")
        host.ok("approve", request_id)
    assert dying.ends() == -signal.SIGKILL, dying.log


def nothing_is_left_over(host: ServedHost, gateway: Gateway, request_id: str) -> None:
    """The next flag is answered, both are in the published log, and no claim lies around."""
    assert host.ask(f"git_status.{request_id}-next.flag")["state"] == "succeeded"
    until(lambda: "request.succeeded" in host.told(f"{request_id}-next"), "the next flag in commands.log")
    assert host.told(request_id)
    assert host.left_claimed() == []
    assert "Traceback" not in gateway.log


@pytest.mark.parametrize("point", [*NOT_STARTED, "started", "git begun", "git ended", *ENDED])
def test_a_read_that_was_killed_anywhere_is_answered_after_the_next_start(host: ServedHost, point: str) -> None:
    request_id = f"status-{point.replace(' ', '-')}"
    killed_at(host, point, KINDS["status"], request_id)
    with host.running() as gateway:
        host.in_state(request_id, "succeeded")
        nothing_is_left_over(host, gateway, request_id)
    assert host.told(request_id).count("request.succeeded") == 1


@pytest.mark.parametrize("point", NOT_STARTED)
@pytest.mark.parametrize("name", ["commit", "push", "approved"])
def test_a_change_that_had_not_begun_is_done_once_after_the_next_start(
    host: ServedHost, name: str, point: str
) -> None:
    kind, request_id = KINDS[name], f"{name}-{point}"
    before = kind.effects(host)
    killed_at(host, point, kind, request_id)
    with host.running() as gateway:
        if name == "approved":
            host.in_state(request_id, "awaiting_approval")
            host.ok("approve", request_id)
        assert host.in_state(request_id, "succeeded", "failed")["state"] == "succeeded"
        nothing_is_left_over(host, gateway, request_id)
    assert kind.effects(host) == before + 1
    assert host.told(request_id).count("request.running") == 1


@pytest.mark.parametrize(("point", "effects"), [("started", {0}), ("git begun", {0, 1}), ("git ended", {1})])
@pytest.mark.parametrize("name", ["commit", "push", "approved"])
def test_a_change_that_had_begun_is_interrupted_and_never_done_again(
    host: ServedHost, name: str, point: str, effects: set[int]
) -> None:
    kind, request_id = KINDS[name], f"{name}-{point.replace(' ', '-')}"
    before = kind.effects(host)
    killed_at(host, point, kind, request_id)
    until(lambda: not host.gits(), "the end of the git that was left")
    with host.running() as gateway:
        error = host.in_state(request_id, "interrupted", "succeeded", "failed")["error"]
        assert error["code"] == "interrupted"
        assert "git_status" in error["hint"]
        nothing_is_left_over(host, gateway, request_id)
    assert kind.effects(host) - before in effects
    assert host.told(request_id)[-2:] == ["request.interrupted", "request.found"]


@pytest.mark.parametrize("point", ENDED)
@pytest.mark.parametrize("name", ["commit", "push", "approved"])
def test_a_change_that_had_ended_is_answered_after_the_next_start_and_not_done_again(
    host: ServedHost, name: str, point: str
) -> None:
    kind, request_id = KINDS[name], f"{name}-{point}"
    before = kind.effects(host)
    killed_at(host, point, kind, request_id)
    assert kind.effects(host) == before + 1
    with host.running() as gateway:
        assert host.in_state(request_id, "succeeded", "interrupted")["verified"]["effect"] is True
        nothing_is_left_over(host, gateway, request_id)
    assert kind.effects(host) == before + 1
    assert host.told(request_id).count("request.running") == 1


def test_a_push_in_the_air_at_kill_9_arrives_at_most_once_and_holds_up_nothing(host: ServedHost) -> None:
    """Its git lives on, for nobody was left to end it; the remote then has it once, whoever asks again."""
    commit_something(host, "in the air")
    before = host.pushes()
    with held_pushes(host.bare()) as remote:
        with host.running() as gateway:
            host.raise_flag("git_push.air.flag", "main")
            remote.begun()
            gateway.stop(signal.SIGKILL)
        with host.running():
            host.in_state("air", "interrupted")
            assert host.ask("git_status.air-status.flag")["state"] == "succeeded"
            host.raise_flag("git_push.air-again.flag", "main")
            remote.begun(2)
            remote.let_go()
            remote.let_go()
            host.in_state("air-again", "succeeded", "failed")  # one of the two comes too late
    until(lambda: not host.gits(), "the end of the git that was left")
    with host.running():
        assert host.ask("git_push.air-last.flag", "main")["verified"]["effect"] is True
    assert host.pushes() == before + 1
    assert host.tip() == host.git("rev-parse", "main")


@pytest.mark.parametrize("git_too", [False, True], ids=["only the gateway", "its git as well"])
def test_c02_what_a_killed_git_add_leaves_does_not_stop_the_next_one(host: ServedHost, git_too: bool) -> None:
    """It reads as much as may be staged, so it holds its lock when it or the gateway above it is killed."""
    huge, name = host.tree() / "huge.bin", f"small-{git_too}"
    with huge.open("wb") as file:
        file.truncate(500 << 20)
    (host.tree() / name).write_text("small\n")
    with host.running() as gateway:
        host.raise_flag(f"git_add.huge-{git_too}.flag", "huge.bin")
        until(lambda: list((host.state / "repos" / "shop").glob("*/index*.lock")), "git add at work")
        gateway.stop(signal.SIGKILL)
    for pid in host.gits() if git_too else ():
        os.kill(pid, signal.SIGKILL)
    with host.running():
        host.in_state(f"huge-{git_too}", "interrupted")
        added = host.ask(f"git_add.{name}-add.flag", name)
        assert added["state"] == "succeeded", added["error"]
        assert host.ask(f"git_commit.{name}-commit.flag", "Small")["state"] == "succeeded"
    for pid in host.gits():
        os.kill(pid, signal.SIGKILL)
    huge.unlink()
    assert host.git("log", "-1", "--format=%s", "--name-only").split() == ["Small", name]


@pytest.mark.parametrize(("verb", "state"), [(("approve",), "succeeded"), (("deny", "--reason", "no"), "denied")])
def test_a_decision_whose_word_to_the_gateway_was_lost_is_found_in_the_record(
    host: ServedHost, verb: tuple[str, ...], state: str
) -> None:
    """It is recorded before the gateway is told of it: kill -9 in between costs one round, no more."""
    request_id = f"unheard-{verb[0]}"
    with host.running(*HURRIED):
        host.raise_flag(f"git_cmd.{request_id}.flag", f"git tag v-{request_id}")
        host.in_state(request_id, "awaiting_approval")
        dying = host.start(DYING, "voted", request_id, verb[0], request_id, *verb[1:])
        assert dying.ends() == -signal.SIGKILL, dying.log
        host.in_state(request_id, state)
    assert (f"v-{request_id}" in host.git("tag")) == (state == "succeeded")
