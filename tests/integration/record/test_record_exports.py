"""Exports resume where they stopped, survive a torn line, never mix two logs; old bulk is dropped, events stay."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from executor.errors import Failed, Unavailable
from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record import approvals, audit, exports, requests, retention
from executor.record.chain import GENESIS, event_hash
from executor.record.requests import NewRequest
from executor.record.schema import canonical_json, timestamp
from executor.record.store import Store
from executor.record.transitions import transition


def _append(store: Store, count: int) -> None:
    with store.transaction() as tx:
        for number in range(count):
            tx.append("x", "r", {"n": number, "text": "é\u202e"})


def _exported(path: Path) -> list[int]:
    return [json.loads(line)["seq"] for line in path.read_bytes().splitlines()]


def test_an_export_continues_after_the_last_event_it_holds(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    added = [exports.export_jsonl(store, path)]
    for count in (3, 1500, 0):
        _append(store, count)
        added.append(exports.export_jsonl(store, path))

    assert added == [0, 3, 1500, 0]
    assert _exported(path) == list(range(1, 1504))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("torn", [1, 30, 120])
def test_a_torn_last_line_is_replaced_by_the_whole_one(store: Store, tmp_path: Path, torn: int) -> None:
    path = tmp_path / "audit.jsonl"
    _append(store, 3)
    exports.export_jsonl(store, path)
    whole = path.read_bytes()
    for lines_kept in (0, 2):
        kept = b"".join(whole.splitlines(keepends=True)[:lines_kept])
        path.write_bytes(whole[: len(kept) + torn])
        exports.export_jsonl(store, path)
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content", [b"hello", b"hello\n", b'{"seq":1}\n', b'{"seq":1,"hash":"x"}\n', b'{"seq":99,"hash":"x"}\n']
)
def test_a_file_that_is_not_an_export_of_this_log_is_left_alone(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(content)
    _append(store, 2)

    with pytest.raises(Failed):
        exports.export_jsonl(store, path)
    assert path.read_bytes() == content


def test_an_export_that_cannot_be_written_is_unavailable(store: Store, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "nowhere" / "x", tmp_path / "link", tmp_path):
        with pytest.raises(Unavailable):
            exports.export_jsonl(store, path)


def test_the_chain_can_be_checked_from_the_export_alone(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    _append(store, 5)
    exports.export_jsonl(store, path)
    before = GENESIS
    for line in path.read_text().splitlines():
        e = json.loads(line)
        row = (e["seq"], e["at"], e["host"], e["request_id"], e["kind"])
        assert event_hash(store.key, before, row, canonical_json(e["data"])) == e["hash"]
        before = e["hash"]


def test_text_lines_are_one_a_line_in_order_with_what_hides_written_out(store: Store) -> None:
    with store.transaction() as tx:
        tx.append(
            "request.queued", "fix-1", {"argv": ["git", "log"], "class": "read", "reason": "a\nb\x1b\u202e ⟨ =x"}
        )
        tx.append("control.frozen")
    lines = exports.lines_since(store, 0)

    assert lines == [
        (
            1,
            '2026-01-31T12:00:00.000000Z #1 fix-1 request.queued argv=["git", "log"] class=read '
            'reason="a\\nb\\u001b⟨U+202E⟩ ⟨U+27E8⟩ =x"',
        ),
        (2, "2026-01-31T12:00:00.000000Z #2 - control.frozen"),
    ]
    assert exports.lines_since(store, 1, 5) == lines[1:]
    assert exports.lines_since(store, 2) == []


def test_old_bulk_goes_first_then_old_requests_with_their_approvals_and_events_stay(
    store: Store, new: Callable[..., NewRequest], clock: Any
) -> None:
    def run(request_id: str) -> None:
        with store.transaction() as tx:
            requests.insert_one(tx, new(request_id, text="body", state=State.AWAITING_APPROVAL))
            approvals.create(
                tx, request_id, digest="d", risk=RiskClass.FORCE, reasons=(), quorum=1, shown={},
                expires_at=timestamp(clock() + timedelta(hours=1)),
            )  # fmt: skip
            approvals.vote(tx, f"{request_id}.1", "cli:ann", approvals.Verdict.APPROVE, "", "d")
            transition(tx, request_id, State.QUEUED, State.RUNNING)
            transition(tx, request_id, State.RUNNING, State.SUCCEEDED, output="o" * 1000, result={"exit_code": 0})

    run("oldest")
    clock.move(days=20)
    run("old")
    with store.transaction() as tx:
        requests.insert_one(tx, new("open", text="body"))
    clock.move(days=20)
    run("fresh")
    before = audit.verify(store).events
    now = clock()
    pruned = retention.prune(store, bulk_before=now - timedelta(days=10), rows_before=now - timedelta(days=30))

    assert (pruned.thinned, pruned.removed) == (1, 1)
    with store.reading() as tx:
        kept = {row.id: (row.text, row.output, row.result) for row in requests.recent(tx, 10)}
        assert approvals.get(tx, "oldest.1") is None
        assert approvals.get(tx, "old.1") is not None
        assert audit.events_of(tx, "oldest")
    assert kept == {
        "fresh": ("body", "o" * 1000, {"exit_code": 0}),
        "open": ("body", None, None),
        "old": ("", None, {"exit_code": 0}),
    }
    assert audit.verify(store).events == before + 1
    assert (
        retention.prune(store, bulk_before=now - timedelta(days=10), rows_before=now - timedelta(days=30)).thinned
        == 0
    )
    assert audit.verify(store).events == before + 1


def test_space_of_removed_requests_is_given_back(
    store: Store, new: Callable[..., NewRequest], clock: Any, database: Path
) -> None:
    with store.transaction() as tx:
        requests.insert_many(tx, [new(f"r{n}", state=State.REFUSED, output="o" * 100_000) for n in range(40)])
    clock.move(days=1)
    store.compact()
    large = database.stat().st_size
    retention.prune(store, bulk_before=clock(), rows_before=clock())

    assert large > 4_000_000
    assert database.stat().st_size < 1_000_000
