"""Requests are recorded once, move along the arrows one at a time, and every move is an event."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record import requests
from executor.record.audit import events_of, last_events, verify
from executor.record.forms import Form
from executor.record.lifecycle import IllegalArrow
from executor.record.requests import Arrival, NewRequest
from executor.record.store import Store
from executor.record.transitions import recover_after_crash, transition
from executor.record.withdrawal import withdraw

New = Callable[..., NewRequest]


def test_a_request_is_read_back_as_it_was_given(store: Store, new: New) -> None:
    given = new(
        "a",
        operation=Operation.GIT_CMD,
        form=Form.TYPED,
        text='{"operation":"git_cmd"}\n é',
        reason="wéil\u202e",
        dry_run=True,
        generated=True,
        risk=RiskClass.REWRITE,
        argv=("git", "branch", "-D", "ü"),
        decision={"reasons": ["x"], "n": 1},
        binding={"HEAD": "abc"},
        digest="d" * 64,
        expires_at="2026-02-01T00:00:00.000000Z",
    )
    with store.transaction() as tx:
        inserted = requests.insert_one(tx, given)
    with store.reading() as tx:
        row = requests.get(tx, "a")

    assert row == inserted.row
    assert inserted.arrival is Arrival.NEW
    assert row is not None
    assert (row.argv, row.reason, row.binding, row.received_at) == (
        given.argv,
        given.reason,
        given.binding,
        "2026-01-31T12:00:00.000000Z",
    )


def test_the_same_flag_is_recorded_once_however_often_it_is_found(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
    with store.transaction() as tx:
        transition(tx, "a", State.QUEUED, State.RUNNING)
    with store.transaction() as tx:
        again = requests.insert_one(tx, new("generated-anew", identity="1:2:3:4:a"))

    assert (again.arrival, again.row.id, again.row.state) == (Arrival.SEEN, "a", State.RUNNING)
    with store.reading() as tx:
        assert [row.id for row in requests.recent(tx, 10)] == ["a"]


def test_a_repeated_id_is_the_same_request_only_with_the_same_content(store: Store, new: New) -> None:
    with store.transaction() as tx:
        first, repeat, conflict, fresh = requests.insert_many(
            tx,
            [
                new("a", text="x"),
                new("a", text="x", identity="2"),
                new("a", text="y", identity="3"),
                new("b", identity="4"),
            ],
        )

    assert [i.arrival for i in (first, repeat, conflict, fresh)] == [
        Arrival.NEW,
        Arrival.REPEAT,
        Arrival.CONFLICT,
        Arrival.NEW,
    ]
    assert repeat.row == first.row
    with store.reading() as tx:
        assert [event.kind for event in events_of(tx, "a")] == ["request.queued", "request.id_conflict"]


def test_content_is_the_operation_the_repository_and_the_form_too(new: New) -> None:
    variants = [
        new("a"),
        new("a", operation=Operation.GIT_CHECK),
        new("a", repo="x"),
        new("a", form=Form.TYPED),
        new("a", text=" "),
    ]

    assert len({variant.content_hash for variant in variants}) == len(variants)


def test_requests_run_in_order_of_arrival_and_each_repository_has_its_own_line(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_many(
            tx, [new("z"), new("m", repo="other"), new("a"), new("k", state=State.AWAITING_APPROVAL)]
        )
        requests.insert_one(tx, new("b"))
    order = []
    with store.transaction() as tx:
        while rows := requests.next_due(tx, "main"):
            (row,) = rows
            transition(tx, row.id, State.QUEUED, State.RUNNING)
            order.append(row.id)

    assert order == ["z", "a", "b"]
    with store.reading() as tx:
        assert [row.id for row in requests.open_requests(tx)] == ["z", "m", "a", "k", "b"]
        latest = requests.latest_by_operation(tx, "main", Operation.GIT_STATUS)
        assert latest is not None
        assert latest.id == "b"
        assert requests.latest_by_operation(tx, "main", Operation.GIT_PUSH) is None


def test_many_requests_with_many_known_among_them_are_told_apart(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_many(tx, [new(f"r{n}") for n in range(0, 1500, 3)])
    with store.transaction() as tx:
        arrivals = [i.arrival for i in requests.insert_many(tx, [new(f"r{n}") for n in range(1500)])]

    assert arrivals == [Arrival.SEEN if n % 3 == 0 else Arrival.NEW for n in range(1500)]


def test_a_move_happens_only_from_an_expected_state_and_tells_of_itself(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
    with store.transaction() as tx:
        assert not transition(tx, "a", State.RUNNING, State.SUCCEEDED)
        assert not transition(tx, "nobody", State.QUEUED, State.RUNNING)
        assert transition(tx, "a", frozenset({State.QUEUED}), State.RUNNING)
        assert transition(tx, "a", State.RUNNING, State.FAILED, {"why": "z"}, result={"exit_code": 1}, output="o")
    with store.reading() as tx:
        row = requests.get(tx, "a")
        told = [(event.kind, dict(event.data)) for event in events_of(tx, "a")][1:]
        last = last_events(tx, 1)[0]

    assert told == [("request.running", {}), ("request.failed", {"why": "z"})]
    assert row is not None
    assert (row.state, row.result, row.output, row.event_seq) == (State.FAILED, {"exit_code": 1}, "o", last.seq)
    assert row.started_at
    assert row.finished_at


def test_an_arrow_that_no_request_may_go_is_a_bug_and_changes_nothing(store: Store, new: New) -> None:
    with pytest.raises(IllegalArrow), store.transaction() as tx:
        requests.insert_one(tx, new("a"))
        transition(tx, "a", frozenset({State.QUEUED, State.RUNNING}), State.SUCCEEDED)
    with store.reading() as tx:
        assert requests.get(tx, "a") is None


def test_a_request_does_not_begin_as_running(store: Store, new: New) -> None:
    with pytest.raises(IllegalArrow), store.transaction() as tx:
        requests.insert_one(tx, new("a", state=State.RUNNING))


def test_c21_results_are_masked_as_they_are_written_but_what_will_run_is_not(store: Store, new: New) -> None:
    argv = ("git", "fetch", "https://u:pass@h/x")
    with store.transaction() as tx:
        requests.insert_one(tx, new("a", argv=argv, reason="token=abcdef"))
        transition(tx, "a", State.QUEUED, State.RUNNING)
        told = {"error": {"message": "https://u:pass@h/x"}}
        transition(tx, "a", State.RUNNING, State.FAILED, data=told, result=told, output="\ud800\0 https://u:pass@h/x")
    with store.reading() as tx:
        row = requests.get(tx, "a")
        events = json.dumps([dict(event.data) for event in events_of(tx, "a")])

    assert row is not None
    assert (row.argv, row.reason) == (argv, "token=abcdef")
    assert "pass@" not in json.dumps(row.result) + str(row.output) + events
    assert "abcdef" not in events
    assert row.output == "\ufffd\ufffd https://***@h/x"


def test_after_a_crash_what_ran_is_interrupted_and_what_only_reads_runs_again(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_many(tx, [new("read"), new("write", operation=Operation.GIT_ADD), new("waits")])
        requests.insert_one(tx, new("asks", state=State.AWAITING_APPROVAL))
        transition(tx, "read", State.QUEUED, State.RUNNING)
        transition(tx, "write", State.QUEUED, State.RUNNING)
    with store.transaction() as tx:
        recovery = recover_after_crash(tx, lambda row: row.operation is Operation.GIT_STATUS)

    assert [[row.id for row in rows] for rows in (recovery.interrupted, recovery.requeued)] == [["write"], ["read"]]
    with store.reading() as tx:
        states = {row.id: row.state for row in requests.recent(tx, 10)}
        (first,) = requests.next_due(tx, "main")
    assert states == {
        "read": State.QUEUED,
        "write": State.INTERRUPTED,
        "waits": State.QUEUED,
        "asks": State.AWAITING_APPROVAL,
    }
    assert first is not None
    assert first.id == "read"


def test_threads_that_take_requests_at_once_take_each_one_once(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_many(tx, [new(f"r{n}") for n in range(120)])
    taken: list[str] = []

    def take() -> None:
        while True:
            with store.reading() as view:
                rows = requests.next_due(view, "main")
            if not rows:
                return
            with store.transaction() as tx:
                won = transition(tx, rows[0].id, State.QUEUED, State.RUNNING)
            if won:
                taken.append(rows[0].id)

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(taken) == sorted(f"r{n}" for n in range(120))
    assert verify(store).ok


_TAKER = """
import sys
from executor.outcome import State
from executor.record.requests import next_due
from executor.record.store import Store
from executor.record.transitions import transition
store = Store.open(sys.argv[1], host="kitchen", key=b"k" * 32)
while True:
    with store.reading() as view:
        rows = next_due(view, "main")
    if not rows:
        break
    with store.transaction() as tx:
        won = transition(tx, rows[0].id, State.QUEUED, State.RUNNING)
    if won:
        print(rows[0].id)
