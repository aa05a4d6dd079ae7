"""Asking operators and hearing them, where the command line is the only door: what was agreed to runs, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from served_host import ALTERED, HURRIED, LAST_STATES, ServedHost, served_host, until

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture(scope="module")
def resting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host whose gateway each test runs for itself."""
    with served_host(tmp_path_factory.mktemp("resting")) as host:
        yield host
        assert "whole" in host.ok("audit", "verify")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host that is served for as long as the module's tests run."""
    with served_host(tmp_path_factory.mktemp("asked")) as host, host.running() as gateway:
        yield host
        assert "Traceback" not in gateway.log
        assert "whole" in host.ok("audit", "verify")


def asked(host: ServedHost, request_id: str, command: str) -> dict[str, Any]:
    """Raise a git_cmd flag that has to be asked about; return its result once it waits."""
    host.raise_flag(f"git_cmd.{request_id}.flag", command)
    return host.in_state(request_id, "awaiting_approval", *LAST_STATES)


def digest(host: ServedHost, request_id: str) -> str:
    found = re.search(rf"approve {request_id} --digest ([0-9a-f]+)", host.ok("pending", request_id))
    assert found
    return found[1]


def tags(host: ServedHost) -> list[str]:
    return host.git("tag").split()


def test_a_yes_to_what_pending_showed_runs_exactly_that_at_once(host: ServedHost) -> None:
    waiting = asked(host, "yes", "git tag v-yes")
    assert waiting["state"] == "awaiting_approval"
    assert waiting["approval"]["reasons"]
    assert "git tag v-yes" in host.ok("pending")
    assert "approved" in host.ok("approve", "yes", "--digest", digest(host, "yes"))
    ended = host.in_state("yes", *LAST_STATES)
    assert (ended["state"], ended["approval"]["decided_by"]) == ("succeeded", "cli")
    assert tags(host).count("v-yes") == 1
    assert "Nothing awaits" in host.ok("pending", "yes")
    told = [event["kind"] for event in host.events("yes")]
    assert told.index("approval.approved") < told.index("request.running") < told.index("request.succeeded")


def test_a_no_reaches_the_agent_with_its_reason_and_runs_nothing(host: ServedHost) -> None:
    asked(host, "no", "git tag v-no")
    host.ok("deny", "no", "--reason", "not before Monday")
    ended = host.in_state("no", *LAST_STATES)
    assert (ended["state"], ended["error"]["code"]) == ("denied", "denied")
    assert ended["approval"]["reason"] == "not before Monday"
    assert "do not retry" in ended["error"]["hint"]
    assert "v-no" not in tags(host)


def test_the_first_answer_counts_and_the_second_is_told_so(host: ServedHost) -> None:
    asked(host, "twice", "git tag v-twice")
    host.ok("approve", "twice")
    host.in_state("twice", "succeeded")
    for again in (("approve", "twice"), ("deny", "twice", "--reason", "changed my mind")):
        late = host.cli(*again)
        assert late.returncode == 1
        assert "already approved by cli:" in late.stdout
    assert host.result("twice")["state"] == "succeeded"
    assert [event["kind"] for event in host.events("twice")].count("request.running") == 1


def test_a_yes_to_something_else_than_what_is_asked_is_refused(host: ServedHost) -> None:
    asked(host, "other", "git tag v-other")
    refused = host.cli("approve", "other", "--digest", "0" * 12)
    assert refused.returncode == 1
    assert "digest" in refused.stderr
    short = host.cli("approve", "other", "--digest", digest(host, "other")[:4])
    assert short.returncode == 1
    assert host.result("other")["state"] == "awaiting_approval"
    host.ok("deny", "other", "--reason", "done with it")


def test_a_branch_that_moves_while_operators_think_voids_their_yes_and_they_are_asked_again(
    host: ServedHost,
) -> None:
    host.git("branch", "topic")
    asked(host, "drift", "git branch -D topic")
    before = digest(host, "drift")
    host.git("commit", "-q", "--allow-empty", "-m", "Moved")
    host.git("branch", "-f", "topic", "main")
    host.ok("approve", "drift", "--digest", before)
    until(lambda: "moved from" in host.ok("pending", "drift"), "the second round with what moved")
    assert "topic" in host.git("branch")
    assert host.result("drift")["state"] == "awaiting_approval"
    assert host.cli("approve", "drift", "--digest", before).returncode == 1
    host.ok("approve", "drift", "--digest", digest(host, "drift"))
    host.in_state("drift", "succeeded")
    assert "topic" not in host.git("branch")


