"""What follows from a failed call, how fast a chat may be written to, when an alarm rings: all without a network."""

from __future__ import annotations

from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram.error import NetworkError, TelegramError, TimedOut

from executor.record.display import utf16_length
from gateway.telegram.alarm import Alarm
from gateway.telegram.attempts import Again, Form, Over, Scope, backoff, next_step, text_of
from gateway.telegram.failures import (
    Ambiguous,
    CallFailed,
    Fault,
    Gone,
    Lost,
    Migrated,
    NotDone,
    Rejected,
    failure_of,
)
from gateway.telegram.keyboards import Button
from gateway.telegram.outgoing import TEXT_ROOM, Declined, Kind, Outgoing, Priority, Uncertain
from gateway.telegram.pace import GROUP_LIMIT, GROUP_WINDOW, Pace

CHAT = -1001
LINE = Outgoing("r1", Kind.SEND, CHAT, "<b>a</b> &lt;b")


def caused_by(error: TelegramError, cause: Exception) -> TelegramError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "cause",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout(""), httpx.PoolTimeout(""), httpx.ProxyError("502")],
    ids=lambda cause: type(cause).__name__,
)
def test_what_was_never_written_surely_did_nothing(cause: Exception) -> None:
    error = TimedOut() if isinstance(cause, httpx.TimeoutException) else NetworkError("x")

    assert type(failure_of(caused_by(error, cause), str)) is NotDone


@pytest.mark.parametrize(
    "cause",
    [httpx.ReadTimeout(""), httpx.WriteTimeout(""), httpx.ReadError(""), httpx.RemoteProtocolError("gone")],
    ids=lambda cause: type(cause).__name__,
)
def test_a10_what_may_have_been_written_is_uncertain(cause: Exception) -> None:
    error = TimedOut() if isinstance(cause, httpx.TimeoutException) else NetworkError("x")

    assert type(failure_of(caused_by(error, cause), str)) is Ambiguous


def test_what_nobody_foresaw_is_uncertain() -> None:
    assert type(failure_of(KeyError("result"), str)) is Ambiguous


def test_a25_the_text_of_a_failure_is_cleaned() -> None:
    failure = failure_of(NetworkError("https://host/botSECRET/x"), lambda text: text.replace("SECRET", "***"))

    assert "SECRET" not in f"{failure} {failure!r}"


failures = st.sampled_from(
    [
        Ambiguous("no answer"),
        Rejected("can't parse", Fault.PARSE),
        Rejected("too long", Fault.TOO_LONG),
        Rejected("other"),
        Gone("topic", Lost.TOPIC),
        Gone("message", Lost.MESSAGE),
        Gone("chat", Lost.CHAT),
    ]
)


@given(st.lists(failures, min_size=20, max_size=20), st.sampled_from(list(Kind)), st.booleans())
def test_every_item_comes_to_an_end_as_long_as_telegram_answers(
    answers: list[CallFailed], kind: Kind, important: bool
) -> None:
    item = Outgoing("r1", kind, CHAT, "x", message_id=7, important=important, file_name="a", content=b"x")
    form = Form()
    for tries, answer in enumerate(answers):
        step = next_step(item, form, answer)
        if isinstance(step, Over):
            assert tries <= 12
            return
        form = step.form
    pytest.fail("it would be tried for ever")


@given(st.lists(failures, max_size=20), st.booleans())
def test_a10_a_new_message_goes_out_once_more_at_most_after_an_uncertain_end_and_then_with_a_mark(
    answers: list[CallFailed], important: bool
) -> None:
    item = Outgoing("r1", Kind.SEND, CHAT, "x", important=important)
    form, uncertain = Form(), 0
    for answer in answers:
        step = next_step(item, form, answer)
        if isinstance(step, Over):
            return
        uncertain += isinstance(answer, Ambiguous)
        form = step.form
        assert uncertain <= important
        assert form.marked == (uncertain == 1)


