"""Upkeep of a repository: it stays small, and nothing that anything leads to is lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, plain_git

from executor.git.maintenance import ABANDONED_SECONDS, keep_up, remove_abandoned, take_stock

pytestmark = pytest.mark.needs("git")

DAY = 24 * 3600.0
KEEP_DAYS = 30


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def objects_of(repo: Adopted) -> set[str]:
    return set(repo.plain("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def age(repo: Adopted, days: float) -> None:
    """Let everything loose have been written so long ago."""
    for directory, _, names in os.walk(repo.paths.objects):
        for name in names:
            os.utime(Path(directory, name), (time.time() - days * DAY,) * 2)


def blob(repo: Adopted, content: str) -> str:
    return repo.plain("hash-object", "-w", "--stdin", stdin=content)


def test_what_a_killed_git_left_behind_is_removed_after_an_hour_and_nothing_else(repo: Adopted) -> None:
    stores = [repo.paths.objects, repo.paths.transfer / "objects"]
    for store in stores:
        (store / "ab").mkdir(exist_ok=True)
        (store / "pack").mkdir(exist_ok=True)
        (store / "tmp_objdir-incoming-x1").mkdir()
    old = [
        *(store / name for store in stores for name in ("ab/tmp_obj_x1", "pack/tmp_pack_x1", "pack/tmp_idx_x1")),
        *(store / "pack" / ".tmp-12-pack-abc.pack" for store in stores),
        *(store / "tmp_objdir-incoming-x1" / "half" for store in stores),
        repo.paths.tmp / "draft",
    ]
    for path in old:
        path.write_bytes(b"x" * 1000)
    (repo.paths.objects / "ab" / "tmp_obj_young").write_bytes(b"x")
    before = objects_of(repo)
    ours = time.time() + ABANDONED_SECONDS
    os.utime(repo.paths.objects / "ab" / "tmp_obj_young", (ours, ours))

    assert remove_abandoned(repo.paths, ours + 60) == 1000 * len(old)

    assert [path for path in old if path.exists()] == []
    assert (repo.paths.objects / "ab" / "tmp_obj_young").exists()
    assert objects_of(repo) == before


def test_only_what_nothing_leads_to_and_is_older_than_rescues_are_kept_is_pruned(repo: Adopted) -> None:
    forgotten, kept, borrowed, staged = (blob(repo, word) for word in ("forgotten", "kept", "borrowed", "staged"))
    repo.plain("update-ref", "refs/rescue/r1/blob", kept)
    plain_git(repo.paths.transfer, "update-ref", "refs/incoming/blob", borrowed)
    repo.plain("update-index", "--add", "--cacheinfo", f"100644,{staged},staged.txt")
    age(repo, KEEP_DAYS + 1)
    young = blob(repo, "young")
    before = objects_of(repo)

    assert keep_up(repo.open(), KEEP_DAYS, time.time()) == ("prune",)

    assert before - objects_of(repo) == {forgotten}
    assert {kept, borrowed, staged, young} <= objects_of(repo)


def test_a_young_repository_is_left_alone(repo: Adopted) -> None:
    blob(repo, "forgotten")

    assert keep_up(repo.open(), KEEP_DAYS, time.time()) == ()


def test_many_loose_objects_become_a_pack_and_every_object_is_still_there(repo: Adopted) -> None:
    for number in range(5):
        repo.commit(f"{number}.txt", str(number))
    unreachable = blob(repo, "unreachable")
    before, refs = objects_of(repo), repo.plain("for-each-ref")

    assert keep_up(repo.open(), KEEP_DAYS, time.time(), loose_limit=10) == ("pack-refs", "repack")

    stock = take_stock(repo.paths.objects)
    assert (stock.loose, stock.packs) == (1, 1)
    assert objects_of(repo) == before
    assert unreachable in before
    assert repo.plain("for-each-ref") == refs
    repo.plain("fsck", "--strict")


def test_many_packs_become_one_with_what_nothing_leads_to_in_it(repo: Adopted) -> None:
    lost = repo.commit("lost.txt", "lost")
    repo.plain("repack", "-d", "-q")
    repo.plain("reset", "-q", "--hard", "HEAD^")
    repo.plain("reflog", "expire", "--expire=now", "--all")
    for number in range(4):
        repo.commit(f"{number}.txt", str(number))
        repo.plain("repack", "-d", "-q")
    before = objects_of(repo)

    assert keep_up(repo.open(), KEEP_DAYS, time.time(), pack_limit=3) == ("pack-refs", "repack")

    assert take_stock(repo.paths.objects).packs == 1
    assert objects_of(repo) == before
    assert lost in before