def test_a_remote_that_moves_while_operators_think_is_not_overwritten_by_their_yes(host: ServedHost) -> None:
    host.git("commit", "-q", "--allow-empty", "-m", "Old")
    assert host.ask("git_push.to-rewind.flag", "main")["state"] == "succeeded"
    old = host.git("rev-parse", "HEAD")
    host.git("reset", "-q", "--hard", "HEAD~1")
    asked(host, "force", "git push --force origin main")
    moved = host.git("commit-tree", "-p", old, "-m", "A colleague's", f"{old}^{{tree}}")
    host.git("push", "-q", str(host.bare()), f"{moved}:refs/heads/main")
    host.ok("approve", "force")
    until(lambda: "moved from" in host.ok("pending", "force"), "the second round with what moved")
    assert host.tip() == moved
    host.ok("deny", "force", "--reason", "a colleague has pushed")
    host.in_state("force", "denied")
    host.git("reset", "-q", "--hard", moved)


def test_several_must_agree_where_the_host_says_so_and_one_person_counts_once(resting: ServedHost) -> None:
    with resting.running(GATEWAY_QUORUM="2"):
        asked(resting, "quorum", "git tag v-quorum")
        assert "1 more must say yes" in resting.cli("approve", "quorum").stdout
        again = resting.cli("approve", "quorum")
        assert again.returncode == 1
        assert "you have voted on this already" in again.stdout
        assert resting.result("quorum")["state"] == "awaiting_approval"
    assert "v-quorum" not in tags(resting)


def test_a_typed_operation_asks_where_the_host_says_so(resting: ServedHost) -> None:
    with resting.running(GATEWAY_APPROVE="git_push"):
        new = resting.commit("asked\n")
        resting.raise_flag("git_push.p1.flag", "main")
        resting.in_state("p1", "awaiting_approval")
        shown = resting.ok("pending", "p1")
        assert new in shown
        assert resting.remote.url("shop.git") in shown
        resting.ok("approve", "p1")
        assert resting.in_state("p1", *LAST_STATES)["verified"]["new"] == new
    assert resting.tip() == new


def expired_by_now(host: ServedHost, request_id: str) -> None:
    """Wait until the time for an approval has run out."""
    moment = datetime.fromisoformat(host.result(request_id)["approval"]["expires_at"])
    until(lambda: datetime.now(UTC) > moment, "the end of the approval's time")


