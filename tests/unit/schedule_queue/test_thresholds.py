"""What looks at queues come to: when somebody is told, when workers are restarted, and when all is clear."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queue_looks import MINUTE, Watch, count

from executor.laravel.model import QueueCount
from gateway.schedule.queue_state import Hold, Kind, LastRestart, MonitorState, RestartState, Rules

VERIFIED = LastRestart(RestartState.VERIFIED)


def congested(**more: object) -> Watch:
    watch = Watch(**more)  # type: ignore[arg-type]
    watch.looks(60, 70, 80)
    return watch


def test_nothing_is_done_before_so_many_looks_in_a_row_were_beyond_a_limit() -> None:
    watch = Watch()

    assert watch.looks(60, 70, 10, 60, 70) == []
    assert watch.looks(80) == [Kind.CONGESTED, Kind.RESTART]


def test_jobs_that_are_too_old_are_a_congestion_even_when_they_are_few() -> None:
    watch = Watch()

    acts = [act for age in (601, 661, 721) for act in watch.look(count(1, oldest=age))]

    assert [act.kind for act in acts] == [Kind.CONGESTED, Kind.RESTART]


def test_delayed_and_reserved_jobs_alone_are_no_congestion() -> None:
    watch = Watch()

    for _ in range(5):
        assert watch.look(QueueCount("emails", pending=0, delayed=9000, reserved=12, oldest_seconds=None)) == []


def test_a_count_that_fails_is_neither_a_breach_nor_the_end_of_a_row() -> None:
    watch = Watch()

    assert watch.looks(60, None, 70, None) == []
    assert watch.looks(80) == [Kind.CONGESTED, Kind.RESTART]


def test_counts_that_go_on_failing_are_told_once_and_so_is_their_return() -> None:
    watch = Watch()

    assert watch.looks(None, None, None, None, None) == [Kind.UNKNOWN]
    assert watch.looks(5) == []
    assert watch.looks(5, 5) == [Kind.KNOWN]
    assert watch.told[0].loud
    assert watch.told[0].data["problem"] == "Redis cannot be reached"
    assert watch.told[0].story == watch.told[1].story


def test_a35_counts_that_fail_again_soon_after_are_the_same_story() -> None:
    watch = Watch()
    watch.looks(None, None, None, 5, 5)
    watch.looks(None, None, None, 5, 5)

    assert len({act.story for act in watch.told}) == 1
    watch.look(5, after=2 * 3600)
    watch.looks(None, None, None)
    assert len({act.story for act in watch.told}) == 2


def test_a_congestion_is_neither_over_nor_restarted_for_while_it_cannot_be_counted() -> None:
    watch = congested()
    watch.restart = VERIFIED

    assert Kind.CLEAR not in watch.looks(*[None] * 60)
    assert len(watch.restarted_at) == 1
    assert watch.state.queues["emails"].open


def test_all_is_clear_only_well_below_the_limit_and_twice() -> None:
    watch = congested()
    watch.restart = VERIFIED

    assert Kind.CLEAR not in watch.looks(49, 45, 41, 49, 40, 45)
    assert watch.looks(40, 39) == [Kind.CLEAR]
    assert watch.told[-1].data["worst"] == 80
    assert watch.told[-1].data["restarts"] == 1


def test_a_restart_that_helps_ends_in_all_clear_and_in_nothing_else() -> None:
    watch = congested()
    watch.restart = VERIFIED

    assert watch.looks(75, 60, 40, 20) == [Kind.DRAINING, Kind.CLEAR]


def test_a_long_queue_that_drains_slowly_is_given_time() -> None:
    watch = Watch()
    watch.looks(5000, 5000, 5000)
    watch.restart = VERIFIED

    told = watch.looks(*range(4950, 1000, -50))

    assert told == [Kind.DRAINING]


def test_after_a_restart_that_did_not_help_somebody_is_called_with_what_was_seen() -> None:
    watch = congested()
    watch.restart = VERIFIED

    told = watch.looks(*[90] * 15)

    assert told == [Kind.STILL]
    assert watch.told[-1].loud
    assert watch.told[-1].data == {
        "pending": 90,
        "delayed": 0,
        "reserved": 0,
        "failed": 0,
        "before": 80,
        "why": "restart",
        "next_at": watch.restarted_at[0] + 30 * MINUTE,
    }


def test_each_restart_that_did_not_help_doubles_the_wait_for_the_next() -> None:
    watch = congested(rules=Rules(restarts_an_hour=60))
    watch.restart = VERIFIED
    watch.looks(*[90] * 240)

    minutes = [round((at - watch.restarted_at[0]) / MINUTE) for at in watch.restarted_at]

    assert minutes == [0, 30, 90, 210]


def test_no_more_restarts_are_made_than_an_hour_may_have_and_that_is_said_once() -> None:
    watch = congested(rules=Rules(cooldown_seconds=60, restarts_an_hour=2))
    watch.restart = VERIFIED
    watch.looks(*[90] * 40)

    assert len(watch.restarted_at) == 2
    assert [act.data["why"] for act in watch.told if act.kind is Kind.STILL].count("limit") == 1


def test_with_no_restarts_allowed_it_watches_only() -> None:
    watch = congested(rules=Rules(restarts_an_hour=0))
    watch.looks(*[90] * 40)

    assert [act.kind for act in watch.told] == [Kind.CONGESTED]


@pytest.mark.parametrize("hold", [Hold.OUTSIDE_HOURS, Hold.FROZEN])
def test_outside_hours_or_frozen_a_congestion_is_told_and_the_restart_comes_when_it_may(hold: Hold) -> None:
    watch = congested(hold=hold)

    assert [act.kind for act in watch.told] == [Kind.CONGESTED]
    assert watch.told[0].data["hold"] == str(hold)
    assert watch.looks(*[90] * 30) == []
    watch.hold = Hold.NONE
    assert watch.looks(90) == [Kind.RESTART]


def test_while_a_restart_waits_for_operators_no_other_is_asked_for_and_nothing_is_judged() -> None:
    watch = congested()
    watch.restart = LastRestart(RestartState.OPEN)

    assert watch.looks(*[90] * 120) == []


def test_a_restart_that_has_not_begun_when_all_is_clear_is_taken_back_and_counts_for_none() -> None:
    watch = congested()
    watch.restart = LastRestart(RestartState.OPEN)

    assert watch.looks(40, 30, 20) == [Kind.WITHDRAW, Kind.CLEAR]
    assert watch.told[-1].data["restarts"] == 0


def test_an_operators_no_holds_until_all_is_clear() -> None:
    watch = congested()
    watch.restart = LastRestart(RestartState.DENIED, "not now")

    assert watch.looks(*[90] * 120) == [Kind.RESTART_TROUBLE]
    assert not watch.told[-1].loud
    watch.looks(0, 0)
    assert watch.looks(60, 60, 60) == [Kind.CONGESTED, Kind.RESTART]


def test_f01_f03_a_restart_that_was_not_seen_to_take_effect_calls_somebody_at_once_and_once() -> None:
    watch = congested()
    watch.restart = LastRestart(RestartState.UNVERIFIED, "no worker came back within 60 s")

    acts = watch.look(85)

    assert [(act.kind, act.loud) for act in acts] == [(Kind.RESTART_TROUBLE, True)]
    assert acts[0].data["why"] == "no worker came back within 60 s"
    assert watch.looks(*[85] * 20) == []


def test_f04_a_restart_that_fails_is_not_tried_again_in_a_storm() -> None:
    watch = congested()
    watch.restart = LastRestart(RestartState.FAILED, "artisan exited with 1")
    watch.looks(*[90] * 60)

    assert len(watch.restarted_at) == 2  # the second half an hour after the first
    assert sum(act.loud for act in watch.told) == 2  # that it is congested, and that it failed


def test_a35_a_queue_that_flaps_for_two_hours_makes_few_sounds() -> None:
    watch = Watch()
    watch.restart = VERIFIED
    watch.looks(*[90, 90, 90, 0, 0] * 24)

    assert sum(act.loud for act in watch.told) <= 3
    assert watch.told[0].loud


def test_a_story_that_goes_on_for_a_day_is_not_taken_up_for_ever() -> None:
    watch = Watch()
    watch.restart = VERIFIED
    watch.looks(*[90, 90, 90, 0, 0] * 12 * 49)

    stories = [act.story for act in watch.told if act.kind is Kind.CONGESTED]
    assert len(set(stories)) == 3


def test_f08_a_queue_that_never_existed_is_told_once() -> None:
    watch = Watch()

    acts = [act for _ in range(5) for act in watch.look(count(0, existed=False))]

    assert [(act.kind, act.queue) for act in acts] == [(Kind.ABSENT, "emails")]


def test_a_queue_that_was_there_and_is_empty_now_was_not_never_there() -> None:
    watch = Watch()
    watch.look(count(3))

    assert watch.look(count(0, existed=False)) == []


def test_two_congested_queues_are_one_restart() -> None:
    watch = Watch()
    for _ in range(3):
        acts = watch.look(count(60), count(70, queue="pdf"))

    assert [act.kind for act in acts].count(Kind.RESTART) == 2
    assert len(watch.restarted_at) == 1


def test_a_queue_that_becomes_congested_later_waits_for_the_cool_down_of_the_other() -> None:
    watch = Watch()
    for _ in range(3):
        watch.look(count(60), count(0, queue="pdf"))
    watch.restart = VERIFIED
    for _ in range(10):
        acts = watch.look(count(30), count(90, queue="pdf"))

    assert len(watch.restarted_at) == 1
    assert acts == []


def test_what_was_in_a_row_before_a_long_absence_is_not_any_more() -> None:
    watch = Watch()
    watch.looks(60, 60)

    assert watch.look(60, after=2 * 24 * 3600) == []


def test_b06_a_clock_that_is_set_back_neither_makes_a_storm_nor_holds_up_what_is_due() -> None:
    watch = congested()
    watch.restart = VERIFIED
    watch.now -= 3 * 3600
    watch.looks(*[90] * 60)

    assert [act.kind for act in watch.told].count(Kind.STILL) >= 1
    assert len(watch.restarted_at) == 2


def test_a_queue_that_drains_for_long_does_not_keep_another_from_its_restart() -> None:
    watch = Watch()
    for _ in range(3):
        watch.look(count(9000), count(0, queue="pdf"))
    watch.restart = VERIFIED
    for minute in range(40):
        watch.look(count(9000 - 100 * minute), count(90, queue="pdf"))

    assert [act.queue for act in watch.told if act.kind is Kind.CONGESTED] == ["emails", "pdf"]
    assert len(watch.restarted_at) == 2
    assert [act.queue for act in watch.told if act.kind is Kind.STILL] == ["pdf"]


_COUNTS = st.sampled_from([None, 0, 0, 30, 45, 60, 90, 500])
_LOOKS = st.lists(
    st.tuples(
        _COUNTS,
        _COUNTS,
        st.sampled_from([10.0, MINUTE, MINUTE, 10 * MINUTE, 7200.0]),
        st.sampled_from([Hold.NONE, Hold.NONE, Hold.NONE, Hold.OUTSIDE_HOURS, Hold.FROZEN]),
        st.sampled_from(RestartState),
    ),
    max_size=120,
)
_RULES = st.builds(
    Rules,
    cooldown_seconds=st.sampled_from([0.0, 60.0, 900.0]),
    restarts_an_hour=st.integers(0, 3),
    breaches=st.integers(1, 3),
)


@given(_LOOKS, _RULES)
def test_whatever_happens_restarts_stay_within_the_hour_the_hours_and_what_is_known(
    looks: list[tuple[int | None, int | None, float, Hold, RestartState]], rules: Rules
) -> None:
    watch, restarts = Watch(rules=rules), []
    for emails, pdf, after, hold, became in looks:
        watch.hold, watch.restart = hold, LastRestart(became, "why") if restarts else None
        acts = watch.look(count(emails), count(pdf, queue="pdf"), after=after)
        asked = [act for act in acts if act.kind is Kind.RESTART]
        known = {"emails": emails, "pdf": pdf}
        if asked:
            restarts.append(watch.now)
            assert hold is Hold.NONE
            assert all(known[act.queue] is not None and known[act.queue] > rules.max_pending for act in asked)  # type: ignore[operator]
        assert sum(watch.now - at < 3600 for at in restarts) <= rules.restarts_an_hour


@given(_LOOKS, _RULES)
def test_whatever_happens_each_congestion_is_ended_by_all_clear_or_stands(
    looks: list[tuple[int | None, int | None, float, Hold, RestartState]], rules: Rules
) -> None:
    watch, standing = Watch(rules=rules), set()
    for emails, pdf, after, hold, became in looks:
        watch.hold, watch.restart = hold, LastRestart(became)
        for act in watch.look(count(emails), count(pdf, queue="pdf"), after=after):
            if act.kind is Kind.CONGESTED:
                assert act.queue not in standing
                standing.add(act.queue)
            elif act.kind is Kind.CLEAR:
                standing.remove(act.queue)
            elif act.kind in (Kind.RESTART, Kind.DRAINING, Kind.STILL, Kind.RESTART_TROUBLE):
                assert act.queue in standing
    assert {name for name, queue in watch.state.queues.items() if queue.open} == standing


@given(_LOOKS)
def test_what_is_remembered_survives_being_written_down(
    looks: list[tuple[int | None, int | None, float, Hold, RestartState]],
) -> None:
    watch = Watch()
    for emails, pdf, after, hold, _ in looks:
        watch.hold = hold
        watch.look(count(emails), count(pdf, queue="pdf"), after=after)

    assert MonitorState.from_data(json.loads(json.dumps(watch.state.as_data()))) == watch.state


def test_what_an_older_version_did_not_write_down_has_its_default() -> None:
    data = replace(MonitorState(), in_vain=2).as_data()
    del data["outage"]

    assert MonitorState.from_data({**data, "of_a_later_version": 1}) == MonitorState(in_vain=2)
