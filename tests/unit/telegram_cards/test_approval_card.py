"""The card that asks: everything that a yes depends on is on it, or there is no button for a yes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phone import read, text_of
from telegram_samples import (
    ANN,
    DIGEST,
    NEW,
    OLD,
    PLACE,
    approval,
    commit,
    push_approval,
    push_facts,
    push_request,
    request,
)

from executor.git.push_report import FileStat
from executor.git.risk_facts import RiskFact, Severity
from executor.git.secrets import SecretFinding
from executor.policy.model import RiskClass
from executor.record.forms import Form
from gateway.telegram.approval_card import Asked, approval_card, deny_keyboard, details
from gateway.telegram.card_model import Action, Card
from gateway.telegram.text_budget import LIMIT
from gateway.telegram.words import RISK_MARK

hostile = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("<>&\n\u202e ⟨x")), max_size=400)
words = st.lists(hostile, min_size=1, max_size=5)


def asked(argv: list[str], **shown: Any) -> Asked:
    about = approval(shown={**approval().shown, "argv": argv, **shown})
    return Asked(request(argv=tuple(argv)), about)


def actions(card: Card) -> set[Action]:
    return {button.action for row in card.buttons for button in row}


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_it_names_host_repository_class_command_reason_bound_ids_expiry_and_digest() -> None:
    card = approval_card(PLACE, Asked(push_request(), push_approval()))

    for part in (
        "web-1",
        "shop",
        "publishes commits",
        "git_push main",
        "main is a protected branch",
        "Deploy on every",
        "The agent says",
        "Please let it go out",
        OLD[:10],
        NEW[:10],
        "30 Nov 18:34 UTC (1 h)",
        DIGEST[:12],
    ):
        assert part in card.plain  # fmt: skip


def test_the_first_two_lines_say_what_where_and_how_risky() -> None:
    first, second = approval_card(PLACE, Asked(push_request(), push_approval())).plain.split("\n")[:2]

    assert first == "🟠 Approve? git_push main"
    assert second == "shop on web-1 · publishes commits"


def test_each_class_has_its_mark_and_only_force_is_red() -> None:
    assert [risk for risk, mark in RISK_MARK.items() if mark == "🔴"] == [RiskClass.FORCE]
    assert set(RISK_MARK) == set(RiskClass)


def test_what_is_risky_stands_above_the_lists() -> None:
    facts = push_facts(secrets=(SecretFinding(".env", 3, "an AWS access key"),))
    plain = approval_card(PLACE, Asked(push_request(), push_approval(facts))).plain

    places = [plain.index(part) for part in ("an AWS access key", "what CI runs", "Publishes 3", "Changes 5 files")]
    assert places == sorted(places)


def test_approve_and_deny_name_exactly_what_is_shown() -> None:
    card = approval_card(PLACE, Asked(push_request(), push_approval()))

    decisive = [button for row in card.buttons for button in row if button.action in (Action.APPROVE, Action.DENY)]
    assert {(button.target, button.digest) for button in decisive} == {("release-12.1", DIGEST)}


def test_the_diff_goes_along_as_a_file() -> None:
    (file,) = approval_card(PLACE, Asked(push_request(), push_approval())).attachments

    assert file.name == "release-12.1.diff"
    assert file.text.startswith("diff --git a/app/Discount.php")


def test_it_reads_the_same_whenever_it_is_made() -> None:
    one = Asked(push_request(), push_approval())

    assert approval_card(PLACE, one) == approval_card(PLACE, one)


def test_of_two_operators_the_one_who_said_yes_is_named() -> None:
    card = approval_card(PLACE, Asked(push_request(), push_approval(quorum=2), approvers=(ANN,)))

    assert "Yes from Ann: 1 more must" in card.plain


def test_a31_three_hundred_paths_and_a_force_at_the_end_are_shown_in_full_or_not_approvable() -> None:
    for number in (10, 40, 300):
        argv = ["git", "checkout", "--", *(f"app/Models/Model{one}.php" for one in range(number)), "--force"]
        card = approval_card(PLACE, asked(argv))

        shown_whole = argv[-2] in card.plain and card.plain.count("--force") >= 1
        assert card.too_long is not shown_whole
        assert (Action.APPROVE in actions(card)) is shown_whole
    assert card.too_long


def test_a31_a_command_of_which_a_part_is_masked_is_not_approved_in_the_chat() -> None:
    card = approval_card(PLACE, asked(["git", "commit", "-m", "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"]))

    assert "ghp_" not in card.html
    assert actions(card) == {Action.DENY, Action.DETAILS}


def test_a24_a_branch_of_two_hundred_cyrillic_letters_is_shown_and_is_on_no_button() -> None:
    branch = "ветка" * 40
    card = approval_card(PLACE, asked(["git", "branch", "-D", branch]))

    assert branch in card.plain
    assert all(len(button.label.encode()) <= 64 for row in card.buttons for button in row)


def test_what_passes_for_something_else_is_named() -> None:
    card = approval_card(PLACE, asked(["git", "branch", "-D", "m\u0430in", "x\u200by", "\u05d0\u05d1"]))

    assert "CYRILLIC SMALL LETTER A looks like a" in card.plain
    assert "⟨U+200B⟩" in card.plain
    assert "from right to left" in card.plain


def test_a_round_that_follows_a_change_shows_what_changed_and_not_the_old_story() -> None:
    card = approval_card(PLACE, Asked(push_request(), push_approval(round=2, shown={"moved": ["HEAD moved."]})))

    assert card.plain.startswith("🟠 Approve again?")
    assert "• HEAD moved." in card.plain
    assert "The agent says" not in card.plain


@pytest.mark.parametrize("form", Form)
def test_only_what_the_agent_asked_for_is_said_to_be_its_words(form: Form) -> None:
    one = Asked(request(form=form, reason="asked for by somebody"), approval())
    (whole_story,) = details(PLACE, one).attachments

    assert ("The agent says" in approval_card(PLACE, one).plain) is form.of_the_agent
    assert ("the agent says: asked for" in whole_story.text) is form.of_the_agent
    assert "asked for by somebody" in whole_story.text


def test_commits_and_files_give_way_before_what_is_risky() -> None:
    facts = push_facts(
        commits=tuple(commit(number, "A subject of some length " * 4) for number in range(60)),
        commits_total=900,
        files=tuple(FileStat(f"app/very/long/path/of/a/file/number/{number}.php", "M", 1, 1) for number in range(60)),
        risks=tuple(
            RiskFact(f"kind{number}", Severity.DANGER, f"danger number {number}",
                     tuple(f"some/path/of/a/file/that/is/long/{one}.yml" for one in range(10)), 25)
            for number in range(12)
        ),
    )  # fmt: skip
    card = approval_card(PLACE, Asked(push_request(), push_approval(facts)))

    assert not card.too_long
    assert all(f"danger number {number}" in card.plain for number in range(12))
    assert "… and " in card.plain
    assert units(card.plain) <= LIMIT


def test_many_stash_entries_do_not_crowd_out_the_rest() -> None:
    entries = [f"stash@{{{number}}}: {OLD}" for number in range(100)]
    card = approval_card(PLACE, asked(["git", "stash", "pop"], depends_on=["HEAD: " + OLD, *entries, "last: thing"]))

    assert not card.too_long
    assert "… and 98 more stash entries" in card.plain
    assert "last: thing" in card.plain


def test_details_hold_the_complete_ids_and_everything_that_was_shortened() -> None:
    card = details(PLACE, Asked(push_request(), push_approval()))

    assert OLD in card.plain
    assert NEW in card.plain
    assert DIGEST in card.plain
    (file,) = card.attachments
    assert "database/migrations/2025_11_30_add_discount.php" in file.text


def test_details_of_what_does_not_fit_are_in_the_file() -> None:
    things = [f"refs/tags/v{number} at origin: {OLD}" for number in range(300)]
    card = details(PLACE, asked(["git", "push", "origin", "x" * 5_000], depends_on=things))

    read(card.html)
    assert units(card.plain) <= LIMIT
    assert things[-1] in card.attachments[0].text
    assert "x" * 5_000 in card.attachments[0].text


def test_each_reason_to_deny_is_a_sentence_for_the_agent_and_none_is_possible_too() -> None:
    buttons = [button for row in deny_keyboard(approval()) for button in row]

    reasons = [button.reason for button in buttons if button.action is Action.DENY_BECAUSE]
    assert "" in reasons
    assert len(set(reasons)) == len(reasons) == 5
    assert {Action.DENY_IN_WORDS, Action.BACK} <= {button.action for button in buttons}


@settings(max_examples=150, deadline=None)
@given(
    argv=words, reason=hostile, why=hostile, lines=st.lists(hostile, max_size=6), moved=st.lists(hostile, max_size=2)
)
def test_any_text_in_any_field_is_whole_html_within_the_limits_or_too_long(
    argv: list[str], reason: str, why: str, lines: list[str], moved: list[str]
) -> None:
    about = approval(
        reasons=(why,),
        shown={"argv": argv, "depends_on": lines, "moved": moved, "loses": lines, "unseen": lines[:1], "more": why},
    )
    row = request(argv=tuple(argv), reason=reason, id="x" * 64, repo=reason[:40] or "r")
    card = approval_card(PLACE, Asked(row, about))

    reader = read(card.html)
    assert text_of(card.html) == card.plain
    assert units(card.plain) <= LIMIT
    assert reader.marked <= 100
    assert card.too_long is (Action.APPROVE not in actions(card)) or PLACE.pen.masks(argv)


@settings(max_examples=150, deadline=None)
@given(one=words, other=words)
def test_no_two_commands_that_can_be_approved_have_the_same_card(one: list[str], other: list[str]) -> None:
    if one != other:
        first, second = approval_card(PLACE, asked(one)), approval_card(PLACE, asked(other))
        if Action.APPROVE in actions(first) and Action.APPROVE in actions(second):
            assert first.plain != second.plain


@pytest.mark.parametrize("tail", ["", " ", "\n", "\u200b", "'"])
def test_a_command_that_differs_at_the_end_only_has_another_card(tail: str) -> None:
    plain = {approval_card(PLACE, asked(["git", "tag", f"v1{end}"])).plain for end in ("", tail)}

    assert len(plain) == (2 if tail else 1)


def test_a_diff_of_which_a_part_is_masked_is_said_to_hide_something() -> None:
    told = "In the diff of main *** stands for what looks like a secret"
    about = push_approval(shown={"masked": [told]})
    card = approval_card(PLACE, Asked(push_request(), about))
    assert f"❗ {told}" in card.plain
    assert told in details(PLACE, Asked(push_request(), about)).attachments[0].text
