"""Approvals that outlive something: their time, their gateway, a freeze, or the patience of those who are asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from programs import until
from served_host import ALTERED, HURRIED, LAST_STATES, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host whose gateway each test runs for itself."""
    with served_host(tmp_path_factory.mktemp("resting")) as host:
        yield host
        assert "whole" in host.ok("audit", "verify")


def test_several_must_agree_where_the_host_says_so_and_one_person_counts_once(host: ServedHost) -> None:
    with host.running(GATEWAY_QUORUM="2"):
        host.asked("quorum", "git tag v-quorum")
        assert "1 more must say yes" in host.cli("approve", "quorum").stdout
        again = host.cli("approve", "quorum")
        assert again.returncode == 1
        assert "you have voted on this already" in again.stdout
        assert host.result("quorum")["state"] == "awaiting_approval"
    assert "v-quorum" not in host.git("tag").split()


def test_a_typed_operation_asks_where_the_host_says_so(host: ServedHost) -> None:
    with host.running(GATEWAY_APPROVE="git_push"):
        new = host.commit("asked\n")
        host.raise_flag("git_push.p1.flag", "main")
        host.in_state("p1", "awaiting_approval")
        shown = host.ok("pending", "p1")
        assert new in shown
        assert host.remote.url("shop.git") in shown
        host.ok("approve", "p1")
        assert host.in_state("p1", *LAST_STATES)["verified"]["new"] == new
    assert host.tip() == new


def expired_by_now(host: ServedHost, request_id: str) -> None:
    """Wait until the time for an approval has run out."""
    moment = datetime.fromisoformat(host.result(request_id)["approval"]["expires_at"])
    until(lambda: datetime.now(UTC) > moment, "the end of the approval's time")


def test_what_nobody_answered_in_time_is_expired_which_is_not_a_no(host: ServedHost) -> None:
    with host.running(*HURRIED, GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        host.asked("silence", "git tag v-silence")
        ended = host.in_state("silence", *LAST_STATES)
        assert (ended["state"], ended["error"]["code"]) == ("expired", "expired")
        assert "not a no" in ended["error"]["message"]
        late = host.cli("approve", "silence")
        assert late.returncode == 1
        assert "expired" in late.stdout
    assert "v-silence" not in host.git("tag").split()


def test_what_expired_while_no_gateway_ran_is_expired_at_the_next_start(host: ServedHost) -> None:
    with host.running(GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        host.asked("unattended", "git tag v-unattended")
    expired_by_now(host, "unattended")
    with host.running():
        host.in_state("unattended", "expired")


def test_a_yes_that_is_the_first_to_see_that_it_is_too_late_lets_the_agent_know(host: ServedHost) -> None:
    """No word of it goes to the gateway, for nothing was decided; its next round finds that out by itself."""
    with host.running(GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        host.asked("late", "git tag v-late")
    expired_by_now(host, "late")
    with host.running(ALTERED, "forgetful", "run"):
        late = host.cli("approve", "late")
        assert late.returncode == 1
        assert "expired" in late.stdout
        host.in_state("late", "expired")
    assert "v-late" not in host.git("tag").split()


def test_a_freeze_after_the_yes_still_holds(host: ServedHost) -> None:
    with host.running():
        host.asked("icy", "git tag v-icy")
    host.ok("approve", "icy")
    host.ok("freeze", "stop everything")
    try:
        with host.running():
            assert host.in_state("icy", *LAST_STATES)["error"]["code"] == "frozen"
    finally:
        host.ok("unfreeze")
    assert "v-icy" not in host.git("tag").split()


def test_a28_what_waits_survives_a_restart_and_can_still_be_decided(host: ServedHost) -> None:
    with host.running() as gateway:
        host.asked("patient", "git tag v-patient")
        assert gateway.stop() == 0
    with host.running():
        assert "git tag v-patient" in host.ok("pending", "patient")
        host.ok("approve", "patient")
        host.in_state("patient", "succeeded")
    assert host.git("tag").split().count("v-patient") == 1


def test_a_yes_while_no_gateway_runs_is_acted_on_by_the_next_one(host: ServedHost) -> None:
    with host.running():
        host.asked("absent", "git tag v-absent")
    host.ok("approve", "absent")
    assert "v-absent" not in host.git("tag").split()
    with host.running():
        host.in_state("absent", "succeeded")
    assert host.git("tag").split().count("v-absent") == 1


def test_operators_are_not_asked_more_than_they_can_read(tmp_path: Path) -> None:
    with served_host(tmp_path) as host, host.running():
        for number in range(20):
            host.raise_flag(f"git_cmd.many-{number}.flag", f"git tag v-many-{number}")
        for number in range(20):
            host.in_state(f"many-{number}", "awaiting_approval")
        error = host.asked("one-more", "git tag v-one-more")["error"]
        assert error["code"] == "too_many_waiting"
        assert "do not raise more" in error["hint"]
        assert host.ask("git_status.while-many.flag")["state"] == "succeeded"
        host.ok("deny", "many-0", "--reason", "making room")
        assert host.asked("one-less", "git tag v-one-less")["state"] == "awaiting_approval"


def test_a31_what_cannot_be_shown_in_full_is_not_asked_at_all(host: ServedHost) -> None:
    paths = " ".join(f"a-rather-long-name-of-a-file-{number}.txt" for number in range(80))
    with host.running(GATEWAY_APPROVE="git_commit"):
        assert host.asked("many-words", f"git rm --cached {paths} --force")["error"]["code"] == "command_too_long"
        host.raise_flag("git_commit.many-lines.flag", "A line of a message that nobody wants to read\n" * 100)
        ended = host.in_state("many-lines", "awaiting_approval", *LAST_STATES)
        assert (ended["state"], ended["error"]["code"]) == ("refused", "too_long_to_review")
        assert "Nothing awaits" in host.ok("pending", "many-lines")
