"""An agent and two operators, through the real process and over HTTP: what each of them sees and reads."""

from __future__ import annotations

import json

import pytest
from bot_api import stall
from served_host import ALTERED, HURRIED, ServedHost, until
from telegram_chat import OpsChat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

APPROVE, DENY = "✅ Approve", "🚫 Deny"


def test_one_operator_approves_another_is_told_so_and_the_agent_reads_the_result(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?", "git tag v9")
        assert chat.tap(chat.ann, card, APPROVE).answer == "Approved: it runs now."
        assert "Already approved by @ann" in chat.tap_again(chat.bob, card, APPROVE)
        assert host.in_state("tag-1", "succeeded")["approval"]["decided_by"] == "telegram"
        done = chat.card("tag-1", "Done", "Approved by @ann")
        assert done.message_id == card.message_id
        assert len(chat.messages("Request tag-1")) == 1
    decided = next(event for event in host.events("tag-1") if event["kind"] == "approval.approved")
    assert decided["data"]["by"] == ["telegram:11"]
    assert f"{decided['seq']}:{decided['hash']}" in done.text
    assert host.ok("audit", "verify", "--anchor", f"{decided['seq']}:{decided['hash']}")


def test_a_denial_asks_why_and_the_reason_reaches_the_agent(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?")
        chat.tap(chat.ann, card, DENY)
        until(chat.has_button(card, "Too risky"), "the reasons to choose from")
        chat.tap(chat.ann, card, "← Back")
        until(chat.has_button(card, APPROVE), "the first buttons")
        assert host.result("tag-1")["state"] == "awaiting_approval"
        chat.tap(chat.bob, card, DENY)
        until(chat.has_button(card, "Too risky"), "the reasons to choose from")
        chat.tap(chat.bob, card, "Too risky")
        result = host.in_state("tag-1", "denied")
        assert result["approval"]["reason"] == "too risky as it is; find a way that risks less"
        assert "do not retry" in result["error"]["hint"]
        chat.card("tag-1", "Denied by @bob")


def test_a_reason_in_ones_own_words_is_the_reply_to_a_question_and_only_ones_own(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?")
        chat.tap(chat.ann, card, DENY)
        until(chat.has_button(card, "In my words…"), "the reasons to choose from")
        chat.tap(chat.ann, card, "In my words…")
        question = chat.asks("@ann: reply to this message with the reason")
        assert any("force_reply" in str(call.values) for call in chat.api.called("sendMessage"))
        chat.bob.says(chat.group, "because I say so", reply_to=question.message_id)
        chat.shows("That question was for somebody else")
        assert host.result("tag-1")["state"] == "awaiting_approval"
        chat.ann.says(chat.group, "v9 is <b>taken</b> & used", reply_to=question.message_id)
        assert host.in_state("tag-1", "denied")["approval"]["reason"] == "v9 is <b>taken</b> & used"
        chat.card("tag-1", "Denied by @ann", "v9 is <b>taken</b> & used")


def test_two_operators_must_agree_where_the_host_says_so(host: ServedHost, chat: OpsChat) -> None:
    with host.running(GATEWAY_QUORUM="2"):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "2 operators must say yes")
        assert "1 more operator must say yes" in (chat.tap(chat.ann, card, APPROVE).answer or "")
        chat.card("tag-1", "Yes from @ann")
        assert "You have said yes already" in chat.tap_again(chat.ann, card, APPROVE)
        assert host.result("tag-1")["state"] == "awaiting_approval"
        chat.tap(chat.bob, card, APPROVE)
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Approved by @ann, @bob")


def test_what_nobody_answers_expires_and_a_late_tap_is_told_so(host: ServedHost, chat: OpsChat) -> None:
    with host.running(*HURRIED):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
        data = card.data_of(APPROVE)
        chat.time_is_up("tag-1")
        assert host.in_state("tag-1", "expired")["error"]["code"] == "expired"
        chat.card("tag-1", "Expired", "nobody answered")
        assert card.labels() == []
        late = chat.press(chat.ann, card, data)
        assert "Too late: it expired" in (late.answer or "")
        assert late.alert


def test_a28_buttons_work_after_a_kill_and_a_restart(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
    with host.running():
        chat.tap(chat.ann, card, APPROVE)
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Done", "Approved by @ann")
        assert len(chat.messages("Request tag-1")) == 1


def test_a28_a_kill_before_telegram_has_answered_leaves_a_second_card_marked_so_and_one_decision(
    host: ServedHost, chat: OpsChat
) -> None:
    """Telegram has the card and the gateway cannot know it: the one moment in which a card may come twice."""
    with host.running():
        chat.api.always("sendMessage", stall(applied=True))
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        first = chat.card("tag-1", "Approve?")
    chat.api.always("sendMessage", None)
    with host.running():
        second = chat.settled_card("tag-1", "Approve?", "may be a repeat")
        assert "may be a repeat" not in first.text
        assert chat.tap(chat.ann, first, APPROVE).answer == "Approved: it runs now."
        assert "Already approved by @ann" in chat.tap_again(chat.bob, first, APPROVE)
        host.in_state("tag-1", "succeeded")
        assert chat.card("tag-1", "Done", "Approved by @ann").message_id == second.message_id
        assert len(chat.messages("Request tag-1")) == 2
    assert host.kinds("tag-1").count("approval.approved") == 1


def test_a_push_shows_what_it_would_publish_and_is_verified(host: ServedHost, chat: OpsChat) -> None:
    new = host.commit("ten percent\n", "Add a discount")
    with host.running(GATEWAY_APPROVE="git_push"):
        host.raise_flag("git_push.push-1.flag", "main")
        card = chat.card("push-1", "Approve?", "forward by 1 commit", "Add a discount")
        assert chat.files(".diff")
        chat.tap(chat.bob, card, APPROVE)
        assert host.in_state("push-1", "succeeded")["verified"]["effect"] is True
        chat.card("push-1", "Done", "Read back", new[:10])


def test_what_moved_after_it_was_asked_is_asked_again_with_only_what_moved(host: ServedHost, chat: OpsChat) -> None:
    host.commit("ten percent\n", "Add a discount")
    with host.running(GATEWAY_APPROVE="git_push"):
        host.raise_flag("git_push.push-1.flag", "main")
        card = chat.card("push-1", "Approve?")
        old = card.data_of(APPROVE)
        host.commit("twenty percent\n", "Add another one")
        chat.tap(chat.ann, card, APPROVE)
        again = chat.card("push-1", "Approve again?", "Changed since it was asked before")
        assert again.message_id == card.message_id
        assert chat.shows("left for").reply_to == card.message_id
        assert "has changed since" in (chat.press(chat.bob, card, old).answer or "")
        assert host.result("push-1")["state"] == "awaiting_approval"
        chat.tap(chat.bob, card, APPROVE)
        host.in_state("push-1", "succeeded")


def test_an_operator_recovers_a_detached_head_and_sees_each_step(host: ServedHost, chat: OpsChat) -> None:
    host.git("checkout", "-q", "--detach")
    host.git("branch", "--unset-upstream", "main")
    with host.running(ALTERED, "deliberate", "run"):
        host.raise_flag("git_status.s1.flag")
        offer = chat.shows("Needs a hand?", "HEAD is detached")
        chat.tap(chat.ann, offer, "Recover")
        plan = chat.shows("git_recover", "Approve?", "Plan")
        chat.tap(chat.ann, plan, APPROVE)
        until(lambda: "Done" in plan.text, "the end of the recovery")
        done = [text.count("✅") for text in [*plan.earlier, plan.text] if "Steps" in text]
        assert done == sorted(done)
        assert len(set(done)) >= 3  # successive edits, not one at the end
        assert "Approved by @ann" in plan.text
    assert host.git("symbolic-ref", "--short", "HEAD") == "main"
    assert host.git("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main"


def test_recover_can_be_asked_for_and_is_not_done_without_a_yes(host: ServedHost, chat: OpsChat) -> None:
    host.git("checkout", "-q", "--detach")
    with host.running():
        chat.ann.says(chat.group, "/recover")
        plan = chat.shows("git_recover", "Approve?", "Plan")
        chat.tap(chat.bob, plan, DENY)
        until(chat.has_button(plan, "No reason"), "the reasons to choose from")
        chat.tap(chat.bob, plan, "No reason")
        until(lambda: "Denied by @bob" in plan.text, "the denial on the card")
    assert host.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"


def test_a_freeze_stops_what_changes_anything_until_it_is_taken_back(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        chat.ann.says(chat.group, "/freeze something is odd")
        notice = chat.shows("Frozen", "something is odd")
        assert host.ask("git_commit.c1.flag", "no")["error"]["code"] == "frozen"
        assert host.ask("git_status.s1.flag")["state"] == "succeeded"
        assert json.loads(host.cli("status", "--json").stdout)["frozen"]["by"] == "telegram:11"
        chat.tap(chat.bob, notice, "Unfreeze")
        chat.shows("Unfrozen", "@bob")
        assert json.loads(host.cli("status", "--json").stdout)["frozen"] is None


def test_a_decision_of_the_host_shows_on_the_card(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?")
        data = card.data_of(APPROVE)
        host.ok("deny", "tag-1", "--reason", "not on a Friday")
        chat.card("tag-1", "Denied by", "on the host", "not on a Friday")
        assert "Already denied by" in (chat.press(chat.ann, card, data).answer or "")


def test_a26_a_stranger_is_told_no_reported_and_changes_nothing(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?")
        for _ in range(5):
            assert "not an operator" in (chat.tap(chat.eve, card, APPROVE).answer or "")
        chat.shows("Not an operator", "Eve")
        assert host.result("tag-1")["state"] == "awaiting_approval"
    assert [event["data"]["user"] for event in host.events() if event["kind"] == "chat.stranger"] == [66]


def test_a33_two_commands_that_begin_alike_for_a_long_way_are_two_approvals(host: ServedHost, chat: OpsChat) -> None:
    alike = f"git tag -a -m '{'the same words and ' * 40}"
    assert len(alike) > 512
    with host.running():
        cards = {}
        for name in ("one", "two"):
            host.raise_flag(f"git_cmd.{name}.flag", f"{alike}{name}' {name}")
            cards[name] = chat.card(name, "Approve?")
        assert host.digest("one") != host.digest("two")
        chat.tap(chat.ann, cards["one"], APPROVE)
        host.in_state("one", "succeeded")
        chat.card("one", "Done")
        assert host.result("two")["state"] == "awaiting_approval"
        assert "approval.approved" not in host.kinds("two")
        assert APPROVE in cards["two"].labels()
    assert host.git("tag") == "one"


def test_a31_what_has_no_room_on_one_card_is_refused_and_nobody_is_asked(host: ServedHost, chat: OpsChat) -> None:
    tags = [f"release-{number:02}-{'of-a-long-name-' * 2}" for number in range(38)]
    for tag in tags:
        host.git("tag", tag)
    with host.running():
        host.raise_flag("git_cmd.few.flag", f"git tag -d {tags[0]}")
        chat.card("few", "Approve?", tags[0])
        refused = host.ask("git_cmd.many.flag", "git tag -d " + " ".join(tags))
        assert (refused["state"], refused["error"]["code"]) == ("refused", "too_long_to_review")
        chat.card("many", "Refused", "too much to be shown")
        assert "approval.asked" not in host.kinds("many")
    assert host.git("tag").split() == tags


def test_a31_a_command_with_a_masked_part_cannot_be_approved_in_the_chat(host: ServedHost, chat: OpsChat) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", f"git tag -a -m '{secret}' v9")
        card = chat.settled_card("tag-1", "cannot be approved here")
        assert card.labels() == [DENY, "Details"]
        chat.ann.says(chat.group, "/approve tag-1")
        chat.shows("no card in this chat shows what would be approved")
        assert host.result("tag-1")["state"] == "awaiting_approval"
        assert secret not in "".join(chat.texts())


def test_undo_takes_back_what_an_approved_command_did(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?")
        chat.tap(chat.ann, card, APPROVE)
        until(chat.has_button(card, "↩️ Undo"), "a way back")
        assert host.git("tag") == "v9"
        chat.tap(chat.bob, card, "↩️ Undo")
        chat.card("tag-1", "Taken back by @bob")
    assert host.git("tag") == ""
