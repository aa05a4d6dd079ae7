"""Being told to stop, in the middle of something: nothing half-done, nothing twice, and one gateway at a time."""

from __future__ import annotations

import signal

import pytest
from held_pushes import held_pushes
from programs import until
from served_host import LAST_STATES, ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


def test_e05_a_push_under_way_gets_its_grace_and_what_waits_behind_it_is_left_for_the_next_start(
    host: ServedHost,
) -> None:
    new = host.commit("slow\n")
    with host.running() as gateway, held_pushes(host.bare()) as remote:
        host.raise_flag("git_push.slow.flag", "main")
        remote.begun()
        host.raise_flag("git_cmd.behind.flag", "git log -1")
        host.in_state("behind", "queued")
        gateway.process.send_signal(signal.SIGTERM)
        gateway.says("stopping")
        host.raise_flag("git_status.too-late.flag")
        remote.let_go()
        assert gateway.ends() == 0
        assert gateway.log.rstrip().endswith("stopped")
    assert host.result("slow")["state"] == "succeeded"
    assert host.result("behind")["state"] == "queued"
    assert (host.shared / "git_status.too-late.flag").exists()
    assert (host.tip(), host.pushes()) == (new, 2)
    assert host.gits() == []
    with host.running():
        assert host.in_state("behind", *LAST_STATES)["state"] == "succeeded"
        assert host.in_state("too-late", *LAST_STATES)["state"] == "succeeded"


def test_a_push_that_outlasts_its_grace_is_ended_and_said_to_be_interrupted(host: ServedHost) -> None:
    host.commit("too slow\n")
    with host.running(GATEWAY_STOP_GRACE_SECONDS="0") as gateway, held_pushes(host.bare()) as remote:
        host.raise_flag("git_push.cut.flag", "main")
        remote.begun()
        assert gateway.stop() == 0
        ended = host.result("cut")
        assert (ended["state"], ended["error"]["code"]) == ("interrupted", "cancelled")
        assert host.gits() == []
    with host.running():
        again = host.ask("git_push.again.flag", "main")
        assert again["state"] == "succeeded", again["error"]
    assert (host.tip(), host.pushes()) == (host.git("rev-parse", "main"), 2)
    assert "whole" in host.ok("audit", "verify")


def test_a_second_signal_ends_it_at_once_and_the_next_start_says_what_became_of_the_push(host: ServedHost) -> None:
    host.commit("hurry\n")
    with host.running(GATEWAY_STOP_GRACE_SECONDS="600") as gateway, held_pushes(host.bare()) as remote:
        host.raise_flag("git_push.torn.flag", "main")
        remote.begun()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.says("stopping")
        assert gateway.stop() == -signal.SIGTERM
        assert host.result("torn")["state"] == "running"
    until(lambda: not host.gits(), "the end of the git that was left")
    with host.running():
        assert host.in_state("torn", *LAST_STATES)["state"] == "interrupted"
        assert host.ask("git_push.after.flag", "main")["verified"]["effect"] is True
    assert host.pushes() == 2


def test_a_second_gateway_on_the_same_state_declines_and_takes_nothing(host: ServedHost) -> None:
    with host.running() as first:
        second = host.cli("run")
        assert second.returncode == 1
        assert f"process {first.process.pid}" in second.stderr
        assert host.ask("git_status.a1.flag")["state"] == "succeeded"
        until(lambda: "request.succeeded" in host.told("a1"), "its end in commands.log")
        assert host.told("a1").count("request.queued") == 1
    with host.running():  # what was killed holds nothing any more
        assert host.ask("git_status.a2.flag")["state"] == "succeeded"
