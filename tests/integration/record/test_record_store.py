"""The store: private, shared by threads and processes, all or nothing, and plain about what is wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from executor.errors import ConfigError, Unavailable
from executor.outcome import State
from executor.record import audit, cards, requests, sqlite
from executor.record.requests import NewRequest
from executor.record.store import Store
from executor.record.transitions import transition

Opener = Callable[..., Store]
New = Callable[..., NewRequest]


def test_g05_every_file_of_the_record_is_for_our_eyes_only(store: Store, database: Path, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.parent.iterdir()}

    assert set(modes.values()) == {0o600}
    assert {"record.db", "record.db-wal", "audit.anchor"} <= set(modes)


def test_g05_a_record_that_others_could_read_is_closed_to_them(open_store: Opener, database: Path) -> None:
    database.touch(0o644)
    open_store()

    assert stat.S_IMODE(database.stat().st_mode) == 0o600


def test_what_a_block_that_raises_did_and_told_is_undone(store: Store, new: New) -> None:
    with pytest.raises(RuntimeError, match="oops"), store.transaction() as tx:
        requests.insert_one(tx, new("a"))
        raise RuntimeError("oops")
    with store.reading() as tx:
        assert requests.get(tx, "a") is None
        assert audit.last_events(tx, 5) == []
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
    assert audit.verify(store).ok


def test_a_reader_neither_waits_for_a_writer_nor_sees_half_of_its_work(store: Store, new: New) -> None:
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
        with store.reading() as view:
            assert requests.get(view, "a") is None
    with store.reading() as view:
        assert requests.get(view, "a") is not None


def test_whoever_follows_the_log_is_told_when_it_has_grown_and_of_nothing_else(store: Store) -> None:
    seen: list[int] = []
    store.told = lambda: seen.append(last_event(store))
    with store.transaction() as tx:
        cards.note(tx, "day", "2026-05-01")
    with pytest.raises(ValueError, match="undone"), store.transaction() as tx:
        tx.append("chat.lost")
        raise ValueError("undone")
    before = last_event(store)
    assert seen == []
    with store.transaction() as tx:
        tx.append("chat.joined")
    assert seen == [before + 1]


def last_event(store: Store) -> int:
    with store.reading() as view:
        return audit.head(view).seq


def test_transactions_do_not_nest(store: Store) -> None:
    with pytest.raises(RuntimeError, match="nest"), store.transaction(), store.transaction():
        pass
    with store.transaction() as tx:
        tx.append("still works")


def test_threads_append_one_unbroken_chain(store: Store) -> None:
    def append() -> None:
        for _ in range(40):
            with store.transaction() as tx:
                tx.append("x", "r", {"thread": threading.get_ident()})

    threads = [threading.Thread(target=append) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert audit.verify(store).events == 200
    assert store.anchor.read() == audit.verify(store).head


_APPENDER = """
import sys
from executor.record.store import Store
store = Store.open(sys.argv[1], host="kitchen", key=b"k" * 32)
for number in range(60):
    with store.transaction() as tx:
        tx.append("x", sys.argv[2], {"n": number})
