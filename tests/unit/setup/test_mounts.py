"""The mount that a path lies on."""

from __future__ import annotations

from pathlib import Path

from executor.mounts import mount_of, parse

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw,size=1g
31 22 0:41 / /tmp rw,noexec - tmpfs tmpfs rw
40 22 0:50 / /mnt/with\\040space rw - nfs4 server:/x rw,vers=4.2
not a line of it
"""


def test_the_longest_path_counts_and_of_several_at_one_place_the_last() -> None:
    assert mount_of(Path("/tmp"), TABLE).options == frozenset({"rw", "noexec"})
    assert mount_of(Path("/usr"), TABLE).kind == "ext4"


def test_spaces_in_a_place_and_file_systems_that_other_machines_write() -> None:
    (shared,) = [mount for mount in parse(TABLE.splitlines()) if mount.kind == "nfs4"]

    assert shared.point == Path("/mnt/with space")
    assert shared.written_elsewhere
    assert not mount_of(Path("/usr"), TABLE).written_elsewhere


def test_every_path_of_this_host_lies_on_some_mount(tmp_path: Path) -> None:
    assert tmp_path.is_relative_to(mount_of(tmp_path).point)
