"""Publishing where an agent may have put anything under the name that is published to."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hostile_files import as_user

from executor.errors import Unavailable
from executor.protocol import outbox
from executor.protocol.shared_dir import SharedDir

NOBODY = 65534
AGENT = 12345
A_DAY = 24 * 3600

OBSTACLES = [
    "link to a secret",
    "link to an endless device",
    "dangling link",
    "link to itself",
    "link to a directory",
    "hard link to a secret",
    "named pipe",
    "socket",
    "empty directory",
    "full directory",
    pytest.param("device", marks=pytest.mark.needs("root")),
]


def visible(shared: Path) -> list[str]:
    return sorted(path.name for path in shared.iterdir())


def test_what_is_published_is_readable_by_everybody_whatever_the_umask(shared: Path, directory: SharedDir) -> None:
    before = os.umask(0o077)
    try:
        directory.publish("results/7.json", "{}")
        directory.publish("git_status.txt", "clean\n")
    finally:
        os.umask(before)

    assert stat.S_IMODE((shared / "results").stat().st_mode) == 0o755
    for name in ("results/7.json", "git_status.txt"):
        assert stat.S_IMODE((shared / name).stat().st_mode) == 0o644


def test_publishing_again_replaces_the_file_and_leaves_nothing_else(shared: Path, directory: SharedDir) -> None:
    for text in ("one", "two"):
        directory.publish("gateway.json", text)
        directory.publish("results/7.json", text, also="results/git_add.json")

    assert (shared / "gateway.json").read_text() == "two"
    assert (shared / "results" / "7.json").read_text() == "two"
    assert visible(shared) == ["gateway.json", "results"]
    assert visible(shared / "results") == ["7.json", "git_add.json"]


def test_a_reader_sees_the_old_text_or_the_new_one(shared: Path, directory: SharedDir) -> None:
    directory.publish("results/7.json", "old")

    with (shared / "results" / "7.json").open() as reader:
        directory.publish("results/7.json", "newer")

        assert reader.read() == "old"


def test_the_latest_result_stays_when_the_request_it_came_from_changes(shared: Path, directory: SharedDir) -> None:
    directory.publish("results/7.json", "seven", also="results/git_add.json")
    directory.publish("results/8.json", "eight", also="results/git_add.json")
    directory.publish("results/7.json", "seven, changed")

    assert (shared / "results" / "git_add.json").read_text() == "eight"
    assert (shared / "results" / "8.json").read_text() == "eight"


def test_a_second_name_is_a_file_of_its_own_where_no_links_are_made(
    shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)

    directory.publish("results/7.json", "{}", also="results/git_add.json")

    assert (shared / "results" / "git_add.json").read_text() == "{}"


@pytest.mark.parametrize(
    "name", ["../x", "results/../../x.json", "git_push.flag", "commands.log", "results/a/b.json"]
)
def test_nothing_is_published_under_a_name_that_is_not_ours(name: str, shared: Path, directory: SharedDir) -> None:
    with pytest.raises(ValueError, match="not names for publishing"):
        directory.publish(name, "text")

    assert visible(shared) == []


def test_text_that_cannot_be_encoded_is_published_all_the_same(shared: Path, directory: SharedDir) -> None:
    directory.publish("git_status.txt", "half a pair: \ud800")

    assert (shared / "git_status.txt").read_text() == "half a pair: ?"


@pytest.mark.parametrize("name", ["git_status.txt", "results/7.json", "results/git_add.json"])
@pytest.mark.parametrize("kind", OBSTACLES)
def test_whatever_stands_under_a_published_name_is_replaced_and_not_written_through(
    kind: str, name: str, shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    directory.publish("results/first.json", "{}")
    put_in_the_way(kind, shared / name)

    if name == "results/git_add.json":
        directory.publish("results/7.json", "text", also=name)
    else:
        directory.publish(name, "text")

    assert stat.S_ISREG((shared / name).lstat().st_mode)
    assert (shared / name).read_text() == "text"


@pytest.mark.parametrize(
    "kind", [kind for kind in OBSTACLES if "directory" not in str(kind)] + ["link to a directory"]
)
def test_whatever_stands_in_place_of_the_results_is_set_aside_and_not_followed(
    kind: str, shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    put_in_the_way(kind, shared / "results")

    directory.publish("results/7.json", "text")

    assert stat.S_ISDIR((shared / "results").lstat().st_mode)
    assert (shared / "results" / "7.json").read_text() == "text"
    assert any(name.startswith("set-aside.") for name in visible(shared))


def test_results_replaced_by_a_link_after_they_were_opened_are_made_anew(
    shared: Path, directory: SharedDir, secret: Path
) -> None:
    directory.publish("results/1.json", "one")
    (shared / "results").rename(shared / "taken")
    (shared / "results").symlink_to(secret.parent)

    directory.publish("results/2.json", "two")

    assert visible(shared / "results") == ["2.json"]
    assert visible(shared / "taken") == ["1.json"]


def test_a_directory_in_the_way_keeps_its_content_under_a_visible_name(
    shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    put_in_the_way("full directory", shared / "git_check.txt")

    directory.publish("git_check.txt", "text")

    [aside] = shared.glob("set-aside.*.git_check.txt")
    assert (aside / "inside").read_text() == "the agent's own"


@pytest.mark.needs("unprivileged-user")
def test_results_that_the_agent_made_for_itself_are_set_aside_where_we_cannot_write_them(open_to_all: Path) -> None:
    open_to_all.chmod(0o777)
    (open_to_all / "results").mkdir(mode=0o755)
    os.chown(open_to_all / "results", AGENT, AGENT)

    as_user(NOBODY, lambda: SharedDir(open_to_all).publish("results/7.json", "text"))

    assert (open_to_all / "results" / "7.json").read_text() == "text"
    assert (open_to_all / "results").stat().st_uid == NOBODY


@pytest.mark.needs("unprivileged-user")
def test_a_second_name_is_a_link_for_an_unprivileged_user_too(open_to_all: Path) -> None:
    open_to_all.chmod(0o777)

    as_user(NOBODY, lambda: SharedDir(open_to_all).publish("results/7.json", "text", also="results/git_add.json"))

    assert (open_to_all / "results" / "7.json").samefile(open_to_all / "results" / "git_add.json")


def test_a_plain_file_has_no_second_name(directory: SharedDir) -> None:
    with pytest.raises(ValueError, match="not names for publishing"):
        directory.publish("git_status.txt", "text", also="results/git_status.json")


@pytest.mark.needs("unprivileged-user")
def test_d11_a_directory_we_cannot_write_is_said_with_what_mends_it(open_to_all: Path) -> None:
    def publish() -> tuple[str, str, str]:
        with pytest.raises(Unavailable) as caught:
            SharedDir(open_to_all).publish("git_status.txt", "text")
        return caught.value.code, caught.value.message, caught.value.hint

    code, message, hint = as_user(NOBODY, publish)

    assert code == "not_permitted"
    assert message == "writing git_status.txt failed: Permission denied"
    assert "own the shared directory" in hint


@pytest.mark.needs("root")
def test_d11_a_full_disk_is_said_leaves_no_half_file_and_mends_itself(small_disk: Path) -> None:
    directory = SharedDir(small_disk)
    directory.publish("results/7.json", "old")
    (small_disk / "filler").write_bytes(b"x" * 56 * 1024)

    with pytest.raises(Unavailable) as caught:
        directory.publish("results/7.json", "x" * 20_000)

    assert caught.value.code == "disk_full"
    assert "No space left on device" in caught.value.message
    assert (small_disk / "results" / "7.json").read_text() == "old"
    assert os.listdir(small_disk / "results") == ["7.json"]
    (small_disk / "filler").unlink()
    directory.publish("results/7.json", "x" * 20_000)
    assert (small_disk / "results" / "7.json").stat().st_size == 20_000


@pytest.mark.needs("root")
def test_d11_a_read_only_mount_is_said_and_no_flag_of_it_is_run(
    small_disk: Path, remount: Callable[[str], None]
) -> None:
    directory = SharedDir(small_disk)
    (small_disk / "git_push.flag").write_text("main")
    remount("ro")

    with pytest.raises(Unavailable) as caught:
        directory.publish("git_status.txt", "text")
    claim = directory.claim(b"git_push.flag")

    assert caught.value.code == "read_only"
    assert claim is not None
    assert claim.content is None
    assert claim.problem is not None
    assert claim.problem.code == "flag_not_removable"


def test_old_results_are_pruned_oldest_first_and_the_latest_of_an_operation_stays(
    shared: Path, directory: SharedDir
) -> None:
    for number in range(5):
        directory.publish(f"results/{number}.json", "{}")
        os.utime(shared / "results" / f"{number}.json", (number, number))
    directory.publish("results/git_add.json", "{}")
    os.utime(shared / "results" / "git_add.json", (0, 0))

    assert directory.prune_results(keep=2) == 3
    assert visible(shared / "results") == ["3.json", "4.json", "git_add.json"]
    assert directory.prune_results(keep=2) == 0


def test_what_crashes_left_is_tidied_when_it_is_old_enough(
    shared: Path, directory: SharedDir, put_in_the_way: Callable[[str, Path], None]
) -> None:
    directory.publish("results/7.json", "{}")
    token = "0123456789abcdef"
    (shared / f".publish.{token}").write_text("half")
    (shared / "results" / f".publish.{token}").write_text("half")
    put_in_the_way("link to a secret", shared / f"set-aside.{token}.results")
    put_in_the_way("empty directory", shared / f"set-aside.{token}.git_check.txt")
    put_in_the_way("full directory", shared / f"set-aside.{token}.gateway.json")
    (shared / "notes.txt").write_text("the agent's own")
    now = (shared / "notes.txt").stat().st_ctime

    assert directory.tidy(now) == 0
    assert directory.tidy(now + 100) == 2
    assert directory.tidy(now + A_DAY + 100) == 2
    assert visible(shared) == ["notes.txt", "results", f"set-aside.{token}.gateway.json"]
    assert visible(shared / "results") == ["7.json"]


def test_tidying_is_bounded(shared: Path, directory: SharedDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "TIDY_LIMIT", 3)
    for number in range(5):
        (shared / f".publish.{number:016x}").touch()
    now = shared.stat().st_ctime + 100

    assert [directory.tidy(now), directory.tidy(now)] == [3, 2]


@pytest.fixture
def contested(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent that puts a file in place of the results whenever they were made."""
    genuine, numbers = os.mkdir, count()

    def mkdir(*args: object, **kwargs: object) -> None:
        genuine(*args, **kwargs)  # type: ignore[arg-type]
        (shared / "results").rename(shared / f"stolen-{next(numbers)}")
        (shared / "results").touch()

    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", mkdir)
        yield


@pytest.mark.usefixtures("contested")
def test_an_agent_that_fights_for_the_results_is_given_up_on_until_later(directory: SharedDir) -> None:
    with pytest.raises(Unavailable) as caught:
        directory.publish("results/7.json", "text")

    assert caught.value.code == "results_contested"
