"""Operations of the host run in a lane of their own: without git, and neither waits for the other."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from pathlib import Path

import app_on_host
import pytest

from executor.dispatch import Dispatcher
from executor.errors import Failed
from executor.host_operations import HOST_LANE, HostOperation
from executor.laravel.config import LaravelConfig, SqlSource
from executor.outcome import Outcome, State
from executor.policy.model import Operation, Policy, QueueParams, Request
from executor.record import approvals, controls, requests
from executor.record.approvals import Verdict
from executor.record.forms import Form
from executor.record.requests import NewRequest, RequestRow

RESTART = Operation.RESTART_QUEUE


def executor(root: Path, policy: Policy | None = None, pause: float = 60.0) -> AbstractContextManager[Dispatcher]:
    """An executor that is set up for the two queues, and for no application."""
    laravel = LaravelConfig(app_on_host.QUEUES, SqlSource("sqlite://"), agent_pause_seconds=pause)
    return app_on_host.executor(root, laravel, policy)


def raised(root: Path, dispatcher: Dispatcher, name: str, body: str = "") -> RequestRow:
    """Raise the flag OP.ID.flag, run what the host's lane holds, and return the request."""
    (root / "shared" / name).write_text(body)
    dispatcher.take(settle=False)
    while dispatcher.run_next(HOST_LANE):
        pass
    return row(dispatcher, name.split(".")[1])


def row(dispatcher: Dispatcher, request_id: str) -> RequestRow:
    with dispatcher.store.reading() as view:
        found = requests.get(view, request_id)
    assert found is not None
    return found


def says_what_it_was_asked(_request_id: str, request: Request) -> Outcome:
    assert isinstance(request.params, QueueParams)
    return Outcome(State.SUCCEEDED, output=f"restarted {request.params.queue or 'all'}", verified={"effect": True})


