"""The agent takes back what it asked for: before it begins, as often as people can bear, and nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from executor_in_process import started
from gateway_process import ConfiguredHost
from repos import work_tree
from served_host import LAST_STATES, ServedHost

from executor.dispatch import Dispatcher
from executor.host_operations import HOST_LANE
from executor.outcome import State
from executor.policy.model import Operation, RiskClass, Run
from executor.record import requests
from executor.record.store import Transaction
from executor.withdrawals import HOURLY
from gateway.schedule.queue_requests import raise_restart
from gateway.telegram.operator_acts import ask_for

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture
def alone(tmp_path: Path) -> ConfiguredHost:
    """A host with an adopted repository that no gateway serves."""
    return ConfiguredHost(tmp_path, work_tree(tmp_path / "shop")).adopted()


@pytest.fixture
def executor(alone: ConfiguredHost) -> Iterator[Dispatcher]:
    with started(alone) as dispatcher:
        yield dispatcher


def test_what_awaits_an_operator_is_taken_back_at_once_and_can_no_longer_be_approved(host: ServedHost) -> None:
    host.asked("regret", "git tag v-regret")
    host.shell("touch regret.withdraw")

    ended = host.in_state("regret", *LAST_STATES)
    assert (ended["state"], ended["error"]["code"]) == ("withdrawn", "withdrawn")
    host.taken("regret.withdraw")
    late = host.cli("approve", "regret")
    assert late.returncode == 1
    assert "v-regret" not in host.git("tag").split()
    [event] = [event for event in host.events("regret") if event["kind"] == "approval.withdrawn"]
    assert event["data"]["by"] == ["agent"]


def test_what_has_ended_is_not_changed_and_the_file_is_removed(host: ServedHost) -> None:
    before = host.ask("git_status.over.flag")
    host.shell("touch over.withdraw")

    host.taken("over.withdraw")
    assert host.result("over") == before


def test_an_id_that_nobody_knows_is_passed_over(host: ServedHost) -> None:
    host.shell("echo please > nobody.withdraw")

    host.taken("nobody.withdraw")
    assert host.result("nobody") == {}


def test_a_request_can_be_taken_back_in_the_same_moment_in_which_it_is_raised(
    alone: ConfiguredHost, executor: Dispatcher
) -> None:
    (alone.shared / "git_status.quick.flag").touch()
    (alone.shared / "quick.withdraw").touch()
    executor.take(settle=False)

    assert alone.result("quick")["state"] == "withdrawn"
    assert not executor.run_next("shop")


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory", "full directory", "hard link"])
def test_the_file_is_never_opened_whatever_it_is(alone: ConfiguredHost, executor: Dispatcher, kind: str) -> None:
    secret, name = alone.root / "secret", alone.shared / "odd.withdraw"
    secret.write_text("kept\n")
    {"symlink": lambda: name.symlink_to(secret), "fifo": lambda: os.mkfifo(name), "directory": name.mkdir,
     "full directory": lambda: (name / "within").mkdir(parents=True),
     "hard link": lambda: name.hardlink_to(secret)}[kind]()  # fmt: skip
    (alone.shared / "git_status.odd.flag").touch()
    executor.take(settle=False)

    assert alone.result("odd")["state"] == "withdrawn"
    assert secret.read_text() == "kept\n"
    assert not os.path.lexists(name)


def test_what_is_said_again_and_again_is_told_once(alone: ConfiguredHost, executor: Dispatcher) -> None:
    (alone.shared / "git_status.stays.flag").touch()
    for _ in range(3):
        (alone.shared / "stays.withdraw").touch()
        executor.take(settle=False)

    told = [event for event in alone.cli("audit", "show", "--json").stdout.splitlines() if '"stays"' in event]
    assert sum('"request.withdrawn"' in event for event in told) == 1


def test_a_file_waits_for_its_request_while_that_lies_there_untaken(
    alone: ConfiguredHost, executor: Dispatcher
) -> None:
    """A sweep leaves a flag that may still be written, but not the file that takes it back."""
    flag = alone.shared / "git_status.young.flag"
    flag.touch()
    os.utime(flag, (time.time() + 3600, time.time() + 3600))
    (alone.shared / "young.withdraw").touch()
    executor.take()
    assert flag.exists()
    assert (alone.shared / "young.withdraw").exists()

    executor.take([flag.name.encode()])
    assert alone.result("young")["state"] == "withdrawn"
    assert not (alone.shared / "young.withdraw").exists()
    assert not executor.run_next("shop")


def by_an_operator(executor: Dispatcher) -> str:
    return ask_for(executor, Operation.GIT_STATUS, "", "telegram:1", "message 7")


def by_the_monitor(executor: Dispatcher) -> str:
    with executor.store.transaction() as tx:
        decision = Run(RiskClass.CHANGE, ("restart_queue", "mail"))
        return raise_restart(tx, ["mail"], decision, HOST_LANE, datetime.now(UTC))


@pytest.mark.parametrize("asked_for", [by_an_operator, by_the_monitor])
def test_what_others_asked_for_is_not_the_agents_to_take_back(
    alone: ConfiguredHost, executor: Dispatcher, asked_for: Callable[[Dispatcher], str]
) -> None:
    theirs = asked_for(executor)
    file = alone.shared / f"{theirs}.withdraw"
    file.touch()
    executor.take()

    with executor.store.reading() as view:
        row = requests.get(view, theirs)
    assert row is not None
    assert row.state is State.QUEUED
    assert not file.exists()


def test_questions_that_come_and_go_stop_after_so_many_an_hour_and_the_rest_waits(
    alone: ConfiguredHost, executor: Dispatcher
) -> None:
    for number in range(HOURLY + 2):
        (alone.shared / f"git_status.n{number}.flag").touch()
        (alone.shared / f"n{number}.withdraw").touch()
    executor.take(settle=False)

    states = [alone.result(f"n{number}").get("state") for number in range(HOURLY + 2)]
    assert states.count("withdrawn") == HOURLY
    assert len(list(alone.shared.glob("*.withdraw"))) == 2


def test_files_beyond_that_number_do_not_keep_others_from_being_removed(
    alone: ConfiguredHost, executor: Dispatcher
) -> None:
    for number in range(HOURLY + 2):
        (alone.shared / f"git_status.n{number}.flag").touch()
        (alone.shared / f"n{number}.withdraw").touch()
        (alone.shared / f"nobody{number}.withdraw").touch()
    executor.take(settle=False)

    assert [path.name for path in alone.shared.glob("nobody*.withdraw")] == []


def test_a_flood_of_files_for_nothing_costs_no_transaction_each(
    alone: ConfiguredHost, executor: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(500):
        (alone.shared / f"nobody{number}.withdraw").touch()
    begun: list[None] = []
    transaction = executor.store.transaction

    def counted() -> AbstractContextManager[Transaction]:
        begun.append(None)
        return transaction()

    monkeypatch.setattr(executor.store, "transaction", counted)
    executor.take(settle=False)

    assert list(alone.shared.glob("*.withdraw")) == []
    assert len(begun) < 5
