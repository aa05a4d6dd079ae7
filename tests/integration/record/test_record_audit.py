"""The audit log proves itself whole: whatever is done to it afterwards is found and named."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from executor.errors import ConfigError, Unavailable
from executor.outcome import State
from executor.record import audit, controls, requests
from executor.record.anchor import AnchorFile
from executor.record.chain import BreakKind, Head
from executor.record.requests import NewRequest
from executor.record.store import Store
from executor.record.transitions import transition

Opener = Callable[..., Store]


@pytest.fixture
def log(store: Store, new: Callable[..., NewRequest]) -> Store:
    """A store whose log has twelve events, four of each of three requests' lives and a few others."""
    for number in range(3):
        with store.transaction() as tx:
            requests.insert_one(tx, new(f"r{number}"))
        with store.transaction() as tx:
            transition(tx, f"r{number}", State.QUEUED, State.RUNNING)
            tx.append("command.started", f"r{number}", {"argv": ["git", "status"], "n": number})
        with store.transaction() as tx:
            transition(tx, f"r{number}", State.RUNNING, State.SUCCEEDED, data={"exit_code": 0})
    return store


def _tamper(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def _found(store: Store) -> tuple[BreakKind, int] | None:
    found = audit.verify(store).found
    return (found.kind, found.seq) if found else None


def test_an_untouched_log_verifies_and_counts_its_progress(log: Store) -> None:
    steps: list[tuple[int, int]] = []
    verdict = audit.verify(log, progress=lambda done, of: steps.append((done, of)))

    assert verdict.ok
    assert (verdict.events, verdict.head.seq, steps) == (12, 12, [(12, 12)])


def test_an_empty_log_verifies(store: Store) -> None:
    assert audit.verify(store).ok


@pytest.mark.parametrize(
    "change",
    [
        "data='{}'",
        "kind='request.failed'",
        "at='2020-01-01T00:00:00.000000Z'",
        "request_id='r9'",
        "hash='" + "0" * 64 + "'",
    ],
)
def test_a_changed_event_is_found(log: Store, database: Path, change: str) -> None:
    _tamper(database, f"UPDATE events SET {change} WHERE seq=5")

    assert _found(log) == (BreakKind.CHANGED, 5)


def test_a_changed_last_event_is_found(log: Store, database: Path) -> None:
    _tamper(database, "UPDATE events SET data='{\"exit_code\":1}' WHERE seq=12")

    assert _found(log) == (BreakKind.CHANGED, 12)


@pytest.mark.parametrize("seq", [1, 7])
def test_a_removed_event_is_found(log: Store, database: Path, seq: int) -> None:
    _tamper(database, f"DELETE FROM events WHERE seq={seq}")

    assert _found(log) == (BreakKind.REMOVED, seq)


def test_a_removed_event_is_found_though_the_rest_was_renumbered(log: Store, database: Path) -> None:
    _tamper(database, "DELETE FROM events WHERE seq=7")
    for seq in range(8, 13):
        _tamper(database, f"UPDATE events SET seq={seq - 1} WHERE seq={seq}")

    assert _found(log) == (BreakKind.CHANGED, 7)


def test_exchanged_events_are_found(log: Store, database: Path) -> None:
    _tamper(
        database,
        "UPDATE events SET seq=99 WHERE seq=4",
        "UPDATE events SET seq=4 WHERE seq=6",
        "UPDATE events SET seq=6 WHERE seq=99",
    )

    assert _found(log) == (BreakKind.REORDERED, 4)


def test_an_event_put_in_without_the_key_is_found(log: Store, database: Path) -> None:
    _tamper(database, "INSERT INTO events SELECT host, 13, at, request_id, kind, data, hash FROM events WHERE seq=12")

    assert _found(log) == (BreakKind.CHANGED, 13)


def test_a_cut_end_is_found_even_without_the_anchor(log: Store, database: Path) -> None:
    _tamper(database, "DELETE FROM events WHERE seq>10")
    assert _found(log) == (BreakKind.CUT_OFF, 11)

    log.anchor.path.unlink()
    assert _found(log) == (BreakKind.ANCHOR_MISSING, 0)


def test_a_cut_end_is_found_though_the_anchor_was_written_anew_without_the_key(log: Store, database: Path) -> None:
    _tamper(database, "DELETE FROM events WHERE seq>10")
    with log.reading() as tx:
        shortened = audit.head(tx)
    AnchorFile(log.anchor.path, log.host, b"x" * 32).replace(shortened)

    assert _found(log) == (BreakKind.ANCHOR_FORGED, 0)


def test_an_anchor_of_rubbish_or_of_another_host_counts_as_forged(log: Store) -> None:
    with log.reading() as tx:
        head = audit.head(tx)
    for content in (b"", b"{}", b"null", b'{"seq":1}', b"\xff" * 600):
        log.anchor.path.write_bytes(content)
        assert _found(log) == (BreakKind.ANCHOR_FORGED, 0)
    AnchorFile(log.anchor.path, "other", log.key).replace(head)
    assert _found(log) == (BreakKind.ANCHOR_FORGED, 0)


def test_an_older_copy_of_the_database_is_found_at_start_and_after_it_went_on(
    log: Store, open_store: Opener, database: Path, tmp_path: Path
) -> None:
    log.close()
    copy = tmp_path / "copy.db"
    shutil.copy(database, copy)
    newer = open_store()
    with newer.transaction() as tx:
        tx.append("control.frozen")
    newer.close()
    shutil.copy(copy, database)
    restored = open_store()

    assert restored.anchor_problem is not None
    assert _found(restored) == (BreakKind.ROLLED_BACK, 13)
    for kind in ("x", "y", "z"):
        with restored.transaction() as tx:
            tx.append(kind)
    assert _found(restored) == (BreakKind.ROLLED_BACK, 13)


def test_an_older_copy_restored_together_with_its_anchor_shows_against_a_posted_end(
    log: Store, open_store: Opener, database: Path
) -> None:
    log.close()
    saved = {path: path.read_bytes() for path in (database, log.anchor.path)}
    newer = open_store()
    with newer.transaction() as tx:
        tx.append("x")
    with newer.reading() as tx:
        posted = audit.head(tx)
    newer.close()
    for path, content in saved.items():
        path.write_bytes(content)
    restored = open_store()

    assert audit.verify(restored).ok
    found = audit.verify(restored, posted=[posted]).found
    assert found is not None
    assert (found.kind, found.seq) == (BreakKind.ROLLED_BACK, 13)
    with restored.transaction() as tx:
        tx.append("another x")
    found = audit.verify(restored, posted=[posted]).found
    assert found is not None
    assert (found.kind, found.seq) == (BreakKind.ROLLED_BACK, 13)


def test_a_database_begun_anew_beside_an_old_anchor_is_found(log: Store, open_store: Opener, database: Path) -> None:
    log.close()
    for path in database.parent.glob("record.db*"):
        path.unlink()

    assert _found(open_store()) == (BreakKind.ROLLED_BACK, 1)


def test_an_operator_can_accept_a_restored_database_and_that_is_an_event(
    log: Store, open_store: Opener, database: Path
) -> None:
    log.close()
    saved = database.read_bytes()
    newer = open_store()
    with newer.transaction() as tx:
        tx.append("lost")
    newer.close()
    database.write_bytes(saved)
    restored = open_store()
    audit.accept(restored, "cli:ann", "restored the backup of Monday")

    assert audit.verify(restored).ok
    with restored.reading() as tx:
        event = audit.last_events(tx, 1)[0]
    assert (event.kind, event.data["by"]) == ("audit.accepted", "cli:ann")
    assert "older copy" in event.data["found"]
    with restored.transaction() as tx:
        tx.append("x")
    assert restored.anchor.read() == Head(14, audit.verify(restored).head.hash)


def test_the_anchor_never_goes_back(log: Store) -> None:
    high = log.anchor.read()
    assert high is not None
    log.anchor.raise_to(Head(3, "0" * 64))

    assert log.anchor.read() == high


def test_a_lost_anchor_does_not_hold_up_work_and_is_said(log: Store) -> None:
    log.anchor.path.unlink()
    with log.transaction() as tx:
        tx.append("x")

    assert log.anchor_problem is not None
    assert _found(log) == (BreakKind.ANCHOR_MISSING, 0)


def test_two_hosts_have_each_their_own_chain_in_one_database(log: Store, open_store: Opener, database: Path) -> None:
    other = open_store(host="cellar", key=b"c" * 32, anchor=database.with_name("cellar.anchor"))
    with other.transaction() as tx:
        tx.append("x")
        controls.freeze(tx, "flood", "cli:ann")

    assert audit.verify(other).events == 2
    assert audit.verify(log).events == 12
    with log.reading() as tx:
        assert controls.frozen(tx) is None


def test_events_are_masked_before_they_are_sealed(store: Store) -> None:
    with store.transaction() as tx:
        tx.append("x", "r", {"argv": ["git", "fetch", "https://u:secret1@h/"], "nested": {"password": "abc"}})
    with store.reading() as tx:
        event = audit.last_events(tx, 1)[0]

    assert event.data == {"argv": ["git", "fetch", "https://***@h/"], "nested": {"password": "***"}}
    assert audit.verify(store).ok


def test_the_key_is_made_once_for_our_eyes_only_and_then_kept(tmp_path: Path) -> None:
    path = tmp_path / "audit.key"
    key = audit.load_or_create_key(path)

    assert len(key) == 32
    assert audit.load_or_create_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["audit.key"]


def test_a_key_that_others_can_read_or_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.key"
    audit.load_or_create_key(path)
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        audit.load_or_create_key(path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(ConfigError, match="32 bytes"):
        audit.load_or_create_key(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(Unavailable):
        audit.load_or_create_key(link)


def test_a_log_cannot_be_continued_with_another_key(log: Store, open_store: Opener) -> None:
    with pytest.raises(ConfigError) as caught:
        open_store(key=b"z" * 32)

    assert caught.value.code == "audit_key_changed"


def test_freezing_holds_over_a_restart_and_both_ways_are_events(store: Store, open_store: Opener) -> None:
    with store.transaction() as tx:
        first = controls.freeze(tx, "flood of pushes", "telegram:1")
        again = controls.freeze(tx, "another", "telegram:2")
    store.close()
    reopened = open_store()
    with reopened.transaction() as tx:
        held = controls.frozen(tx)
        thawed = (controls.unfreeze(tx, "cli:ann"), controls.unfreeze(tx, "cli:ann"))

    assert first == again == held
    assert thawed == (True, False)
    with reopened.reading() as tx:
        assert controls.frozen(tx) is None
        assert [event.kind for event in audit.last_events(tx, 5)] == ["control.frozen", "control.unfrozen"]


def test_a_long_message_costs_the_log_little_and_is_whole_in_its_request(
    store: Store, new: Callable[..., NewRequest]
) -> None:
    message = "x y" * 20_000
    with store.transaction() as tx:
        requests.insert_one(tx, new("long", text=message, reason=message, argv=("git", "commit", "-m", message)))
    with store.reading() as tx:
        [event] = audit.events_of(tx, "long")
        row = requests.get(tx, "long")

    assert len(str(dict(event.data))) < 6_000
    assert row is not None
    assert (row.text, row.argv[-1]) == (message, message)
    assert audit.verify(store).ok
