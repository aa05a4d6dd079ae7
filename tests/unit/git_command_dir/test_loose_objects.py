"""A loose object is what its name says, or it is false: cut, longer, of another content, or no object at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.loose_objects import is_true


def judged(content: bytes, object_id: str) -> bool:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return is_true(file.fileno(), object_id)


def named(content: bytes, kind: bytes = b"blob") -> tuple[bytes, bytes]:
    return b"%b %d\0" % (kind, len(content)), content


@given(st.binary(max_size=2000), st.sampled_from([b"blob", b"tree", b"commit", b"tag"]), st.integers(0, 9))
def test_what_git_would_write_is_true_under_both_hashes(content: bytes, kind: bytes, level: int) -> None:
    whole = b"".join(named(content, kind))

    assert judged(zlib.compress(whole, level), hashlib.sha1(whole).hexdigest())
    assert judged(zlib.compress(whole, level), hashlib.sha256(whole).hexdigest())
    assert not judged(zlib.compress(whole + b"more"), hashlib.sha1(whole).hexdigest())


@given(st.binary(max_size=300), st.integers(1, 20))
def test_an_object_that_was_cut_is_false(content: bytes, cut: int) -> None:
    whole = b"".join(named(content))

    assert not judged(zlib.compress(whole)[:-cut], hashlib.sha1(whole).hexdigest())


@given(st.binary(max_size=300))
def test_any_bytes_are_judged_without_an_error(content: bytes) -> None:
    assert not judged(content, "0" * 40)
    assert not judged(zlib.compress(content), "0" * 40)


@pytest.mark.parametrize(
    "header", [b"blob 5\0", b"blob 3\0", b"blob -4\0", b"evil 4\0", b"blob 4", b"blob 99999999999\0"]
)
def test_a_header_that_does_not_fit_is_false_even_where_the_hash_does(header: bytes) -> None:
    whole = header + b"four"

    assert not judged(zlib.compress(whole), hashlib.sha1(whole).hexdigest())


def test_what_unpacks_to_far_more_than_it_claims_is_not_unpacked_to_its_end() -> None:
    squeeze = zlib.compressobj(9)
    packed = squeeze.compress(b"blob 10\0") + squeeze.compress(bytes(64 << 20)) + squeeze.flush()
    read, write = os.pipe()
    try:
        os.write(write, packed[:60_000])

        assert not is_true(read, "0" * 40)  # said after the first bytes: the pipe has no end to wait for
    finally:
        os.close(read)
        os.close(write)
