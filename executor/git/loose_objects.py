"""Whether a file holds what its name says, which is a hash: git itself does not look when it reads a loose object."""

from __future__ import annotations

import hashlib
import os
import zlib

_CHUNK = 256 * 1024
_HEADER_BYTES = 32  # "commit 12345678901234567890\0" at most
_LARGEST = 2 << 30  # bytes; git holds a loose object in memory, and may not use more


def is_true(file: int, object_id: str) -> bool:
    """Return whether the open loose object file, read from its beginning, is the object `object_id`.

    An object is named by the hash of "TYPE SIZE", a NUL and its content; the file holds that deflated. Reads no more
    than its header claims, so that what unpacks to terabytes is found false early.
    """
    digest = hashlib.sha1(usedforsecurity=False) if len(object_id) == 40 else hashlib.sha256()
    inflate = zlib.decompressobj()
    seen, size = b"", -1  # the header as far as it is known, then how much is still to come
    try:
        while not inflate.eof:
            packed = inflate.unconsumed_tail or os.read(file, _CHUNK)
            part = inflate.decompress(packed, _CHUNK)
            digest.update(part)
            if size < 0:
                seen += part
                size = _size(seen)
                part = seen.partition(b"\0")[2]
            if not packed and not part:
                return False  # it ends before it is whole
            size -= len(part)
            if size < 0:
                return False
    except (zlib.error, ValueError):
        return False
    return size == 0 and digest.hexdigest() == object_id


def is_true_content(file: int, sha256: str) -> bool:
    """Return whether the open file, read from its beginning, has this hash: Git LFS names content by it."""
    with open(file, "rb", closefd=False) as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == sha256


def _size(header: bytes) -> int:
    """Return the size that a header claims. Raises ValueError for what is no header."""
    words, ends, _ = header[:_HEADER_BYTES].partition(b"\0")
    kind, _, size = words.partition(b" ")
    if not ends or kind not in (b"blob", b"tree", b"commit", b"tag") or not size.isdigit() or int(size) > _LARGEST:
        raise ValueError(header[:_HEADER_BYTES])
    return int(size)
