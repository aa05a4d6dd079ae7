"""When a flag is taken to be finished, and which of several comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from executor.policy.model import Operation
from executor.protocol.names import parse_name
from executor.protocol.sightings import CUT_OFF_GRACE, SETTLE, Sighting, may_still_grow, settled, sweep_order

NOW = 1_764_520_000.0  # s since the epoch


def sighting(name: bytes = b"git_add.flag", *, age: float = 0.0, seen: float = 100.0, mtime_ns: int = 0) -> Sighting:
    flag = parse_name(name)
    assert flag is not None
    changed = int((NOW - age) * 1e9)
    return Sighting(name, flag, 0o100644, 1, 2, 3, mtime_ns or changed, changed, seen)


@pytest.mark.parametrize(("age", "taken"), [(0.0, False), (0.9, False), (SETTLE + 0.001, True), (1e6, True)])
def test_a_flag_is_taken_once_it_lay_unchanged_for_the_settle_time(age: float, taken: bool) -> None:
    assert settled(sighting(age=age), NOW, None) is taken


@pytest.mark.parametrize(("later", "taken"), [(0.5, False), (1.0, True), (60.0, True)])
def test_d10_a_change_time_in_the_future_is_settled_by_seeing_it_twice_unchanged(later: float, taken: bool) -> None:
    first = sighting(age=-3600, seen=100.0)
    second = replace(first, seen=100.0 + later)

    assert settled(first, NOW, None) is False
    assert settled(second, NOW, first) is taken


@pytest.mark.parametrize(
    "change", [{"size": 4}, {"ino": 9}, {"ctime_ns": 1 << 62}, {"mtime_ns": 7}, {"mode": 0o120777}]
)
def test_d10_a_flag_that_changed_between_two_sweeps_is_not_settled(change: dict[str, int]) -> None:
    first = sighting(age=-3600, seen=100.0)
    second = replace(first, seen=160.0, **change)  # type: ignore[arg-type]

    assert settled(second, NOW, first) is False


@pytest.mark.parametrize("mtime_ns", [1, 4_070_908_800 * 10**9], ids=["1970", "2099"])
def test_the_writers_own_time_does_not_decide_whether_a_flag_is_finished(mtime_ns: int) -> None:
    assert settled(sighting(age=2, mtime_ns=mtime_ns), NOW, None)
    assert not settled(sighting(age=0, mtime_ns=mtime_ns), NOW, None)


@pytest.mark.parametrize(
    ("age", "waits"), [(0.0, True), (CUT_OFF_GRACE - 1, True), (CUT_OFF_GRACE, False), (-5, False)]
)
def test_d02_a_request_that_looks_cut_off_is_waited_for_while_it_is_young(age: float, waits: bool) -> None:
    assert may_still_grow(sighting(age=age), NOW) is waits


def test_of_flags_of_one_instant_what_the_others_build_on_comes_first() -> None:
    names = [f"{operation}.flag".encode() for operation in Operation] + [b"a.request.json"]

    ordered = sorted((sighting(name) for name in names), key=sweep_order)

    first = [found.name for found in ordered][:5]
    assert first == [b"git_set_config.flag", b"git_cmd.flag", b"git_add.flag", b"git_commit.flag", b"git_push.flag"]


def test_time_of_writing_goes_before_the_operations_order() -> None:
    push, add = sighting(b"git_push.flag", mtime_ns=5), sighting(b"git_add.flag", mtime_ns=6)

    assert sorted([add, push], key=sweep_order) == [push, add]


def test_an_identity_changes_with_every_change_of_the_file() -> None:
    seen = sighting()

    assert replace(seen, seen=7.0).identity == seen.identity
    assert len({seen.identity, replace(seen, ino=9).identity, replace(seen, ctime_ns=9).identity}) == 3
