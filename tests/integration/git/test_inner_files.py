"""What the gateway itself reads and writes in a git directory: one regular file, with one name, by no link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import adopted_repository

from executor.errors import Failed, Refused
from executor.git.index_draft import draft_index
from executor.git.inner_files import files_below, read_inner, remove_inner, scratch_file, write_inner
from executor.git.transfer import fetch


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("CANARY\n")
    return outside / "secret"


@pytest.fixture
def root(tmp_path: Path, secret: Path) -> Path:
    root = tmp_path / "local.git"
    (root / "logs").mkdir(parents=True)
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "link").symlink_to(secret)
    (root / "linked").symlink_to(secret.parent)
    os.link(secret, root / "second-name")
    os.mkfifo(root / "fifo")
    return root


@pytest.mark.parametrize("name", ["link", "linked/secret", "second-name", "fifo", "logs", "HEAD/x"])
def test_nothing_but_a_plain_file_is_read(root: Path, name: str) -> None:
    with pytest.raises(Refused) as refused:
        read_inner(root, name, 100)

    assert refused.value.code == "git_dir_special"


def test_a_file_is_read_up_to_its_limit_and_one_that_is_not_there_is_none(root: Path) -> None:
    assert read_inner(root, "HEAD", 21) == b"ref: refs/heads/main\n"
    assert read_inner(root, "no", 10) is None
    assert read_inner(root, "no/no", 10) is None
    with pytest.raises(Failed):
        read_inner(root, "HEAD", 20)


def test_a_link_is_replaced_and_never_written_through(root: Path, secret: Path) -> None:
    for name in ("link", "second-name", "fifo"):
        write_inner(root, name, b"new")
        assert (root / name).read_bytes() == b"new"
        assert not (root / name).is_symlink()
    with pytest.raises(Refused):
        write_inner(root, "linked/secret", b"new")
    with pytest.raises(Refused):
        write_inner(root, "linked/deep/secret", b"new")
    with pytest.raises(Refused):
        write_inner(root, "logs", b"new")

    assert secret.read_text() == "CANARY\n"
    assert os.listdir(secret.parent) == ["secret"]
    assert not [name for name in os.listdir(root) if name.startswith(".")]


def test_removing_takes_the_link_and_not_what_it_leads_to(root: Path, secret: Path) -> None:
    remove_inner(root, "link")
    remove_inner(root, "no/no")
    with pytest.raises(Refused):
        remove_inner(root, "linked/secret")

    assert not (root / "link").is_symlink()
    assert secret.exists()


def test_a_directory_with_a_link_in_it_is_not_listed(root: Path, secret: Path) -> None:
    (root / "logs" / "a").write_text("x")
    assert files_below(root, "logs") == ("logs/a",)
    assert files_below(root, "no") == ()
    (root / "logs" / "b").symlink_to(secret)

    for name in ("logs", "linked"):
        with pytest.raises(Refused):
            files_below(root, name)


def test_a_scratch_file_and_its_lock_are_gone_afterwards(root: Path) -> None:
    with scratch_file(root / "logs", "index", b"content") as path:
        assert path.read_bytes() == b"content"
        path.with_name(path.name + ".lock").touch()

    assert os.listdir(root / "logs") == []


@pytest.mark.parametrize("name", ["shallow", "FETCH_HEAD"])
def test_a_fetch_writes_through_no_link_in_the_local_repository(tmp_path: Path, secret: Path, name: str) -> None:
    repository = adopted_repository(tmp_path)
    git = repository.open()
    (git.paths.local / name).unlink(missing_ok=True)
    (git.paths.local / name).symlink_to(secret)

    try:
        fetch(git, "origin")
    except Refused as refused:
        assert refused.code == "git_dir_special"

    assert secret.read_text() == "CANARY\n"
    assert not (git.paths.transfer / name).exists() or "CANARY" not in (git.paths.transfer / name).read_text()


def test_the_index_is_not_copied_through_a_link(tmp_path: Path, secret: Path) -> None:
    git = adopted_repository(tmp_path).open()
    (git.paths.local / "index").unlink()
    (git.paths.local / "index").symlink_to(secret)

    with pytest.raises(Refused) as refused, draft_index(git):
        pass

    assert refused.value.code == "git_dir_special"
    assert not (git.paths.tmp / "index.draft").exists()
