"""The work tree is looked at from inside: no link that an agent puts there leads out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executor.errors import Refused
from executor.git.tree_view import Place, tree_view


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner" / "secret").write_text("x")
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("x")
    (tree / "a" / "file").write_text("x")
    (tree / "link").symlink_to(outside)
    (tree / "a" / "b" / "link").symlink_to(outside)
    return tree


@pytest.mark.parametrize(
    ("path", "place", "at"),
    [
        ("a", Place.DIRECTORY, "a"),
        ("a/b/file", Place.OTHER, "a/b/file"),
        ("a/file", Place.OTHER, "a/file"),
        ("a/file/x/y", Place.OTHER, "a/file"),
        ("a/no/x", Place.NOTHING, "a/no"),
        ("no", Place.NOTHING, "no"),
        ("link", Place.OTHER, "link"),
        ("link/inner/secret", Place.OTHER, "link"),
        ("a/b/link/inner", Place.OTHER, "a/b/link"),
    ],
)
def test_the_first_thing_on_the_way_that_is_no_directory_is_what_stands_there(
    tree: Path, path: str, place: Place, at: str
) -> None:
    with tree_view(tree) as view:
        standing = view.look(path)

    assert (standing.place, standing.at) == (place, at)


def test_the_order_in_which_paths_are_asked_for_changes_no_answer(tree: Path) -> None:
    paths = ["a/b/file", "a/file", "link/inner/secret", "a/b/file", "a", "a/b/link/x", "no/x", "a/b/no"]
    with tree_view(tree) as view:
        together = [view.look(path) for path in paths]
    for path, standing in zip(paths, together, strict=True):
        with tree_view(tree) as view:
            alone = view.look(path)
        assert (alone.place, alone.at) == (standing.place, standing.at)


def test_what_lies_in_a_directory_is_listed_without_what_links_lead_to(tree: Path) -> None:
    with tree_view(tree) as view:
        assert list(view.files_in("a")) == ["a/b/file", "a/b/link", "a/file"]
        assert list(view.files_in("link/inner")) == []
        with pytest.raises(Refused):
            list(view.files_in("link"))


def test_a_directory_that_goes_deeper_than_descriptors_reach_is_refused(tree: Path) -> None:
    descriptor = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(300):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)

    with tree_view(tree) as view, pytest.raises(Refused) as refused:
        list(view.files_in("d"))

    assert refused.value.code == "cannot_preserve"