"""


def test_processes_that_take_requests_at_once_take_each_one_once(store: Store, new: New, database: Path) -> None:
    with store.transaction() as tx:
        requests.insert_many(tx, [new(f"r{n}") for n in range(150)])
    command = [sys.executable, "-c", _TAKER, f"sqlite:///{database}"]
    takers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    taken = [line for taker in takers for line in taker.communicate(timeout=120)[0].split()]

    assert [taker.returncode for taker in takers] == [0, 0]
    assert sorted(taken) == sorted(f"r{n}" for n in range(150))
    assert verify(store).ok


@pytest.mark.parametrize("state", [State.RECEIVED, State.QUEUED])
def test_a_request_that_has_not_begun_can_be_taken_back_once_and_the_agent_is_told_why(
    store: Store, new: New, state: State
) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a", state=state))
    with store.transaction() as tx:
        assert withdraw(tx, "a", "cli:ann", "not today")
        assert not withdraw(tx, "a", "cli:ann", "not today")
    with store.reading() as tx:
        row = requests.get(tx, "a")
        last = events_of(tx, "a")[-1]

    assert row is not None
    assert row.state is State.WITHDRAWN
    assert row.result is not None
    assert row.result["error"]["code"] == "withdrawn"
    assert "not today" in row.result["error"]["message"]
    assert (last.kind, dict(last.data)) == ("request.withdrawn", {"by": "cli:ann", "reason": "not today"})


def test_a_request_that_runs_cannot_be_taken_back(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
        transition(tx, "a", State.QUEUED, State.RUNNING)

        assert not withdraw(tx, "a", "cli:ann", "")