def test_a20_a_moved_chat_is_followed_at_once() -> None:
    step = next_step(LINE, Form(), Migrated("upgraded", -1002))

    assert isinstance(step, Again) and (step.moved_to, step.seconds, step.scope) == (-1002, 0.0, Scope.ITEM)


def test_a17_only_what_was_marked_up_is_markup() -> None:
    assert text_of(LINE, Form()) == ("<b>a</b> &lt;b", True)
    assert text_of(LINE, Form(plain=True)) == ("a <b", False)
    assert text_of(Outgoing("r1", Kind.SEND, CHAT, "<b>a</b>", plain="a!"), Form(plain=True)) == ("a!", False)


@given(st.integers(0, 4000), st.integers(0, 3000))
def test_a18_what_is_cut_fits_in_utf_16_units_and_is_the_beginning(letters: int, faces: int) -> None:
    text = "x" + "é" * letters + "😀" * faces + "<&" * 700
    cut, is_html = text_of(
        Outgoing("r1", Kind.SEND, CHAT, "x", plain=text), Form(cut=True, marked=True, general=True)
    )

    beginning = cut[: cut.index("\n\n(")]
    assert utf16_length(cut) <= 4096 and not is_html
    assert text.startswith(beginning)
    assert beginning == text or utf16_length(beginning) >= TEXT_ROOM - 1


def test_a31_a_text_above_buttons_is_declined_rather_than_cut() -> None:
    asking = Outgoing("r1", Kind.SEND, CHAT, "x", buttons=[[Button("Approve", "t")]])

    assert next_step(asking, Form(), Rejected("too long", Fault.TOO_LONG)) == Over(Declined("too long"))


def test_back_off_doubles_up_to_a_minute() -> None:
    assert [backoff(number) for number in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_an_important_message_ends_uncertain_after_its_second_lost_answer() -> None:
    important = Outgoing("r1", Kind.SEND, CHAT, "x", important=True)
    first = next_step(important, Form(), Ambiguous("no answer"))

    assert isinstance(first, Again) and first.form.marked
    assert next_step(important, first.form, Ambiguous("no answer")) == Over(Uncertain("no answer"))


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(list(Priority))), max_size=80), st.booleans())
def test_no_minute_of_a_group_holds_more_than_telegram_allows(
    arrivals: list[tuple[float, Priority]], is_group: bool
) -> None:
    pace, now, times = Pace(CHAT if is_group else 11), 0.0, []
    for pause, priority in arrivals:
        now = max(now + pause, pace.ready_at(priority))
        pace.took(now)
        times.append(now)

    assert all(later - earlier >= 0.999 for earlier, later in pairwise(times))
    if is_group:
        assert all(
            times[index + GROUP_LIMIT] - times[index] >= GROUP_WINDOW - 0.001
            for index in range(len(times) - GROUP_LIMIT)
        )


def test_a04_an_alarm_rings_once_however_the_trouble_comes_and_goes() -> None:
    alarm = Alarm(3, window=600, quiet=120)

    assert [alarm.happened(now) for now in range(0, 1000, 50)] == [False, False, True] + [False] * 17
    assert alarm.is_on(1000) and not alarm.is_on(1100)
    assert [alarm.happened(2000 + now) for now in (0, 50, 100)] == [False, False, True]


def test_trouble_that_is_rare_rings_no_alarm() -> None:
    alarm = Alarm(3, window=600, quiet=120)

    assert not any(alarm.happened(now) for now in range(0, 10_000, 400))


@pytest.mark.parametrize("kind", [Kind.EDIT, Kind.DELETE, Kind.DOCUMENT])
def test_an_item_that_lacks_what_its_kind_needs_cannot_be_made(kind: Kind) -> None:
    with pytest.raises(ValueError, match=r"which message|a file needs"):
        Outgoing("r1", kind, CHAT)
