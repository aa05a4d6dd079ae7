"""commands.log: appended while it is ours, made anew when the agent touched it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from executor.errors import Unavailable
from executor.protocol.publication import PublishedLog
from executor.protocol.shared_dir import SharedDir


class Writer:
    """Appends numbered lines to a published log, and remembers them as the original would."""

    def __init__(self, log: PublishedLog) -> None:
        self.log = log
        self.lines: list[str] = []

    def write(self, line: str) -> bool:
        self.lines.append(line)
        return self.log.append([line], lambda: self.lines)


@pytest.fixture
def writer(directory: SharedDir) -> Iterator[Writer]:
    log = PublishedLog(directory.root, limit=1_000)
    yield Writer(log)
    log.close()


def test_lines_are_appended_to_the_same_file(shared: Path, writer: Writer) -> None:
    anew = [writer.write(line) for line in ("one", "two", "three")]
    inode = (shared / "commands.log").stat().st_ino

    assert anew == [True, False, False]
    assert (shared / "commands.log").read_text() == "one\ntwo\nthree\n"
    writer.write("four")
    assert (shared / "commands.log").stat().st_ino == inode
    assert stat.S_IMODE((shared / "commands.log").stat().st_mode) == 0o644


def test_a_line_stays_one_line_and_cannot_drive_a_terminal(shared: Path, writer: Writer) -> None:
    writer.write("Fix\nit \x1b[2J\ud800")

    assert (shared / "commands.log").read_text() == "Fix\\nit \\x1b[2J\\ud800\n"


@pytest.mark.parametrize(
    "kind",
    [
        "link to a secret",
        "hard link to a secret",
        "dangling link",
        "named pipe",
        "socket",
        "empty directory",
        "full directory",
        pytest.param("device", marks=pytest.mark.needs("root")),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["before the first line", "later"])
def test_what_is_put_in_its_place_is_never_written_through(
    first: bool, kind: str, shared: Path, writer: Writer, put_in_the_way: Callable[[str, Path], None]
) -> None:
    if not first:
        writer.write("one")
        (shared / "commands.log").unlink()
    put_in_the_way(kind, shared / "commands.log")

    writer.write("two")

    assert stat.S_ISREG((shared / "commands.log").lstat().st_mode)
    assert (shared / "commands.log").read_text() == "".join(f"{line}\n" for line in writer.lines)


@pytest.mark.parametrize(
    "edit",
    [
        lambda log: os.truncate(log, 2),
        lambda log: log.rename(log.with_name("commands.log.1")),
        lambda log: log.open("a").close() or log.unlink(),
    ],
)
def test_g02_a_log_that_was_cut_moved_away_or_removed_is_made_anew_from_the_original(
    edit: Callable[[Path], None], shared: Path, writer: Writer
) -> None:
    writer.write("one")
    edit(shared / "commands.log")

    assert writer.write("two")
    assert (shared / "commands.log").read_text() == "one\ntwo\n"


def test_lines_that_others_add_are_dropped(shared: Path, writer: Writer) -> None:
    writer.write("one")
    with (shared / "commands.log").open("a") as log:
        log.write("an operator approved everything\n")

    writer.write("two")

    assert (shared / "commands.log").read_text() == "one\ntwo\n"


def test_its_size_is_bounded_and_the_newest_lines_are_kept(shared: Path, writer: Writer) -> None:
    for number in range(500):
        writer.write(f"line {number}")
        assert (shared / "commands.log").stat().st_size <= 1_000

    kept = (shared / "commands.log").read_text().splitlines()
    assert kept == writer.lines[-len(kept) :]
    assert len(kept) > 20


def test_a_line_longer_than_the_whole_log_leaves_it_empty_and_alive(shared: Path, writer: Writer) -> None:
    writer.write("x" * 5_000)
    writer.write("two")

    assert (shared / "commands.log").read_text() == "two\n"


def test_nothing_is_missing_after_the_directory_was_away(shared: Path, writer: Writer) -> None:
    writer.write("one")
    away = shared.rename(shared.with_name("away"))
    with pytest.raises(Unavailable):
        writer.write("two")
    away.rename(shared)

    writer.write("three")

    assert (shared / "commands.log").read_text() == "one\ntwo\nthree\n"


def test_it_begins_anew_in_a_directory_made_anew(shared: Path, writer: Writer) -> None:
    writer.write("one")
    shutil.rmtree(shared)
    shared.mkdir()

    assert writer.write("two")
    assert (shared / "commands.log").read_text() == "one\ntwo\n"


@pytest.mark.needs("root")
def test_d11_nothing_is_missing_after_the_disk_was_full(small_disk: Path) -> None:
    writer = Writer(PublishedLog(SharedDir(small_disk).root, limit=100_000))
    writer.write("one")
    (small_disk / "filler").write_bytes(b"x" * 56 * 1024)
    with pytest.raises(Unavailable) as caught:
        writer.write("x" * 20_000)
    (small_disk / "filler").unlink()

    writer.write("three")

    assert caught.value.code == "disk_full"
    assert (small_disk / "commands.log").read_text().splitlines() == writer.lines
    writer.log.close()
