"""Which file names take a request back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.protocol.names import parse_name, withdrawn_id


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True))
def test_a_request_is_taken_back_by_its_id(request_id: str) -> None:
    name = f"{request_id}.withdraw".encode()

    assert withdrawn_id(name) == request_id
    assert parse_name(name) is None


@pytest.mark.parametrize(
    "name",
    [b"", b".withdraw", b"42", b"42.withdraw\n", b"42.WITHDRAW", b"../42.withdraw", b"-x.withdraw", b"a.b.withdraw"],
)
def test_what_only_looks_like_it_is_passed_over(name: bytes) -> None:
    assert withdrawn_id(name) is None


@given(st.binary(max_size=80))
def test_no_name_is_both_a_request_and_its_withdrawal(name: bytes) -> None:
    assert parse_name(name) is None or withdrawn_id(name) is None