"""


def test_processes_that_begin_a_record_at_once_share_one_unbroken_chain(open_store: Opener, database: Path) -> None:
    command = [sys.executable, "-c", _APPENDER, f"sqlite:///{database}"]
    children = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]

    assert [child.wait(120) for child in children] == [0, 0, 0]
    store = open_store()
    verdict = audit.verify(store)
    assert (verdict.ok, verdict.events) == (True, 180)
    assert store.anchor.read() == verdict.head


def test_a_record_of_a_newer_version_is_left_alone(store: Store, open_store: Opener, database: Path) -> None:
    store.close()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE marks SET value='2' WHERE name='schema'")
        connection.execute("DROP TABLE controls")
    with pytest.raises(ConfigError) as caught:
        open_store()

    assert caught.value.code == "record_newer"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name='controls'").fetchone() == (0,)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "nonsense", "mysql://h/x", "what://h/x"])
def test_an_address_that_cannot_hold_the_record_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        Store.open(url, host="kitchen", key=b"k" * 32)


def test_a_password_in_a_refused_address_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        Store.open("mysql://u:hunter2@h/x", host="kitchen", key=b"k" * 32)

    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_database_is_said_in_plain_words(open_store: Opener, database: Path) -> None:
    database.write_bytes(b"this is no database at all, but long enough to be taken for one" * 20)
    with pytest.raises(Unavailable, match="not a database") as caught:
        open_store()

    assert caught.value.code == "record_unwritable"
    assert caught.value.hint


def test_a_missing_directory_or_a_link_in_place_of_the_record_is_unavailable(
    open_store: Opener, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable):
        open_store(path=tmp_path / "nowhere" / "record.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(Unavailable):
        open_store(path=tmp_path / "link.db")
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_record_that_another_process_holds_is_unavailable_and_then_works_again(
    store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()  # connections made from now on do not wait long
    monkeypatch.setattr(sqlite, "_PRAGMAS", (*sqlite._PRAGMAS, "PRAGMA busy_timeout=1"))
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="another process"), store.transaction():
            pass
        other.execute("ROLLBACK")
    with store.transaction() as tx:
        tx.append("x")


def test_a_mistake_in_our_own_sql_is_a_bug_and_not_a_problem_of_the_disk(store: Store) -> None:
    with pytest.raises(DBAPIError), store.transaction() as tx:
        tx.connection.exec_driver_sql("SELEC")
    with pytest.raises(DBAPIError), store.transaction() as tx:
        tx.connection.exec_driver_sql("INSERT INTO marks VALUES ('schema', '1')")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.needs("root")
def test_g08_a_full_disk_stops_work_with_nothing_half_done_and_work_goes_on_once_there_is_space(
    small_disk: Path, open_store: Opener, new: New
) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"\0" * 300_000)
    store = open_store(path=small_disk / "record.db")
    recorded = 0
    with pytest.raises(Unavailable, match="full") as caught:
        while True:
            with store.transaction() as tx:
                requests.insert_many(tx, [new(f"r{recorded + n}", text="x" * 2000) for n in range(5)])
            recorded += 5

    assert caught.value.code == "record_unwritable"
    with store.reading() as tx:
        assert len(requests.recent(tx, 10_000)) == recorded > 0
    assert audit.verify(store).events == recorded
    filler.unlink()
    with store.transaction() as tx:
        requests.insert_one(tx, new("after"))
    assert audit.verify(store).events == recorded + 1


@pytest.mark.needs("root")
def test_a_disk_that_became_read_only_stops_work(small_disk: Path, open_store: Opener, new: New) -> None:
    store = open_store(path=small_disk / "record.db")
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    with pytest.raises(Unavailable) as caught, store.transaction() as tx:
        requests.insert_one(tx, new("a"))
    assert caught.value.code == "record_unwritable"
    with pytest.raises(Unavailable):
        open_store(path=small_disk / "record.db")


_WORKER = """
import sys
from executor.outcome import State
from executor.policy.model import Operation
from executor.record.forms import Form
from executor.record.requests import NewRequest, insert_many, next_due
from executor.record.store import Store
from executor.record.transitions import transition
store = Store.open(sys.argv[1], host="kitchen", key=b"k" * 32)
step = 0
while True:
    step += 1
    with store.transaction() as tx:
        insert_many(tx, [
            NewRequest(id=f"{sys.argv[2]}-{step}-{n}", operation=Operation.GIT_STATUS, repo="main", form=Form.FLAG,
                       text="", identity=f"{sys.argv[2]}-{step}-{n}", state=State.QUEUED)
            for n in range(3)
        ])
    while True:
        with store.transaction() as tx:
            rows = next_due(tx, "main")
            if not rows:
                break
            transition(tx, rows[0].id, State.QUEUED, State.RUNNING)
        print(step, flush=True)
        with store.transaction() as tx:
            transition(tx, rows[0].id, State.RUNNING, State.SUCCEEDED, data={"exit_code": 0}, output="done")
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_log_and_states_that_agree_with_it(
    open_store: Opener, database: Path
) -> None:
    for round_number in range(8):
        command = [sys.executable, "-c", _WORKER, f"sqlite:///{database}", f"w{round_number}"]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert worker.stdout is not None
        for _ in range(3 + 7 * round_number):
            worker.stdout.readline()
        worker.kill()
        worker.wait()
        worker.stdout.close()

    store = open_store()
    assert audit.verify(store).ok
    with store.reading() as tx:
        rows = requests.recent(tx, 10_000)
        latest = {row.id: audit.events_of(tx, row.id)[-1] for row in rows}
    assert len(rows) > 8
    for row in rows:
        assert (latest[row.id].kind, latest[row.id].seq) == (f"request.{row.state}", row.event_seq)
    assert sum(row.state is State.RUNNING for row in rows) <= 8


def test_an_error_while_the_anchor_is_written_does_not_undo_what_was_committed(store: Store, new: New) -> None:
    os.truncate(store.anchor.path, 0)
    with store.transaction() as tx:
        requests.insert_one(tx, new("a"))
        transition(tx, "a", State.QUEUED, State.RUNNING)

    with store.reading() as tx:
        row = requests.get(tx, "a")
    assert row is not None
    assert row.state is State.RUNNING
    assert store.anchor_problem is not None
