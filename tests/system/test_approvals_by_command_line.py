"""Asking operators and hearing them, where the command line is the only door: what was agreed to runs, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from programs import until
from served_host import LAST_STATES, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host that is served for as long as the module's tests run."""
    with served_host(tmp_path_factory.mktemp("asked")) as host, host.running() as gateway:
        yield host
        assert "Traceback" not in gateway.log
        assert "whole" in host.ok("audit", "verify")


def test_a_yes_to_what_pending_showed_runs_exactly_that_at_once(host: ServedHost) -> None:
    waiting = host.asked("yes", "git tag v-yes")
    assert waiting["state"] == "awaiting_approval"
    assert waiting["approval"]["reasons"]
    assert "git tag v-yes" in host.ok("pending")
    assert "approved" in host.ok("approve", "yes", "--digest", host.digest("yes"))
    ended = host.in_state("yes", *LAST_STATES)
    assert (ended["state"], ended["approval"]["decided_by"]) == ("succeeded", "cli")
    assert host.git("tag").split().count("v-yes") == 1
    assert "Nothing awaits" in host.ok("pending", "yes")
    told = [event["kind"] for event in host.events("yes")]
    assert told.index("approval.approved") < told.index("request.running") < told.index("request.succeeded")


def test_a_no_reaches_the_agent_with_its_reason_and_runs_nothing(host: ServedHost) -> None:
    host.asked("no", "git tag v-no")
    host.ok("deny", "no", "--reason", "not before Monday")
    ended = host.in_state("no", *LAST_STATES)
    assert (ended["state"], ended["error"]["code"]) == ("denied", "denied")
    assert ended["approval"]["reason"] == "not before Monday"
    assert "do not retry" in ended["error"]["hint"]
    assert "v-no" not in host.git("tag").split()


def test_the_first_answer_counts_and_the_second_is_told_so(host: ServedHost) -> None:
    host.asked("twice", "git tag v-twice")
    host.ok("approve", "twice")
    host.in_state("twice", "succeeded")
    for again in (("approve", "twice"), ("deny", "twice", "--reason", "changed my mind")):
        late = host.cli(*again)
        assert late.returncode == 1
        assert "already approved by cli:" in late.stdout
    assert host.result("twice")["state"] == "succeeded"
    assert [event["kind"] for event in host.events("twice")].count("request.running") == 1


def test_a_yes_to_something_else_than_what_is_asked_is_refused(host: ServedHost) -> None:
    host.asked("other", "git tag v-other")
    refused = host.cli("approve", "other", "--digest", "0" * 12)
    assert refused.returncode == 1
    assert "digest" in refused.stderr
    short = host.cli("approve", "other", "--digest", host.digest("other")[:4])
    assert short.returncode == 1
    assert host.result("other")["state"] == "awaiting_approval"
    host.ok("deny", "other", "--reason", "done with it")


def test_a_branch_that_moves_while_operators_think_voids_their_yes_and_they_are_asked_again(
    host: ServedHost,
) -> None:
    host.git("branch", "topic")
    host.asked("drift", "git branch -D topic")
    before = host.digest("drift")
    host.git("commit", "-q", "--allow-empty", "-m", "Moved")
    host.git("branch", "-f", "topic", "main")
    host.ok("approve", "drift", "--digest", before)
    until(lambda: "moved from" in host.ok("pending", "drift"), "the second round with what moved")
    assert "topic" in host.git("branch")
    assert host.result("drift")["state"] == "awaiting_approval"
    assert host.cli("approve", "drift", "--digest", before).returncode == 1
    host.ok("approve", "drift", "--digest", host.digest("drift"))
    host.in_state("drift", "succeeded")
    assert "topic" not in host.git("branch")


def test_a_remote_that_moves_while_operators_think_is_not_overwritten_by_their_yes(host: ServedHost) -> None:
    host.git("commit", "-q", "--allow-empty", "-m", "Old")
    assert host.ask("git_push.to-rewind.flag", "main")["state"] == "succeeded"
    old = host.git("rev-parse", "HEAD")
    host.git("reset", "-q", "--hard", "HEAD~1")
    host.asked("force", "git push --force origin main")
    moved = host.git("commit-tree", "-p", old, "-m", "A colleague's", f"{old}^{{tree}}")
    host.git("push", "-q", str(host.bare()), f"{moved}:refs/heads/main")
    host.ok("approve", "force")
    until(lambda: "moved from" in host.ok("pending", "force"), "the second round with what moved")
    assert host.tip() == moved
    host.ok("deny", "force", "--reason", "a colleague has pushed")
    host.in_state("force", "denied")
    host.git("reset", "-q", "--hard", moved)


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
