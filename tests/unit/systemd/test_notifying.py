"""What systemd is told: over a real datagram socket, in the order that it expects."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.systemd import STATUS_CHARACTERS, Manager

PID = 4711


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    """A manager's end of the socket. It gives up after a minute, so that a test fails and does not hang."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(address)
        end.settimeout(60.0)
        yield end


def heard(end: socket.socket) -> list[str]:
    return end.recv(65_536).decode().split("\n")


def manager(address: str, **environment: str) -> Manager:
    return Manager({"NOTIFY_SOCKET": address, **environment}, PID)


async def attending(told: Manager, end: socket.socket, stuck: list[list[str]], messages: int) -> list[list[str]]:
    """Let it attend to `stuck`, one entry a beat (the last one for good), and return what it says."""
    beats = iter(stuck)
    latest: list[str] = []

    def now() -> list[str]:
        nonlocal latest
        latest = next(beats, latest)
        return latest

    task = asyncio.create_task(told.attend(lambda: f"stuck: {latest}", now))
    try:
        return [await asyncio.to_thread(heard, end) for _ in range(messages)]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_e02_ready_then_signs_of_life_then_stopping_reach_sockets_of_both_kinds(kind: str, tmp_path: Path) -> None:
    name = f"ops-gateway-test-{os.getpid()}"
    address, bound = (str(tmp_path / "s"),) * 2 if kind == "path" else (f"@{name}", f"\0{name}")
    with listening(bound) as end:
        told = manager(address, WATCHDOG_USEC="20000", WATCHDOG_PID=str(PID))
        told.ready("serving shop")
        assert heard(end) == ["READY=1", "STATUS=serving shop"]
        assert asyncio.run(attending(told, end, [[]], 3)) == [["WATCHDOG=1"], ["STATUS=stuck: []"], ["WATCHDOG=1"]]
        told.stopping(115.0)
        while (last := heard(end)) == ["WATCHDOG=1"]:
            pass
        assert last[0] == "STOPPING=1"
        assert last[2] == "EXTEND_TIMEOUT_USEC=115000000"


def test_e01_what_is_stuck_is_said_and_feeds_no_watchdog_until_it_gets_on_again(tmp_path: Path) -> None:
    with listening(str(tmp_path / "s")) as end:
        told = manager(str(tmp_path / "s"), WATCHDOG_USEC="20000")
        assert asyncio.run(attending(told, end, [[], ["job sweep"], ["job sweep"], []], 5)) == [
            ["WATCHDOG=1"],
            ["STATUS=stuck: []"],
            ["STATUS=stuck: ['job sweep']"],
            ["WATCHDOG=1"],
            ["STATUS=stuck: []"],
        ]


def test_a_status_that_cannot_be_told_keeps_no_sign_of_life_from_being_given(tmp_path: Path) -> None:
    def broken() -> str:
        raise RuntimeError("a bug")

    async def scenario(end: socket.socket) -> list[list[str]]:
        told = manager(str(tmp_path / "s"), WATCHDOG_USEC="20000")
        task = asyncio.create_task(told.attend(broken, list))
        try:
            return [await asyncio.to_thread(heard, end) for _ in range(2)]
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    with listening(str(tmp_path / "s")) as end:
        assert asyncio.run(scenario(end)) == [["WATCHDOG=1"], ["WATCHDOG=1"]]


@pytest.mark.parametrize(
    "environment", [{}, {"WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}]
)
def test_a_watchdog_that_is_not_wanted_of_this_process_is_not_fed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with listening(str(tmp_path / "s")) as end:
        told = manager(str(tmp_path / "s"), **environment)
        assert asyncio.run(attending(told, end, [[]], 1)) == [["STATUS=stuck: []"]]


@pytest.mark.parametrize("address", ["", "relative/path", "/nonexistent/socket", "@nobody-listens-here"])
def test_nobody_who_listens_is_no_error(address: str) -> None:
    told = manager(address, WATCHDOG_USEC="20000")
    told.ready("serving")
    told.stopping(1.0)

    async def attend() -> None:
        task = asyncio.create_task(told.attend(lambda: "serving", list))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(attend())


@given(st.text())
def test_a_status_is_one_line_of_bounded_length_whatever_is_in_it(text: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind("")  # the kernel chooses an abstract name
        end.settimeout(60.0)
        manager("@" + end.getsockname()[1:].decode()).ready(text)
        said = heard(end)
    assert len(said) == 2
    assert len(said[1].removeprefix("STATUS=")) <= STATUS_CHARACTERS
