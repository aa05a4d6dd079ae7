"""Of any stream, however it is cut into pieces, the same bounded part is kept (C22)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from executor.sandbox.output import BoundedOutput

MARKER = re.compile(rb"\n\.\.\. (\d+) bytes left out \.\.\.\n")


@given(st.lists(st.binary(max_size=60)), st.integers(min_value=0, max_value=100))
def test_head_and_tail_are_the_streams_own_and_the_marker_counts_the_rest(pieces: list[bytes], limit: int) -> None:
    output = BoundedOutput(limit)
    for piece in pieces:
        output.feed(piece)
    stream = b"".join(pieces)

    assert output.total == len(stream)
    assert output.truncated == (len(stream) > limit)
    if not output.truncated:
        assert output.value() == stream
        return
    head, tail = limit - limit // 2, limit // 2
    marker = b"\n... %d bytes left out ...\n" % (len(stream) - limit)
    assert output.value() == stream[:head] + marker + (stream[-tail:] if tail else b"")


def test_c22_what_is_held_does_not_grow_with_what_is_fed() -> None:
    output = BoundedOutput(1000)
    for _ in range(1000):
        output.feed(b"x" * 1000)

    match = MARKER.search(output.value())
    assert match is not None and int(match[1]) == 999_000
    assert len(output.value()) < 1100
