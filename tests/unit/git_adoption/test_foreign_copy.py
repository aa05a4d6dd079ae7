"""Nothing in a directory that an agent controls leads out of it, blocks, or grows without bound."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from executor.errors import Refused
from executor.git.foreign_copy import (
    Kind,
    copy_file,
    copy_tree_into,
    directory,
    read_file,
    remove_tree,
    walk,
)


def test_a_walk_names_what_is_no_file_and_enters_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("x")
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listening, directory(root) as opened:
        listening.bind(str(root / "socket"))
        found = {entry.path: entry.kind for entry in walk(opened)}

    assert found == {"fifo": Kind.FIFO, "file": Kind.FILE, "link": Kind.SYMLINK, "socket": Kind.SOCKET}


def test_a_walk_does_not_go_deeper_than_its_limit(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 40)).mkdir(parents=True)
    with directory(tmp_path) as opened:
        kinds = [entry.kind for entry in walk(opened)]

    assert kinds == [Kind.DIRECTORY] * 24 + [Kind.TOO_DEEP]


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory"])
def test_what_took_the_place_of_a_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "file"
    {
        "symlink": lambda: target.symlink_to("secret"),
        "fifo": lambda: os.mkfifo(target),
        "directory": lambda: target.mkdir(),
    }[kind]()
    with directory(tmp_path) as opened:
        for action in (
            lambda: read_file(opened, "file", 100),
            lambda: copy_file(opened, "file", tmp_path / "copy", 100),
        ):
            with pytest.raises(Refused) as caught:
                action()
            assert caught.value.code == "git_dir_changed"


def test_a_file_that_grew_past_its_limit_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with directory(tmp_path) as opened:
        with pytest.raises(Refused, match="larger than"):
            read_file(opened, "sparse", 1000)
        with pytest.raises(Refused, match="changed"):
            copy_file(opened, "sparse", tmp_path / "copy", 1000)
    assert (tmp_path / "copy").stat().st_size <= 2 * 1024 * 1024


def test_a_copy_is_a_fresh_file_that_a_holder_of_the_old_one_cannot_change(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("before")
    os.link(tmp_path / "old", tmp_path / "second-name")
    with directory(tmp_path) as opened, (tmp_path / "old").open("r+") as held:
        copy_file(opened, "old", tmp_path / "copy", 100)
        held.write("after!")

    assert (tmp_path / "copy").read_text() == "before"
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600


def test_removing_takes_any_depth_and_leaves_what_links_point_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    root = tmp_path / "root"
    deep = root
    root.mkdir()
    with directory(root) as opened:
        at = os.dup(opened)
        for _ in range(3000):  # far beyond PATH_MAX and the recursion limit
            os.mkdir("dd", dir_fd=at)
            below = os.open("dd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        os.symlink(outside, "link", dir_fd=at)
        os.close(at)
    (deep / "link").symlink_to(outside)
    with directory(tmp_path) as opened:
        remove_tree(opened, "root")

    assert not root.exists()
    assert (outside / "precious").read_text() == "x"


def test_copying_into_a_foreign_directory_does_not_write_through_a_link(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file").write_text("x")
    victim = tmp_path / "victim"
    victim.mkdir()
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "copy").symlink_to(victim)
    with directory(foreign) as opened:
        with pytest.raises(FileExistsError):
            copy_tree_into(source, opened, "copy")
        copy_tree_into(source, opened, "other")

    assert list(victim.iterdir()) == []
    assert (foreign / "other" / "sub" / "file").read_text() == "x"
