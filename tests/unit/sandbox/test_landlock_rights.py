"""What a domain says, for each kernel that it may be said to."""

from __future__ import annotations

import struct

import pytest

from executor.sandbox import landlock
from executor.sandbox.landlock import Fs, handled, missing, rule


@pytest.mark.parametrize(
    ("abi", "last_right", "length"),
    [
        (1, Fs.MAKE_SYM, 8),
        (2, Fs.REFER, 8),
        (3, Fs.TRUNCATE, 8),
        (4, Fs.TRUNCATE, 16),
        (5, Fs.IOCTL_DEV, 16),
        (6, Fs.IOCTL_DEV, 24),
        (7, Fs.IOCTL_DEV, 24),
        (99, Fs.IOCTL_DEV, 24),
    ],
)
def test_each_kernel_is_asked_for_all_that_it_knows_and_nothing_more(abi: int, last_right: Fs, length: int) -> None:
    attribute = handled(abi).attribute()

    assert len(attribute) == length
    assert struct.unpack_from("=Q", attribute)[0] == 2 * last_right - 1


@pytest.mark.parametrize("abi", range(1, 8))
def test_no_rule_grants_what_its_kernel_does_not_handle(abi: int) -> None:
    for rights in (landlock.READ, landlock.EXECUTE, landlock.WRITE | Fs.MAKE_SYM):
        assert rule(rights, abi, directory=True) & ~handled(abi).fs == 0


def test_a_rule_on_a_file_has_no_rights_that_only_directories_have() -> None:
    assert rule(landlock.WRITE, 7, directory=False) == Fs.READ_FILE | Fs.WRITE_FILE | Fs.TRUNCATE
    assert rule(landlock.EXECUTE, 7, directory=False) == Fs.READ_FILE | Fs.EXECUTE


def test_what_can_be_written_is_not_executable_and_never_becomes_a_device() -> None:
    assert not landlock.WRITE & (Fs.EXECUTE | Fs.MAKE_CHAR | Fs.MAKE_BLOCK | Fs.MAKE_FIFO | Fs.MAKE_SOCK)
    assert not landlock.READ & Fs.WRITE_FILE


def test_each_older_kernel_lacks_more_and_the_latest_nothing() -> None:
    gaps = [missing(abi) for abi in range(1, 8)]

    assert [len(gap) for gap in gaps] == [5, 4, 3, 2, 1, 0, 0]
    assert any("TCP" in text for text in missing(3)) and not any("TCP" in text for text in missing(4))
