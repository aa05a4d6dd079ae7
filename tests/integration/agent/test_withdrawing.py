"""The agent takes back what it asked for: before it begins, as often as people can bear, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from executor_in_process import started
from gateway_process import ConfiguredHost
from repos import work_tree
from served_host import LAST_STATES, ServedHost

from executor.dispatch import Dispatcher
from executor.withdrawals import HOURLY

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


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory", "hard link"])
def test_the_file_is_never_opened_whatever_it_is(alone: ConfiguredHost, executor: Dispatcher, kind: str) -> None:
    secret, name = alone.root / "secret", alone.shared / "odd.withdraw"
    secret.write_text("kept\n")
    {"symlink": lambda: name.symlink_to(secret), "fifo": lambda: os.mkfifo(name), "directory": name.mkdir,
     "hard link": lambda: name.hardlink_to(secret)}[kind]()  # fmt: skip
    (alone.shared / "git_status.odd.flag").touch()
    executor.take(settle=False)

    assert alone.result("odd")["state"] == "withdrawn"
    assert secret.read_text() == "kept\n"
    assert name.is_dir() is (kind == "directory")


def test_a_file_that_cannot_be_removed_does_nothing_twice(alone: ConfiguredHost, executor: Dispatcher) -> None:
    (alone.shared / "stays.withdraw").mkdir()
    (alone.shared / "git_status.stays.flag").touch()
    for _ in range(3):
        executor.take(settle=False)

    told = [event for event in alone.cli("audit", "show", "--json").stdout.splitlines() if '"stays"' in event]
    assert sum('"request.withdrawn"' in event for event in told) == 1


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
