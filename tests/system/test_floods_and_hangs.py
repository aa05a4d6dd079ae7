"""Too much at once, something that never ends, and bugs: nobody else has to wait for it."""

from __future__ import annotations

import pytest
from held_pushes import held_pushes
from programs import until
from served_host import ALTERED, LAST_STATES, ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.mark.slow
def test_d03_two_thousand_flags_at_once_are_all_answered_in_the_order_they_were_written(host: ServedHost) -> None:
    ids = [f"flood-{number:04}" for number in range(2000)]
    host.shared.rename(host.root / "aside")
    for request_id in ids:
        (host.root / "aside" / f"git_status.{request_id}.flag").write_text("")
    with host.running() as gateway:
        (host.root / "aside").rename(host.shared)
        until(lambda: host.result(ids[-1]).get("state") == "succeeded", "the last of them", deadline=150.0)
        assert "Traceback" not in gateway.log
    assert all(host.result(request_id)["state"] == "succeeded" for request_id in ids)
    started = [event["request_id"] for event in host.events() if event["kind"] == "request.running"]
    assert started == ids
    assert host.left_claimed() == []


def test_results_are_never_behind_the_record_when_two_repositories_work_side_by_side(
    two_repositories: ServedHost,
) -> None:
    """A quick worker may have run a request before the one that took it has said that it is queued."""
    host = two_repositories
    asked = [(number, repo) for number in range(60) for repo in ("shop", "blog")]
    with host.running():
        for number, repo in asked:
            (host.shared / f"git_status@{repo}.{repo}-{number}.flag").write_text("")
        for number, repo in reversed(asked):
            host.in_state(f"{repo}-{number}", "succeeded")


def test_b01_a_remote_that_hangs_holds_up_its_own_repository_and_no_other(two_repositories: ServedHost) -> None:
    host = two_repositories
    host.commit("shop\n", name="shop")
    new = host.commit("blog\n", name="blog")
    with host.running() as gateway, held_pushes(host.bare("shop")) as remote:
        host.raise_flag("git_push@shop.hangs.flag", "main")
        remote.begun()
        host.raise_flag("git_status@shop.behind.flag")
        assert host.ask("git_push@blog.passes.flag", "main")["state"] == "succeeded"
        assert host.ask("git_status@blog.reads.flag")["state"] == "succeeded"
        assert host.tip(name="blog") == new
        assert host.result("behind")["state"] == "queued"  # one after the other within one repository
        remote.let_go()
        assert host.in_state("hangs", *LAST_STATES)["state"] == "succeeded"
        assert host.in_state("behind", *LAST_STATES)["state"] == "succeeded"
        assert "Traceback" not in gateway.log


def test_c03_a_remote_that_never_answers_is_given_up_after_its_deadline(host: ServedHost) -> None:
    host.commit("deaf\n")
    host.remote.hang = True
    with host.running(GATEWAY_NETWORK_DEADLINE_SECONDS="1"):
        ended = host.ask("git_push.deaf.flag", "main")
        assert (ended["state"], ended["error"]["code"]) == ("timed_out", "remote_timeout")
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
        assert host.gits() == []


def test_a_request_that_meets_a_bug_is_told_so_and_stands_in_nobodys_way(host: ServedHost) -> None:
    with host.running(ALTERED, "buggy", "run") as gateway:
        host.raise_flag("git_commit.unread.flag", "bug-in-reading")
        host.raise_flag("git_cmd.bug-in-binding.flag", "git tag v1")
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
        unread = host.in_state("unread", *LAST_STATES)
        assert (unread["state"], unread["error"]["code"]) == ("refused", "internal_error")
        unbound = host.in_state("bug-in-binding", *LAST_STATES)
        assert (unbound["state"], unbound["error"]["code"]) == ("failed", "internal_error")
        assert "RuntimeError: a bug" in gateway.log


def test_a_repository_that_cannot_be_looked_at_does_not_stop_the_taking_of_flags(host: ServedHost) -> None:
    with host.running(ALTERED, "blind", "run") as gateway:
        host.raise_flag("git_push.blind.flag", "main")
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
        ended = host.in_state("blind", *LAST_STATES)
        assert (ended["state"], ended["error"]["code"]) == ("failed", "git_failed")
        assert "Traceback" not in gateway.log
