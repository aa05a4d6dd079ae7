"""The filter, run through a small model of the kernel's interpreter."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.sandbox.seccomp import AUDIT_ARCH, Filter, program

LOCAL = Filter(sockets=False, truncate=True)
REMOTE = Filter(sockets=True, truncate=True)
ALLOW, DENY, ABSENT = "allow", "EPERM", "ENOSYS"
# A few numbers from the kernel's tables, written down apart from those that are tested.
NUMBERS = {
    "x86_64": {"read": 0, "execve": 59, "vfork": 58, "setsid": 112, "socket": 41, "connect": 42, "clone": 56,
               "clone3": 435, "prlimit64": 302, "ptrace": 101, "truncate": 76, "ioctl": 16, "io_uring_setup": 425},
    "aarch64": {"read": 63, "execve": 221, "setsid": 157, "socket": 198, "connect": 203, "clone": 220,
                "clone3": 435, "prlimit64": 261, "ptrace": 117, "truncate": 45, "ioctl": 29, "io_uring_setup": 425},
}  # fmt: skip


def run(code: bytes, machine_arch: int, number: int, *arguments: int) -> str:
    """Return what the program says about a system call."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, machine_arch, 0, *padded)
    at = accumulator = 0
    while True:
        operation, if_true, if_false, operand = struct.unpack_from("=HBBI", code, 8 * at)
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x15:
            at += if_true if accumulator == operand else if_false
        elif operation == 0x45:
            at += if_true if accumulator & operand else if_false
        else:
            assert operation == 0x06
            return ALLOW if operand == 0x7FFF0000 else errno.errorcode[operand & 0xFFFF]


def ask(machine: str, wanted: Filter, name: str, *arguments: int) -> str:
    return run(program(machine, wanted), AUDIT_ARCH[machine], NUMBERS[machine][name], *arguments)


machines = pytest.mark.parametrize("machine", list(AUDIT_ARCH))


@machines
def test_what_git_lives_on_is_allowed(machine: str) -> None:
    for name in ("read", "execve", "setsid"):
        assert ask(machine, LOCAL, name) == ALLOW


@machines
def test_local_programs_have_no_sockets_and_remote_ones_have_four_families(machine: str) -> None:
    assert {ask(machine, LOCAL, "socket", family) for family in range(46)} == {DENY}
    assert [family for family in range(46) if ask(machine, REMOTE, "socket", family) == ALLOW] == [1, 2, 10, 16]
    assert (ask(machine, LOCAL, "connect"), ask(machine, REMOTE, "connect")) == (DENY, ALLOW)


@machines
@pytest.mark.parametrize("wanted", [LOCAL, REMOTE])
def test_every_program_is_denied_what_opens_sockets_or_processes_past_the_filter(
    machine: str, wanted: Filter
) -> None:
    assert ask(machine, wanted, "io_uring_setup") == DENY
    assert ask(machine, wanted, "ptrace") == DENY


@machines
def test_limits_can_be_read_and_not_set(machine: str) -> None:
    assert ask(machine, LOCAL, "prlimit64", 0, 7, 0, 0x7FFF_0000) == ALLOW
    assert ask(machine, LOCAL, "prlimit64", 0, 7, 0x7FFF_0000, 0) == DENY
    assert ask(machine, LOCAL, "prlimit64", 0, 7, 0x5_0000_0000, 0) == DENY  # only the high half is set


@machines
def test_processes_can_be_made_and_namespaces_cannot(machine: str) -> None:
    assert ask(machine, LOCAL, "clone", 0x0100_4011) == ALLOW
    for namespace in (
        0x80,
        0x0002_0000,
        0x0200_0000,
        0x0400_0000,
        0x0800_0000,
        0x1000_0000,
        0x2000_0000,
        0x4000_0000,
    ):
        assert ask(machine, LOCAL, "clone", 0x11 | namespace) == DENY
    assert ask(machine, LOCAL, "clone3") == ABSENT  # libc then uses clone


@machines
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    assert [ask(machine, LOCAL, "ioctl", 0, request) for request in (0x5412, 0x541C, 0x5401)] == [DENY, DENY, ALLOW]


@machines
def test_truncating_by_path_is_denied_where_landlock_does_not_see_it(machine: str) -> None:
    assert ask(machine, Filter(sockets=False, truncate=False), "truncate") == DENY
    assert ask(machine, LOCAL, "truncate") == ALLOW


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_every_call_through_a_foreign_architecture_is_denied(number: int) -> None:
    assert run(program("x86_64", REMOTE), 0x4000_0003, number) == DENY  # i386
    assert run(program("x86_64", REMOTE), AUDIT_ARCH["x86_64"], number | 0x4000_0000) == DENY  # x32
    assert run(program("aarch64", REMOTE), 0x4000_0028, number) == DENY  # 32-bit Arm


@machines
@pytest.mark.parametrize("wanted", [LOCAL, REMOTE])
def test_the_program_fits_the_kernels_limit(machine: str, wanted: Filter) -> None:
    assert len(program(machine, wanted)) // 8 <= 4096


def test_another_machine_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="riscv64"):
        program("riscv64", LOCAL)
