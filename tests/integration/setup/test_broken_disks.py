"""File systems that are full, closed or deaf, and a clock that went back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from set_up_host import SetUpHost

pytestmark = pytest.mark.needs("git", "landlock", "root", "unprivileged-user")

Mount = Callable[[Path, str], None]
_HOG = """
import ctypes, sys
libc = ctypes.CDLL(None)
while libc.inotify_init() >= 0:
    pass
print("full", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def mounted(host: SetUpHost) -> Iterator[Mount]:
    """Put a file system of its own under a directory of the host, with what was in there."""
    places: list[Path] = []

    def mount(place: Path, options: str) -> None:
        aside = place.with_name(f"{place.name}.aside")
        place.rename(aside)
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
        places.append(place)
        subprocess.run(["cp", "-a", f"{aside}/.", str(place)], check=True)
        shutil.rmtree(aside)

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_is_nearly_full_fails_and_what_fills_it_is_shown(host: SetUpHost, mounted: Mount) -> None:
    mounted(host.shared, "size=60m")

    found = host.doctor()["disk of the shared directory"]

    assert found["state"] == "fail"
    assert str(host.shared) in host.paste(found["command"]).stdout
    subprocess.run(["mount", "-o", "remount,size=3g", str(host.shared)], check=True)
    assert host.doctor()["disk of the shared directory"]["state"] == "ok"


def test_a_disk_without_room_for_files_is_found_though_bytes_are_left(host: SetUpHost, mounted: Mount) -> None:
    mounted(host.shared, "size=3g,nr_inodes=300")

    found = host.doctor()["disk of the shared directory"]

    assert found["state"] == "warn"
    assert "--inodes" in found["command"]
    host.paste(found["command"])
    subprocess.run(["mount", "-o", "remount,nr_inodes=1000000", str(host.shared)], check=True)
    assert host.doctor()["disk of the shared directory"]["state"] == "ok"


def test_a_state_directory_from_which_ssh_cannot_be_started_is_mended(host: SetUpHost, mounted: Mount) -> None:
    mounted(host.state, "size=3g,mode=700,noexec")

    found = host.doctor()["state directory's mount"]

    assert found["state"] == "warn"
    host.paste(found["command"])
    assert "state directory's mount" not in host.doctor()


def test_the_advice_for_the_shared_directory_can_be_pasted_and_is_taken(host: SetUpHost) -> None:
    found = host.doctor()["mount of the shared directory"]
    assert found["state"] == "ok"
    assert "nodev,nosuid,noexec" in found["mend"]
    try:
        host.paste(found["command"])

        assert "is mounted nodev,nosuid,noexec" in host.doctor()["mount of the shared directory"]["what"]
        host.ok("tick")
    finally:
        subprocess.run(["umount", "-l", str(host.shared)], check=False)


def test_a_shared_directory_that_is_read_only_fails(host: SetUpHost, mounted: Mount) -> None:
    mounted(host.shared, "size=3g")
    subprocess.run(["mount", "-o", "remount,ro", str(host.shared)], check=True)

    assert host.doctor()["shared directory"]["state"] == "fail"

    subprocess.run(["mount", "-o", "remount,rw", str(host.shared)], check=True)
    assert host.doctor()["shared directory"]["state"] == "ok"


def test_a_user_without_inotify_is_told_that_flags_wait_for_the_sweep(open_to_all: Path) -> None:
    account = 40_000 + os.getpid() % 20_000  # nobody else's watches are counted with its
    (open_to_all / "host").mkdir()
    host = SetUpHost(open_to_all / "host", account)
    hog = subprocess.Popen(
        host.argv("-c", _HOG), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=host.process_environment()
    )
    assert hog.stdin is not None and hog.stdout is not None
    with hog, hog.stdin, hog.stdout:
        assert hog.stdout.readline() == b"full\n"
        found = host.doctor()["inotify"]
    assert found["state"] == "warn"
    assert "max_user_instances" in found["command"]
    assert host.doctor()["inotify"]["state"] == "ok"


@pytest.mark.needs("faketime")
def test_a_clock_that_is_behind_the_audit_log_fails(host: SetUpHost) -> None:
    host.ok("tick")

    found = host.doctor(before=["faketime", "-f", "-3d"])["clock and audit log"]

    assert found["state"] == "fail"
    assert "set-ntp" in found["command"]
    assert "clock and audit log" not in host.doctor()
