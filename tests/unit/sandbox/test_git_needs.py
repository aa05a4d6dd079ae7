"""What git needs of the host is found by looking."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import ConfigError
from executor.sandbox.system import elf_interpreter, find_system


def elf(interpreter: bytes | None) -> bytes:
    """Return the smallest 64-bit ELF file with one program header."""
    kind, content = (3, interpreter + b"\0") if interpreter is not None else (1, b"")
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    return header + struct.pack("<IIQQQQQQ", kind, 4, 120, 0, 0, len(content), len(content), 1) + content


def test_the_loader_is_read_from_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(elf(b"/lib64/ld-linux-x86-64.so.2"))

    assert elf_interpreter(program) == Path("/lib64/ld-linux-x86-64.so.2")


def test_a_static_program_needs_no_loader(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(elf(None))

    assert elf_interpreter(program) is None


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(80), b"\x7fELF\x02\x01"])
def test_what_is_no_64_bit_program_is_named(tmp_path: Path, content: bytes) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)

    with pytest.raises(ConfigError, match="program"):
        elf_interpreter(program)


@given(
    st.lists(st.tuples(st.integers(6, 140), st.binary(min_size=1, max_size=8)), max_size=5),
    st.integers(6, 160),
)
def test_a_damaged_program_is_an_answer_or_a_named_error(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, bytes]], length: int
) -> None:
    content = bytearray(elf(b"/lib/ld.so"))
    for where, what in damage:
        content[where : where + len(what)] = what
    program = tmp_path_factory.getbasetemp() / "damaged"
    program.write_bytes(content[:length])
    try:
        elf_interpreter(program)
    except ConfigError as error:
        assert error.code == "not_elf"


@pytest.mark.needs("git")
def test_gits_own_needs_are_resolved_and_exist() -> None:
    system = find_system()
    paths = [*system.read, *system.execute, *system.write]

    assert system.git in system.execute and system.exec_path in system.execute
    assert all(path.exists() and path == path.resolve() for path in paths)
    assert len(set(system.read)) == len(system.read)
