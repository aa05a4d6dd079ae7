"""A request's card after it was asked about: what happened, by whom, and what there is to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from golden_cards import ended, pushed, recovery, story
from hypothesis import given, settings
from hypothesis import strategies as st
from phone import read, text_of
from telegram_samples import ANN, NEW, NOW, PLACE, approval, at, decided, event, request, result

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.approvals import ApprovalState
from executor.record.controls import Freeze
from gateway.telegram import digests, notices, replies
from gateway.telegram.approval_card import Asked
from gateway.telegram.card_model import Action, Card
from gateway.telegram.cards import Story, reminder, request_card
from gateway.telegram.text_budget import LIMIT

letters = st.one_of(st.characters(), st.sampled_from("<>&\n\u202e .@/"))
# long texts that are mostly names, hidden characters, or markup come up by themselves too seldom
floods = st.builds(
    lambda part, times: part * times,
    st.sampled_from(["a.b x ", "\u202e", "😀", "<&>", "x", "\n"]),
    st.integers(1, 1500),
)
hostile = st.text(alphabet=letters, max_size=200) | floods


def actions(card: Card) -> list[Action]:
    return [button.action for row in card.buttons for button in row]


def is_sound(card: Card) -> bool:
    reader = read(card.html)
    assert text_of(card.html) == card.plain
    assert len(card.plain.encode("utf-16-le", "surrogatepass")) // 2 <= LIMIT
    assert reader.marked <= 100
    return True


@pytest.mark.parametrize("state", [state for state in State if state is not State.AWAITING_APPROVAL])
def test_every_state_says_in_its_first_line_what_it_is_and_about_what(state: State) -> None:
    first = request_card(PLACE, Story(request(state=state))).plain.split("\n", 1)[0]

    assert "git reset --hard origin/main" in first
    assert first[0] not in "g<"


def test_what_is_not_known_is_not_said_to_have_failed() -> None:
    plain = request_card(PLACE, ended(State.INTERRUPTED)).plain

    assert "look whether it took effect" in plain
    assert "Failed" not in plain


@pytest.mark.parametrize("state", [State.EXPIRED, State.UNDELIVERABLE])
def test_nobody_answering_is_never_called_a_denial(state: State) -> None:
    plain = request_card(
        PLACE, story(request=request(state=state), approval=approval(**decided(ApprovalState(state), ())))
    ).plain

    assert "the agent may ask again" in plain
    assert "enied" not in plain


def test_an_effect_that_was_not_seen_is_said_in_the_second_line() -> None:
    card = request_card(PLACE, ended(State.SUCCEEDED, result=result(verified={"effect": False, "why": "x"})))

    assert card.plain.split("\n")[1].endswith("but its effect was not seen")


def test_a_push_tells_what_the_remote_has_now() -> None:
    assert f"origin has refs/heads/main at {NEW[:10]}" in request_card(PLACE, pushed()).plain


def test_the_place_of_the_decision_in_the_audit_log_stands_on_the_card() -> None:
    assert "audit 1204:" + "5ea1" * 16 in request_card(PLACE, pushed()).plain


def test_undo_is_offered_for_what_is_local_and_kept_and_not_undone_yet() -> None:
    done = ended(State.SUCCEEDED)
    undone = (event("operator.undo", by=ANN), event("operator.undo.done", by=ANN, told=[]))
    failed = (event("operator.undo", by=ANN), event("operator.undo.failed", by=ANN, error="conflict"))

    assert actions(request_card(PLACE, done)) == [Action.UNDO]
    assert actions(request_card(PLACE, replace(done, undoable=False))) == []
    assert actions(request_card(PLACE, replace(done, events=undone))) == []
    assert actions(request_card(PLACE, replace(done, events=failed))) == [Action.UNDO]
    published = replace(done, request=replace(done.request, risk=RiskClass.PUBLISH))
    assert actions(request_card(PLACE, published)) == []


def test_a_recovery_shows_each_step_and_those_to_come() -> None:
    plain = request_card(
        PLACE, recovery(State.RUNNING, ("done", "Keep what there is", "kept"), ("started", "Switch to main", ""))
    ).plain

    assert "✅ Keep what there is: kept\n▶️ Switch to main\n▫️ Set the upstream" in plain


def test_a18_of_nine_thousand_characters_of_output_both_ends_are_shown_and_all_is_in_the_file_of_why() -> None:
    log = "".join(f"{number:04} commit &lt; <x>\n" for number in range(450))
    told = ended(State.SUCCEEDED, output=log)
    card = request_card(PLACE, told)

    assert is_sound(card)
    assert "0000 commit &lt; <x>" in card.plain
    assert "0449 commit" in card.plain
    assert [file.text for file in replies.why(PLACE, told, ()).attachments] == [log]


def test_the_bot_token_in_an_output_or_error_is_masked() -> None:
    place = replace(PLACE, redactor=type(PLACE.redactor)(["987654:the-bot-token"]))
    told = ended(State.FAILED, output="987654:the-bot-token", result=result("x", "says 987654:the-bot-token"))

    assert "the-bot-token" not in request_card(place, told).html


@settings(max_examples=100, deadline=None)
@given(text=hostile, state=st.sampled_from(State), data=st.dictionaries(hostile, hostile | st.integers(), max_size=6))
def test_any_text_in_any_field_of_a_request_makes_a_sound_card(text: str, state: State, data: dict[str, Any]) -> None:
    verified = {**data, "effect": len(text) % 2 == 0, "why": text}
    row = request(
        id="i" * 64, repo=text[:90] or "r", argv=(text, text), reason=text, state=state, output=text * 30,
        started_at=at(40), finished_at=at(41), result=result(text[:70] or "c", text, text, verified),
    )  # fmt: skip
    events = (
        event("recovery.done", step=text, detail=text),
        event("operator.undo.failed", by=text, error=text),
        event("approval.approved"),
    )
    settled = approval(
        **decided(by=(f"cli:{text}",) * 4, reason=text), shown={"argv": [text, text], "plan": [f"1. {text}"] * 9}
    )
    for operation in (Operation.GIT_CMD, Operation.GIT_RECOVER):
        place = replace(PLACE, host=text or "h", names={ANN: text})
        assert is_sound(request_card(place, Story(replace(row, operation=operation), settled, (), events)))


@settings(max_examples=60, deadline=None)
@given(text=hostile, many=st.integers(1, 40))
def test_any_text_makes_sound_notices_digests_and_replies(text: str, many: int) -> None:
    place = replace(PLACE, host=text or "h", names={ANN: text})
    row = request(argv=(text,), repo=text or "r", state=State.REFUSED, result=result(text or "c", text, text))
    rows = [
        replace(row, id=f"id{number}", repo=f"{number}{text}", operation=list(Operation)[number % 10])
        for number in range(many)
    ]
    asked = Asked(row, approval(shown={"argv": [text]}))
    status = {
        "troubles": [text] * many, "unsafe": [text] * many, "repositories": dict.fromkeys([text, text + text], ""),
        "confinement": text, "frozen": {"by": text, "reason": text, "at": at(3)}, "requests": {},
    }  # fmt: skip
    for card in (
        notices.tampering(place, rows, many * 9),
        notices.frozen(place, Freeze(text, text, at(3))),
        notices.unfrozen(place, text),
        notices.started(place, {"repositories": [text] * many, "confinement": text}, unsafe=[text] * 3),
        notices.started(place, {}, troubles={f"{number}{text}": text for number in range(many)}),
        notices.trouble(place, {f"{number}{text}": text for number in range(many)}),
        notices.trouble_over(place, text),
        notices.recover_offer(place, text, [text] * many),
        notices.stranger(place, text, 7, text, many),
        digests.routine(place, rows),
        digests.while_away(place, 5_000, rows),
        replies.status(place, status),
        replies.pending(place, [asked] * many, NOW),
        replies.not_configured(place, text, text),
        replies.usage(place, text),
        replies.unknown_request(place, text),
        replies.too_old(place, text, 9_000),
        replies.done(place, text),
        replies.ask_for_reason(place, asked, text),
        reminder(place, asked, 300),
    ):
        assert is_sound(card)


def test_many_suspicious_flags_are_one_short_message() -> None:
    rows = [
        request(id=f"r{number}", state=State.REFUSED, result=result("flag_is_symlink", "a link"))
        for number in range(500)
    ]
    card = notices.tampering(PLACE, rows)

    assert len(card.plain.splitlines()) < 8
    assert "500 × git_cmd" in card.plain


def test_of_many_routine_requests_what_went_wrong_is_named_and_the_rest_is_counted() -> None:
    good = [request(state=State.SUCCEEDED, operation=Operation.GIT_STATUS, argv=("git_status",))] * 30
    bad = request(
        state=State.FAILED, operation=Operation.GIT_ADD, argv=("git_add", "x"), result=result("x", "no such path")
    )

    lines = digests.routine(PLACE, [*good, bad]).plain.splitlines()

    assert lines[0].startswith("❌ git_add x · shop · no such path")
    assert lines[1] == "✅ 30 routine requests: 30 git_status · shop"


def test_every_command_has_a_description_that_telegram_takes() -> None:
    assert all(name.islower() and 1 <= len(words) <= 256 for name, words in replies.COMMANDS)
    assert all(f"/{name} {words}" in replies.help_text(PLACE).plain for name, words in replies.COMMANDS)


def test_a29_a_command_that_arrives_hours_late_is_answered_and_not_done() -> None:
    assert "too old to be done now" in replies.too_old(PLACE, "freeze", 7_200).plain
