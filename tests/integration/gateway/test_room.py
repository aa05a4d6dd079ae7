"""The host's disk stays usable, whatever an agent asks to have kept on it."""

from __future__ import annotations

import os

import pytest
from executor_in_process import answered, started
from gateway_process import ConfiguredHost

from executor import disk_space

pytestmark = pytest.mark.needs("git", "landlock")


def test_on_a_nearly_full_disk_only_what_reads_is_run(host: ConfiguredHost, monkeypatch: pytest.MonkeyPatch) -> None:
    (host.work_tree / "new.txt").write_text("new\n")
    with started(host) as dispatcher:
        with monkeypatch.context() as patched:
            patched.setattr(disk_space, "floor", lambda total: total + 1)
            assert answered(dispatcher, host, "git_add.a.flag") == ("refused", "disk_low")
            assert answered(dispatcher, host, "git_status.b.flag") == ("succeeded", "")
        assert answered(dispatcher, host, "git_add.c.flag") == ("succeeded", "")


def test_a_sparse_file_of_a_hundred_gigabytes_is_refused_and_the_index_is_as_it_was(host: ConfiguredHost) -> None:
    big = host.work_tree / "big.bin"
    big.touch()
    os.truncate(big, 100 * 1000**3)
    with started(host) as dispatcher:
        assert answered(dispatcher, host, "git_add.a.flag", ".") == ("refused", "too_much_to_add")
        assert answered(dispatcher, host, "git_add.b.flag", "file.txt") == ("succeeded", "")
