"""What a sweep of the shared directory finds, in which order, and through which directory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hostile_files import SECRET

from executor.errors import Unavailable
from executor.protocol import shared_dir
from executor.protocol.shared_dir import SharedDir


def names(directory: SharedDir) -> list[bytes]:
    return [sighting.name for sighting in directory.scan()]


def test_only_exact_names_are_flags(shared: Path, directory: SharedDir) -> None:
    for name in (
        "git_cmd.flag\n",
        "git_сmd.flag",
        "git_cmd.flag~",
        "\x1b[2Jgit_cmd.flag",
        "git_cmd.flag.tmp",
        "x.flag",
    ):
        (shared / name).write_text("git push --force origin main")
    (Path(os.fsdecode(os.fsencode(shared) + b"/git_cmd.\xff.flag"))).touch()
    (shared / "git_cmd.flag").write_text("git status")

    assert names(directory) == [b"git_cmd.flag"]


def test_flags_come_in_order_of_writing_then_by_operation(shared: Path, directory: SharedDir) -> None:
    order = ["git_status.old.flag", "git_set_config.flag", "git_cmd.flag", "git_add.flag", "git_commit.flag"]
    order += ["git_push.flag", "git_status.flag", "7.request.json"]
    for name in reversed(order):
        (shared / name).touch()
        os.utime(shared / name, (2_000_000_000, 2_000_000_000))
    os.utime(shared / order[0], (10, 10))

    assert names(directory) == [name.encode() for name in order]


@pytest.mark.parametrize("when", [0, 4_070_908_800], ids=["1970", "2099"])
def test_a_strange_mtime_hides_no_flag(when: int, shared: Path, directory: SharedDir) -> None:
    (shared / "git_status.flag").touch()
    os.utime(shared / "git_status.flag", (when, when))

    assert names(directory) == [b"git_status.flag"]


def test_one_flag_is_found_among_a_hundred_thousand_other_files(shared: Path, directory: SharedDir) -> None:
    for number in range(100_000):  # links, because files take their time to make; a directory lists both alike
        if number % 50_000 == 0:
            seed = shared / f"seed-{number}"
            seed.touch()
        os.link(seed, shared / f"{number}.flag")
    (shared / "git_cmd.flag").write_text("git log --oneline -5")

    assert names(directory) == [b"git_cmd.flag"]


def test_d03_a_flood_is_taken_in_bounded_portions_oldest_first(
    shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_dir, "SCAN_LIMIT", 3)
    for number in range(7):
        (shared / f"git_add.{number}.flag").touch()
        os.utime(shared / f"git_add.{number}.flag", (number, number))

    served = []
    while portion := directory.scan():
        assert len(portion) <= 3
        for sighting in portion:
            claim = directory.claim(sighting.name)
            assert claim is not None
            directory.release(claim)
            served.append(sighting.flag.request_id)

    assert served == list("0123456")


def test_a_sighting_tells_the_repository_and_id_of_its_name(shared: Path, directory: SharedDir) -> None:
    (shared / "git_push@web.42.flag").touch()

    [sighting] = directory.scan()

    assert (sighting.flag.repo, sighting.flag.request_id) == ("web", "42")


def test_a_directory_deleted_and_made_anew_serves_again(shared: Path, directory: SharedDir) -> None:
    directory.publish("git_status.txt", "before")
    shutil.rmtree(shared)

    for attempt in (directory.scan, directory.leftovers, lambda: directory.claim(b"git_add.flag")):
        with pytest.raises(Unavailable) as caught:
            attempt()
        assert caught.value.code == "shared_dir_missing"
    with pytest.raises(Unavailable):
        directory.publish("results/1.json", "{}")

    shared.mkdir()
    (shared / "git_add.flag").write_text(".")
    assert names(directory) == [b"git_add.flag"]
    directory.publish("results/1.json", "{}")
    assert (shared / "results" / "1.json").read_text() == "{}"


def test_a_directory_moved_away_is_not_served_any_more(shared: Path, directory: SharedDir) -> None:
    assert directory.scan() == []
    moved = shared.rename(shared.with_name("moved"))
    shared.mkdir()
    (moved / "git_add.flag").touch()
    (shared / "git_push.flag").touch()

    assert names(directory) == [b"git_push.flag"]


def test_a_link_in_place_of_the_directory_is_not_followed(shared: Path, directory: SharedDir, tmp_path: Path) -> None:
    elsewhere = tmp_path / "host"
    elsewhere.mkdir()
    (elsewhere / "git_add.flag").write_bytes(SECRET)
    assert directory.scan() == []
    shared.rmdir()
    shared.symlink_to(elsewhere)

    with pytest.raises(Unavailable):
        directory.claim(b"git_add.flag")
    with pytest.raises(Unavailable):
        directory.publish("git_status.txt", "text")

    assert [entry.name for entry in elsewhere.iterdir()] == ["git_add.flag"]


def test_a_file_in_place_of_the_directory_is_said_and_survived(shared: Path, directory: SharedDir) -> None:
    shared.rmdir()
    shared.write_text("not a directory")

    with pytest.raises(Unavailable, match="no directory"):
        directory.scan()


def test_the_operators_own_link_in_the_configured_path_is_followed(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "configured").symlink_to(shared)
    (shared / "git_add.flag").touch()

    assert names(SharedDir(tmp_path / "configured")) == [b"git_add.flag"]


def test_a_directory_that_is_not_there_at_start_is_served_once_it_is(tmp_path: Path) -> None:
    directory = SharedDir(tmp_path / "later")
    with pytest.raises(Unavailable):
        directory.scan()

    (tmp_path / "later").mkdir()

    assert directory.scan() == []


def test_descriptors_of_replaced_directories_are_closed(shared: Path, directory: SharedDir) -> None:
    directory.publish("results/1.json", "{}")
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(20):
        shutil.rmtree(shared)
        shared.mkdir()
        directory.scan()
        directory.publish("results/1.json", "{}")

    assert len(os.listdir("/proc/self/fd")) == before
