"""What an earlier process had claimed is taken up again: once, and never in a way that holds up the start."""

from __future__ import annotations

import os

import pytest
from executor_in_process import started
from gateway_process import ConfiguredHost

from executor.dispatch import Dispatcher
from executor.protocol.shared_dir import LEFTOVER_LIMIT, SharedDir
from executor.record import requests

pytestmark = pytest.mark.needs("git", "landlock")


def recorded(dispatcher: Dispatcher) -> int:
    with dispatcher.store.reading() as view:
        return len(requests.recent(view, 10_000))


def plant(host: ConfiguredHost, count: int) -> None:
    for number in range(count):
        (host.shared / f".claim.{number:016x}.git_status.flag").write_text(str(number))


def claims_left(host: ConfiguredHost) -> list[str]:
    return [name for name in os.listdir(host.shared) if name.startswith(".claim.")]


def test_prepared_claims_without_number_delay_the_start_by_a_bounded_number_of_them(host: ConfiguredHost) -> None:
    plant(host, 2 * LEFTOVER_LIMIT + 10)

    with started(host) as dispatcher:
        at_start = recorded(dispatcher)
        waited = []
        while dispatcher.take(settle=False):
            waited.append(dispatcher.more_waiting())

        assert at_start == LEFTOVER_LIMIT
        assert waited == [True, False]
        assert recorded(dispatcher) == 2 * LEFTOVER_LIMIT + 10
    assert claims_left(host) == []


def test_prepared_claims_count_against_the_bound_on_open_requests(host: ConfiguredHost) -> None:
    plant(host, 30)

    with started(host, open_requests=20) as dispatcher:
        dispatcher.take(settle=False)
        assert recorded(dispatcher) == 20
        while dispatcher.run_next("shop"):
            pass
        dispatcher.take(settle=False)
        assert recorded(dispatcher) == 30


@pytest.mark.needs("root")
def test_one_flag_stays_one_request_when_its_owner_changes_between_record_and_removal(
    host: ConfiguredHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.shared / "git_status.flag").write_text("")
    with monkeypatch.context() as patched, started(host) as dispatcher:
        patched.setattr(SharedDir, "release", lambda _self, _claim: False)  # the directory is read-only for a moment
        assert dispatcher.take(settle=False) == 1
    [left] = claims_left(host)
    os.chown(host.shared / left, 65534, 65534)  # as `chown -R` at the start of a container does

    with started(host) as dispatcher:
        assert recorded(dispatcher) == 1
    assert claims_left(host) == []
