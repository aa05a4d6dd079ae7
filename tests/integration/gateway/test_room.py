"""The host's disk and its time stay usable, whatever an agent asks for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from executor_in_process import answered, started
from gateway_process import ConfiguredHost

from executor import disk_space
from executor.errors import Unavailable
from executor.record import controls, requests

pytestmark = pytest.mark.needs("git", "landlock")


def temporary(state: Path) -> list[Path]:
    """Return what a git that was killed left behind."""
    return [path for path in state.rglob("tmp_*") if path.is_file()]


def test_on_a_nearly_full_disk_only_what_reads_is_run(host: ConfiguredHost, monkeypatch: pytest.MonkeyPatch) -> None:
    (host.work_tree / "new.txt").write_text("new\n")
    with started(host) as dispatcher:
        with monkeypatch.context() as patched:
            patched.setattr(disk_space, "floor", lambda total: total + 1)
            assert answered(dispatcher, host, "git_add.a.flag") == ("refused", "disk_low")
            assert answered(dispatcher, host, "git_status.b.flag") == ("succeeded", "")
        assert answered(dispatcher, host, "git_add.c.flag") == ("succeeded", "")


def test_an_agent_that_only_reads_does_not_fill_the_disk_to_its_end(
    host: ConfiguredHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits goes on when there is room, and an operator's freeze is recorded all the while."""
    with started(host) as dispatcher:
        (host.shared / "git_status.queued.flag").touch()
        dispatcher.take(settle=False)
        (host.shared / "git_status.waits.flag").touch()
        with monkeypatch.context() as patched:
            patched.setattr(disk_space, "record_floor", lambda total: total + 1)
            with pytest.raises(Unavailable, match="nearly full"):
                dispatcher.take(settle=False)
            with pytest.raises(Unavailable, match="nearly full"):
                dispatcher.run_next("shop")
            assert (host.shared / "git_status.waits.flag").exists()
            assert "nearly full" in dispatcher.troubles()["taking flags"]
            with dispatcher.store.transaction() as tx:
                controls.freeze(tx, "it floods us", "cli:test")
        assert answered(dispatcher, host, "git_status.after.flag") == ("succeeded", "")
        with dispatcher.store.reading() as view:
            ended = {name: found.state for name in ("queued", "waits") if (found := requests.get(view, name))}
    assert ended == {"queued": "succeeded", "waits": "succeeded"}
    assert "taking flags" not in dispatcher.troubles()


def test_a_sparse_file_of_a_hundred_gigabytes_is_refused_and_the_index_is_as_it_was(host: ConfiguredHost) -> None:
    big = host.work_tree / "big.bin"
    big.touch()
    os.truncate(big, 100 * 1000**3)
    with started(host) as dispatcher:
        assert answered(dispatcher, host, "git_add.a.flag", ".") == ("refused", "too_much_to_add")
        assert answered(dispatcher, host, "git_add.b.flag", "file.txt") == ("succeeded", "")


def test_a_git_that_is_ended_at_its_deadline_leaves_nothing_half_written(host: ConfiguredHost) -> None:
    half = host.state / "repos" / "shop" / "local.git" / "objects" / "pack" / "tmp_pack_x1"
    os.mkfifo(host.work_tree / ".gitignore")
    with started(host, deadline_seconds=0.5) as dispatcher:
        half.parent.mkdir(exist_ok=True)
        half.write_bytes(b"x" * 1000)

        assert answered(dispatcher, host, "git_add.a.flag") == ("timed_out", "timeout")

    assert temporary(host.state) == []


def test_a_fifo_costs_two_deadlines_and_not_one_for_each_request(host: ConfiguredHost) -> None:
    os.mkfifo(host.work_tree / ".gitignore")
    with started(host, deadline_seconds=0.5) as dispatcher:
        ends = [answered(dispatcher, host, f"git_status.s{number}.flag") for number in range(4)]
        check = answered(dispatcher, host, "git_check.c.flag")
        (host.work_tree / ".gitignore").unlink()
        after = answered(dispatcher, host, "git_status.after.flag")

    assert ends == [("timed_out", "timeout")] * 2 + [("refused", "work_tree_stuck")] * 2
    assert check == after == ("succeeded", "")
