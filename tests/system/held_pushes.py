"""A remote that takes its time: a hook there holds each push until the test lets it go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from programs import until


@dataclass(frozen=True)
class HeldPushes:
    """`begun` waits for a push to arrive at the remote; `let_go` lets one through."""

    arrivals: Path
    gate: int

    def begun(self, number: int = 1) -> None:
        until(lambda: len(self.arrivals.read_text().splitlines()) >= number, f"push {number} at the remote")

    def let_go(self) -> None:
        os.write(self.gate, b"\n")


@contextmanager
def held_pushes(bare: Path) -> Iterator[HeldPushes]:
    """Let the hook of a bare repository hold every push; at the end of the block those still held get through."""
    arrivals, gate, hook = bare / "arrivals", bare / "gate", bare / "hooks" / "pre-receive"
    arrivals.touch()
    os.mkfifo(gate)
    hook.write_text(f"#!/bin/sh\necho push >> {arrivals}\nread go < {gate}\n")
    hook.chmod(0o755)
    descriptor = os.open(gate, os.O_RDWR)
    try:
        yield HeldPushes(arrivals, descriptor)
    finally:
        hook.unlink()
        os.write(descriptor, b"\n" * 16)
        os.close(descriptor)
        gate.unlink()
        arrivals.unlink()