def test_what_nobody_answered_in_time_is_expired_which_is_not_a_no(resting: ServedHost) -> None:
    with resting.running(*HURRIED, GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        asked(resting, "silence", "git tag v-silence")
        ended = resting.in_state("silence", *LAST_STATES)
        assert (ended["state"], ended["error"]["code"]) == ("expired", "expired")
        assert "not a no" in ended["error"]["message"]
        late = resting.cli("approve", "silence")
        assert late.returncode == 1
        assert "expired" in late.stdout
    assert "v-silence" not in tags(resting)


def test_what_expired_while_no_gateway_ran_is_expired_at_the_next_start(resting: ServedHost) -> None:
    with resting.running(GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        asked(resting, "unattended", "git tag v-unattended")
    expired_by_now(resting, "unattended")
    with resting.running():
        resting.in_state("unattended", "expired")


def test_a_yes_that_is_the_first_to_see_that_it_is_too_late_lets_the_agent_know(resting: ServedHost) -> None:
    """No word of it goes to the gateway, for nothing was decided; its next round finds that out by itself."""
    with resting.running(GATEWAY_APPROVAL_EXPIRY_SECONDS="1"):
        asked(resting, "late", "git tag v-late")
    expired_by_now(resting, "late")
    with resting.running(ALTERED, "forgetful", "run"):
        late = resting.cli("approve", "late")
        assert late.returncode == 1
        assert "expired" in late.stdout
        resting.in_state("late", "expired")
    assert "v-late" not in tags(resting)


def test_a_freeze_lets_nothing_but_reading_through_until_it_ends(host: ServedHost) -> None:
    (host.tree() / "file.txt").write_text("frozen\n")
    host.git("add", "file.txt")
    before = host.commits()
    host.ok("freeze", "we are deploying")
    try:
        refused = host.ask("git_commit.cold.flag", "Cold")
        assert refused["error"]["code"] == "frozen"
        assert "we are deploying" in refused["error"]["message"]
        assert host.ask("git_status.cold-status.flag")["state"] == "succeeded"
        until(lambda: json.loads((host.shared / "gateway.json").read_text())["frozen"], "the freeze in gateway.json")
    finally:
        host.ok("unfreeze")
    assert host.ask("git_commit.warm.flag", "Warm")["state"] == "succeeded"
    assert host.commits() == before + 1


def test_a_freeze_after_the_yes_still_holds(resting: ServedHost) -> None:
    with resting.running():
        asked(resting, "icy", "git tag v-icy")
    resting.ok("approve", "icy")
    resting.ok("freeze", "stop everything")
    try:
        with resting.running():
            assert resting.in_state("icy", *LAST_STATES)["error"]["code"] == "frozen"
    finally:
        resting.ok("unfreeze")
    assert "v-icy" not in tags(resting)


def test_a28_what_waits_survives_a_restart_and_can_still_be_decided(resting: ServedHost) -> None:
    with resting.running() as gateway:
        asked(resting, "patient", "git tag v-patient")
        assert gateway.stop() == 0
    with resting.running():
        assert "git tag v-patient" in resting.ok("pending", "patient")
        resting.ok("approve", "patient")
        resting.in_state("patient", "succeeded")
    assert tags(resting).count("v-patient") == 1


def test_a_yes_while_no_gateway_runs_is_acted_on_by_the_next_one(resting: ServedHost) -> None:
    with resting.running():
        asked(resting, "absent", "git tag v-absent")
    resting.ok("approve", "absent")
    assert "v-absent" not in tags(resting)
    with resting.running():
        resting.in_state("absent", "succeeded")
    assert tags(resting).count("v-absent") == 1


def test_operators_are_not_asked_more_than_they_can_read(tmp_path: Path) -> None:
    with served_host(tmp_path) as resting, resting.running():
        for number in range(20):
            resting.raise_flag(f"git_cmd.many-{number}.flag", f"git tag v-many-{number}")
        for number in range(20):
            resting.in_state(f"many-{number}", "awaiting_approval")
        error = asked(resting, "one-more", "git tag v-one-more")["error"]
        assert error["code"] == "too_many_waiting"
        assert "do not raise more" in error["hint"]
        assert resting.ask("git_status.while-many.flag")["state"] == "succeeded"
        resting.ok("deny", "many-0", "--reason", "making room")
        assert asked(resting, "one-less", "git tag v-one-less")["state"] == "awaiting_approval"


def test_a31_what_cannot_be_shown_in_full_is_not_asked_at_all(resting: ServedHost) -> None:
    paths = " ".join(f"a-rather-long-name-of-a-file-{number}.txt" for number in range(80))
    with resting.running(GATEWAY_APPROVE="git_commit"):
        assert asked(resting, "many-words", f"git rm --cached {paths} --force")["error"]["code"] == "command_too_long"
        resting.raise_flag("git_commit.many-lines.flag", "A line of a message that nobody wants to read\n" * 100)
        ended = resting.in_state("many-lines", "awaiting_approval", *LAST_STATES)
        assert (ended["state"], ended["error"]["code"]) == ("refused", "too_long_to_review")
        assert "Nothing awaits" in resting.ok("pending", "many-lines")


def test_hidden_characters_in_the_reason_are_made_visible_to_who_decides(host: ServedHost) -> None:
    body = {"operation": "git_cmd", "params": {"command": "git tag v-seen"}, "reason": "fine\u202e \x1b[2Kreally"}
    host.raise_flag("seen.request.json", json.dumps(body))
    host.in_state("seen", "awaiting_approval")
    shown = host.ok("pending", "seen")
    assert "\u202e" not in shown
    assert "\x1b[2K" not in shown
    assert "U+202E" in shown
    host.ok("deny", "seen", "--reason", "hiding something")


def test_a_recovery_shows_its_plan_first_and_its_steps_in_the_audit_log(host: ServedHost) -> None:
    host.git("checkout", "-q", "--detach")
    host.git("commit", "-q", "--allow-empty", "-m", "Made on no branch")
    lost = host.git("rev-parse", "HEAD")
    host.raise_flag("git_recover.rescue.flag")
    host.in_state("rescue", "awaiting_approval")
    assert "step 1" in host.ok("pending", "rescue")
    host.ok("approve", "rescue")
    ended = host.in_state("rescue", *LAST_STATES)
    assert ended["state"] == "succeeded", ended["error"]
    assert host.git("symbolic-ref", "--short", "HEAD") == "main"
    assert host.git("branch", "-a", "--contains", lost, "--format=%(refname)")
    steps = [event["kind"] for event in host.events("rescue") if event["kind"].startswith("recovery.")]
    assert "recovery.done" in steps, steps


def test_a_recovery_of_what_is_well_asks_nobody(host: ServedHost) -> None:
    assert host.ask("git_recover.well.flag")["state"] == "succeeded"
    assert "approval.asked" not in host.told("well")


def test_nothing_that_was_never_asked_can_be_decided(host: ServedHost) -> None:
    host.ask("git_status.plain.flag")
    for name in ("plain", "nothing-of-that-name"):
        refused = host.cli("approve", name)
        assert refused.returncode == 1
        assert "nothing of that name awaits a decision" in refused.stderr
