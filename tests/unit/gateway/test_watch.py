"""The watcher, on a real directory: what it tells, what it leaves to others, and how it comes back."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from asyncinotify import Event, Inotify, Mask
from waiting import until

from gateway.schedule import watch, word
from gateway.schedule.watch import Watcher


@dataclass
class Heard:
    names: list[bytes] = field(default_factory=list)
    woken: int = 0
    missed: int = 0

    def wakes(self) -> None:
        self.woken += 1

    def misses(self) -> None:
        self.missed += 1


@asynccontextmanager
async def watching(shared: Path, state: Path) -> AsyncIterator[tuple[Watcher, Heard]]:
    heard = Heard()
    watcher = Watcher(shared, state, arrived=heard.names.append, word_came=heard.wakes, missed=heard.misses)
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher, heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(watch, "LOST_RETRY_SECONDS", 0.02)
    for name in ("shared", "state"):
        (tmp_path / name).mkdir()
    return tmp_path / "shared", tmp_path / "state"


def test_d02_a_flag_is_told_of_when_it_was_closed_or_renamed_there_and_other_names_never(
    places: tuple[Path, Path],
) -> None:
    async def scenario() -> None:
        shared, state = places
        async with watching(shared, state) as (watcher, heard):
            await until(lambda: not watcher.problem)
            with (shared / "git_commit.flag").open("w") as unfinished:
                unfinished.write("first line\n")
                unfinished.flush()
                (shared / "junk.txt").write_text("no flag")
                (shared / "git_push.flag.tmp").write_text("main")
                (shared / "git_push.flag.tmp").rename(shared / "git_push.flag")
                await until(lambda: heard.names == [b"git_push.flag"])
            await until(lambda: heard.names == [b"git_push.flag", b"git_commit.flag"])

    asyncio.run(scenario())


def test_what_was_there_before_the_watch_is_asked_for(places: tuple[Path, Path]) -> None:
    async def scenario() -> None:
        async with watching(*places) as (watcher, heard):
            await until(lambda: not watcher.problem)
            assert heard.missed == 1

    asyncio.run(scenario())


@pytest.mark.parametrize("held_open", [False, True], ids=["closed", "held open by the gateway"])
def test_d03_a_directory_that_was_removed_and_made_again_is_watched_again(
    held_open: bool, places: tuple[Path, Path]
) -> None:
    async def scenario() -> None:
        shared, state = places
        descriptor = os.open(shared, os.O_RDONLY) if held_open else None
        async with watching(shared, state) as (watcher, heard):
            await until(lambda: not watcher.problem)
            shutil.rmtree(shared)
            await until(lambda: watcher.problem)
            shared.mkdir()
            await until(lambda: not watcher.problem)
            assert heard.missed == 2
            (shared / "git_status.flag").touch()
            await until(lambda: heard.names == [b"git_status.flag"])
        if descriptor is not None:
            os.close(descriptor)

    asyncio.run(scenario())


def test_a_directory_that_another_one_took_the_place_of_is_left_for_it(places: tuple[Path, Path]) -> None:
    async def scenario() -> None:
        shared, state = places
        async with watching(shared, state) as (watcher, heard):
            await until(lambda: not watcher.problem)
            (shared.parent / "other").mkdir()
            shared.rename(shared.parent / "old")
            (shared.parent / "other").rename(shared)
            await until(lambda: heard.missed == 2)
            (shared.parent / "old" / "git_add.flag").touch()
            (shared / "git_status.flag").touch()
            await until(lambda: heard.names)
            assert heard.names == [b"git_status.flag"]

    asyncio.run(scenario())


def test_d03_events_that_the_kernel_dropped_mean_to_look_at_everything(places: tuple[Path, Path]) -> None:
    async def scenario() -> None:
        async with watching(*places) as (watcher, heard):
            await until(lambda: not watcher.problem)
            watcher._handle(Event(watch=None, mask=Mask.Q_OVERFLOW, cookie=0, name=None))
            assert heard.missed == 2

    asyncio.run(scenario())


def test_a_decision_on_the_command_line_is_heard(places: tuple[Path, Path]) -> None:
    async def scenario() -> None:
        shared, state = places
        async with watching(shared, state) as (watcher, heard):
            await until(lambda: not watcher.problem)
            (state / "gateway.db").write_text("not a wake")
            word.send(state, "fix-1")
            await until(lambda: heard.woken == 1)
            word.send(state, "fix-1")
            await until(lambda: heard.woken == 2)

    asyncio.run(scenario())


def test_d01_without_inotify_the_watcher_says_so_and_begins_when_there_is_one(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = watch.Inotify, 0

    def scarce(**options: int) -> Inotify:
        nonlocal refused
        if refused < 2:
            refused += 1
            raise OSError(24, "Too many open files")
        return real(**options)

    monkeypatch.setattr(watch, "Inotify", scarce)
    monkeypatch.setattr(watch, "NONE_RETRY_SECONDS", 0.01)

    async def scenario() -> None:
        async with watching(*places) as (watcher, heard):
            await until(lambda: watcher.problem == "inotify is not available (Too many open files)")
            await until(lambda: not watcher.problem)
            assert heard.missed == 1  # what arrived meanwhile

    asyncio.run(scenario())


@pytest.mark.parametrize("passes", range(5))
def test_being_told_to_end_is_heard_also_in_the_moment_in_which_word_comes(
    places: tuple[Path, Path], passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LOST_RETRY_SECONDS", 60.0)

    async def scenario() -> None:
        shared, state = places
        shared.rmdir()
        heard = Heard()
        watcher = Watcher(shared, state, arrived=heard.names.append, word_came=heard.wakes, missed=heard.misses)
        task = asyncio.create_task(watcher.run())
        await until(lambda: "cannot be watched" in watcher.problem)
        word.send(state, "fix-1")
        for _ in range(passes):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await until(task.done)
        finally:
            task.cancel()

    asyncio.run(scenario())