def test_a_restart_runs_although_no_repository_is_adopted(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        done = raised(tmp_path, dispatcher, "restart_queue.a1.flag", "emails")
    assert (done.state, done.output, done.repo) == (State.SUCCEEDED, "restarted emails", HOST_LANE)
    assert '"effect": true' in (tmp_path / "shared/results/a1.json").read_text()


def test_a_restart_named_with_a_repository_waits_in_the_lane_of_the_host_all_the_same(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        done = raised(tmp_path, dispatcher, "restart_queue@shop.a1.flag")
    assert (done.state, done.output) == (State.SUCCEEDED, "restarted all")


def test_the_agent_gets_no_restart_right_after_another_and_a_yes_of_an_operator_is_above_that(
    tmp_path: Path,
) -> None:
    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        assert raised(tmp_path, dispatcher, "restart_queue.a1.flag").state is State.SUCCEEDED
        for name, body in (("a2", ""), ("a3", "emails")):
            done = raised(tmp_path, dispatcher, f"restart_queue.{name}.flag", body)
            assert (done.state, (done.result or {})["error"]["code"]) == (State.REFUSED, "restarted_lately")
        with dispatcher.store.transaction() as tx:
            new = {"operation": RESTART, "repo": HOST_LANE, "text": "", "generated": True, "state": State.QUEUED}
            requests.insert_one(tx, NewRequest(id="m1", form=Form.MONITOR, identity="monitor:1", argv=("x",), **new))
        assert dispatcher.run_next(HOST_LANE)
        assert row(dispatcher, "m1").state is State.SUCCEEDED
    with executor(tmp_path, Policy(approve=frozenset({RESTART}))) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        assert raised(tmp_path, dispatcher, "restart_queue.a4.flag").state is State.AWAITING_APPROVAL
        _approve(dispatcher, "a4")
        assert dispatcher.run_next(HOST_LANE)
        assert row(dispatcher, "a4").state is State.SUCCEEDED


def test_once_the_pause_is_over_the_agent_gets_its_restart(tmp_path: Path) -> None:
    with executor(tmp_path, pause=0.0) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        assert raised(tmp_path, dispatcher, "restart_queue.a1.flag").state is State.SUCCEEDED
        assert raised(tmp_path, dispatcher, "restart_queue.a2.flag").state is State.SUCCEEDED


def test_a_queue_that_is_not_configured_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        done = raised(tmp_path, dispatcher, "restart_queue.a1.flag", "mail")
    assert (done.state, (done.result or {})["error"]["code"]) == (State.REFUSED, "unknown_queue")
    assert "emails, reports" in (done.result or {})["error"]["hint"]


def test_git_is_answered_while_a_restart_hangs(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang(_request_id: str, _request: Request) -> Outcome:
        begun.set()
        assert go_on.wait(120)
        return Outcome(State.SUCCEEDED)

    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(hang))
        (tmp_path / "shared/restart_queue.a1.flag").touch()
        (tmp_path / "shared/git_status.b1.flag").touch()
        dispatcher.take(settle=False)
        worker = threading.Thread(target=dispatcher.run_next, args=(HOST_LANE,))
        worker.start()
        try:
            assert begun.wait(120)
            while dispatcher.run_next("shop"):
                pass
            assert row(dispatcher, "a1").state is State.RUNNING
            assert row(dispatcher, "b1").state.final
        finally:
            go_on.set()
            worker.join()
        assert row(dispatcher, "a1").state is State.SUCCEEDED


def test_a_restart_that_an_operator_must_agree_to_runs_after_the_yes_and_binds_what_was_shown(tmp_path: Path) -> None:
    command = ["php artisan queue:restart"]
    asks = Policy(approve=frozenset({RESTART}))
    with executor(tmp_path, asks) as dispatcher:
        operation = HostOperation(says_what_it_was_asked, lambda _request: (("runs", command[0]),))
        dispatcher.host_operations.register(RESTART, operation)
        assert raised(tmp_path, dispatcher, "restart_queue.a1.flag").state is State.AWAITING_APPROVAL
        _approve(dispatcher, "a1")
        command[0] = "php artisan horizon:terminate"  # the configuration changed after the yes
        while dispatcher.run_next(HOST_LANE):
            pass
        assert row(dispatcher, "a1").state is State.AWAITING_APPROVAL
        _approve(dispatcher, "a1")
        assert dispatcher.run_next(HOST_LANE)
        assert row(dispatcher, "a1").state is State.SUCCEEDED


def _approve(dispatcher: Dispatcher, request_id: str) -> None:
    with dispatcher.store.transaction() as tx:
        asked = approvals.latest_of(tx, request_id)
        assert asked is not None
        approvals.vote(tx, asked.id, "cli:test", Verdict.APPROVE, "", asked.digest)


@pytest.mark.parametrize(
    ("problem", "state", "code"),
    [
        (Failed("restart_failed", "it did not work"), State.FAILED, "restart_failed"),
        (RuntimeError("a bug"), State.FAILED, "internal_error"),
        (Failed("cancelled", "ended"), State.INTERRUPTED, "cancelled"),
    ],
    ids=["failed", "bug", "stopped"],
)
def test_an_operation_that_does_not_reach_its_end_is_recorded_and_the_lane_goes_on(
    tmp_path: Path, problem: Exception, state: State, code: str
) -> None:
    def fail(_request_id: str, _request: Request) -> Outcome:
        raise problem

    with executor(tmp_path, pause=0.0) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(fail))
        done = raised(tmp_path, dispatcher, "restart_queue.a1.flag")
        assert (done.state, (done.result or {})["error"]["code"]) == (state, code)
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        assert raised(tmp_path, dispatcher, "restart_queue.a2.flag").state is State.SUCCEEDED


def test_a_health_check_needs_no_repository_that_can_be_served(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        done = raised(tmp_path, dispatcher, "health_check.h1.flag")
    assert (done.state, done.repo) == (State.SUCCEEDED, HOST_LANE)
    assert "remote shop" in (done.result or {})["verified"]["bad"]


def test_a_thousand_flags_that_ask_the_same_are_one_restart_that_answers_each(tmp_path: Path) -> None:
    runs: list[str | None] = []

    def count(_request_id: str, request: Request) -> Outcome:
        assert isinstance(request.params, QueueParams)
        runs.append(request.params.queue)
        return Outcome(State.SUCCEEDED)

    with executor(tmp_path, pause=0.0) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(count))
        for number in range(30):
            (tmp_path / f"shared/restart_queue.all-{number}.flag").touch()
        (tmp_path / "shared/restart_queue.mail.flag").write_text("emails")
        dispatcher.take(settle=False)
        while dispatcher.run_next(HOST_LANE):
            pass
        states = {row(dispatcher, f"all-{number}").state for number in range(30)}
        answers = len(list((tmp_path / "shared/results").glob("all-*.json")))
    assert sorted(runs, key=str) == [None, "emails"]
    assert (states, answers) == ({State.SUCCEEDED}, 30)


def test_a_health_check_does_not_wait_behind_restarts_that_came_before_it(tmp_path: Path) -> None:
    order: list[str] = []

    def note(_request_id: str, request: Request) -> Outcome:
        order.append(str(request.operation))
        return Outcome(State.SUCCEEDED)

    with executor(tmp_path) as dispatcher:
        for operation in (RESTART, Operation.HEALTH_CHECK):
            dispatcher.host_operations.register(operation, HostOperation(note))
        for name in ("restart_queue.r1.flag", "restart_queue.r2.flag", "health_check.h1.flag"):
            (tmp_path / "shared" / name).touch()
            dispatcher.take(settle=False)
        while dispatcher.run_next(HOST_LANE):
            pass
    assert order == ["health_check", "restart_queue"]


def test_after_a_crash_a_restart_is_interrupted_and_a_health_check_simply_runs(tmp_path: Path) -> None:
    def die(_request_id: str, _request: Request) -> Outcome:
        raise SystemExit  # nothing catches it, as nothing catches a kill

    with executor(tmp_path) as dispatcher:
        for operation in (RESTART, Operation.HEALTH_CHECK):
            dispatcher.host_operations.register(operation, HostOperation(die))
        for name in ("restart_queue.r1.flag", "health_check.h1.flag"):
            (tmp_path / "shared" / name).touch()
            dispatcher.take(settle=False)
            with pytest.raises(SystemExit):
                dispatcher.run_next(HOST_LANE)
    with executor(tmp_path) as dispatcher:
        ran = HostOperation(lambda _id, _request: Outcome(State.SUCCEEDED))
        dispatcher.host_operations.register(Operation.HEALTH_CHECK, ran)
        while dispatcher.run_next(HOST_LANE):
            pass
        assert row(dispatcher, "r1").state is State.INTERRUPTED
        assert row(dispatcher, "h1").state is State.SUCCEEDED


def test_health_checks_that_come_without_end_do_not_hold_up_a_restart(tmp_path: Path) -> None:
    """Each is asked for while the one before it runs, as by an agent that floods the directory."""
    checks = iter(range(1000))

    def check(_request_id: str, _request: Request) -> Outcome:
        (tmp_path / f"shared/health_check.h{next(checks)}.flag").touch()
        dispatcher.take(settle=False)
        return Outcome(State.SUCCEEDED)

    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(Operation.HEALTH_CHECK, HostOperation(check))
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        (tmp_path / "shared/restart_queue.r1.flag").touch()
        (tmp_path / "shared/health_check.h.flag").touch()
        dispatcher.take(settle=False)
        for _ in range(3):
            assert dispatcher.run_next(HOST_LANE)
        assert row(dispatcher, "h").state is State.SUCCEEDED, "one check goes first all the same"
        assert row(dispatcher, "r1").state is State.SUCCEEDED


def test_restarts_that_came_too_soon_after_another_are_refused_together_and_an_operators_is_not(
    tmp_path: Path,
) -> None:
    with executor(tmp_path) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked))
        assert raised(tmp_path, dispatcher, "restart_queue.a1.flag").state is State.SUCCEEDED
        for number in range(20):
            (tmp_path / f"shared/restart_queue.more-{number}.flag").touch()
        dispatcher.take(settle=False)
        with dispatcher.store.transaction() as tx:
            new = {"operation": RESTART, "repo": HOST_LANE, "text": "", "generated": True, "state": State.QUEUED}
            requests.insert_one(tx, NewRequest(id="m1", form=Form.MONITOR, identity="monitor:1", argv=("x",), **new))
        assert dispatcher.run_next(HOST_LANE)
        assert {row(dispatcher, f"more-{number}").state for number in range(20)} == {State.REFUSED}
        assert dispatcher.run_next(HOST_LANE)
        assert row(dispatcher, "m1").state is State.SUCCEEDED


def test_what_a_freeze_comes_before_is_not_begun_though_all_was_decided(tmp_path: Path) -> None:
    """What a yes depends on is looked up again before it runs; that may take long, and an agent can draw it out."""
    freezes = [False]

    def look(_request: Request) -> tuple[tuple[str, str | None], ...]:
        if freezes[0]:
            with dispatcher.store.transaction() as tx:
                controls.freeze(tx, "an incident", "cli:test")
        return (("runs", "php artisan queue:restart"),)

    with executor(tmp_path, Policy(approve=frozenset({RESTART}))) as dispatcher:
        dispatcher.host_operations.register(RESTART, HostOperation(says_what_it_was_asked, look))
        assert raised(tmp_path, dispatcher, "restart_queue.a1.flag").state is State.AWAITING_APPROVAL
        _approve(dispatcher, "a1")
        freezes[0] = True
        assert dispatcher.run_next(HOST_LANE)
        done = row(dispatcher, "a1")
    assert (done.state, done.started_at, (done.result or {})["error"]["code"]) == (State.REFUSED, None, "frozen")
