"""The agent's side against a real gateway: each end is told apart, and nothing is asked where nobody serves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hostops
import pytest
from hostops import HostOps, HostOpsError, Result
from other_account import become
from programs import until
from served_host import ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

WAIT = 120.0  # s; a busy machine is slow, an answer ends it at once


@pytest.fixture(scope="module")
def ops(host: ServedHost) -> HostOps:
    return HostOps(host.shared)


@contextmanager
def deciding(host: ServedHost, request_id: str, *words: str) -> Iterator[None]:
    """An operator who decides as soon as they are asked, while the agent waits."""

    def decide() -> None:
        host.in_state(request_id, "awaiting_approval")
        host.ok(words[0], request_id, *words[1:])

    operator = threading.Thread(target=decide)
    operator.start()
    yield
    operator.join()


def command(shared: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the file as an agent does: by itself, with nothing of the project to be imported."""
    return subprocess.run(
        [sys.executable, "-I", hostops.__file__, *words],
        env={"PATH": "/usr/bin:/bin", "HOSTOPS_SHARED": str(shared)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=WAIT,
    )


def beat(shared: Path, *, age: float = 0.0, heartbeat_at: str = "2025-11-30T16:34:00.000Z") -> None:
    """Leave a gateway.json whose file is `age` seconds old."""
    path = shared / "gateway.json"
    path.write_text(json.dumps({"protocol": 1, "heartbeat_at": heartbeat_at, "operations": {}, "repositories": []}))
    os.utime(path, (time.time() - age, time.time() - age))


def write_result(shared: Path, request_id: str, state: str) -> None:
    """Leave an answer as the gateway would."""
    (shared / "results").mkdir(exist_ok=True)
    found = {"id": request_id, "operation": "git_cmd", "state": state}
    (shared / "results" / f"{request_id}.json").write_text(json.dumps(found))


def outcome_of(what: Any, *words: Any, **more: Any) -> str:
    with pytest.raises(HostOpsError) as said:
        what(*words, **more)
    return said.value.outcome


# --- asking and waiting


def test_a_change_from_edit_to_push_is_asked_for_and_its_effect_told(host: ServedHost, ops: HostOps) -> None:
    (host.tree() / "whole.txt").write_text("whole\n")

    assert "whole.txt" in ops.request("git_status", wait=WAIT).data["output"]
    assert ops.request("git_add", "whole.txt", wait=WAIT).ok
    assert ops.request("git_commit", "A whole change\n\nWith a body.", wait=WAIT).ok
    pushed = ops.request("git_push", "main", reason="it is done", wait=WAIT)
    assert (pushed.outcome, pushed.exit_code) == ("succeeded", 0)
    assert "effect=True" in pushed.text()
    assert host.tip() == host.git("rev-parse", "main")


def test_who_does_not_wait_is_told_so_and_can_wait_later(host: ServedHost, ops: HostOps) -> None:
    asked = ops.request("git_status")

    assert (asked.outcome, asked.exit_code) == ("waiting", 10)
    assert ops.wait(asked.id, WAIT).ok
    assert ops.result(asked.id).ok


def test_a_wait_that_runs_out_says_that_the_request_stands(host: ServedHost, ops: HostOps) -> None:
    waiting = ops.request("git_cmd", "git tag v-later", request_id="later", wait=0.0)
    host.in_state("later", "awaiting_approval")

    assert waiting.outcome == "waiting"
    assert "operator" in ops.wait("later", 0.1).text()
    assert ops.cancel("later", WAIT).outcome == "withdrawn"


def test_a_yes_of_an_operator_ends_the_waiting(host: ServedHost, ops: HostOps) -> None:
    with deciding(host, "agreed", "approve"):
        assert ops.request("git_cmd", "git tag v-agreed", request_id="agreed", wait=WAIT).ok
    assert "v-agreed" in host.git("tag").split()


def test_a_no_of_an_operator_arrives_with_its_reason(host: ServedHost, ops: HostOps) -> None:
    with deciding(host, "declined", "deny", "--reason", "not before Monday"):
        found = ops.request("git_cmd", "tag", "v-declined", request_id="declined", wait=WAIT)

    assert (found.outcome, found.exit_code) == ("denied", 4)
    assert "not before Monday" in found.text()


def test_a_refusal_and_a_failure_are_told_apart_with_the_gateways_hint(host: ServedHost, ops: HostOps) -> None:
    refused = ops.request("git_cmd", "git log --output=/etc/passwd", wait=WAIT)
    failed = ops.request("git_cmd", "git show no-such-thing", wait=WAIT)

    assert (refused.outcome, refused.exit_code) == ("refused", 3)
    assert refused.error["code"] in refused.text()
    assert not failed.ok
    assert failed.next


@pytest.mark.parametrize(("line", "answer"), [("git log", "run"), ("git tag v-dry", "ask"), ("git daemon", "refuse")])
def test_a_dry_run_tells_what_would_happen(host: ServedHost, ops: HostOps, line: str, answer: str) -> None:
    found = ops.request("git_cmd", line, dry_run=True, wait=WAIT)

    assert found.data["decision"]["answer"] == answer
    assert found.ok is (answer != "refuse")
    assert "v-dry" not in host.git("tag").split()


def test_an_id_of_ones_own_runs_once_however_often_it_is_asked(host: ServedHost, ops: HostOps) -> None:
    def ask() -> Result:
        return ops.request("git_cmd", "git log -1", request_id="again", wait=WAIT)

    assert ask().data["finished_at"] == ask().data["finished_at"]
    assert host.kinds("again").count("request.running") == 1


def test_an_id_that_belongs_to_something_else_is_refused_and_its_answer_stays(host: ServedHost, ops: HostOps) -> None:
    assert ops.request("git_cmd", "git log -2", request_id="taken", wait=WAIT).ok

    second = ops.request("git_cmd", "git log -3", request_id="taken", wait=WAIT)
    assert (second.outcome, second.error["code"]) == ("refused", "id_reused")
    assert "output" not in second.text()
    assert ops.result("taken").ok


def test_a_request_that_was_raised_as_a_plain_flag_can_be_waited_for(tmp_path: Path) -> None:
    beat(tmp_path)
    (tmp_path / "git_status.by-hand.flag").touch()

    assert HostOps(tmp_path).wait("by-hand", 0.0).outcome == "waiting"


# --- taking back


def test_what_waits_can_be_taken_back_and_what_has_ended_cannot(host: ServedHost, ops: HostOps) -> None:
    host.asked("unwanted", "git tag v-unwanted")
    done = ops.request("git_status", wait=WAIT)

    assert (ops.cancel("unwanted", WAIT).exit_code, ops.cancel(done.id).exit_code) == (9, 0)
    assert "v-unwanted" not in host.git("tag").split()


def test_what_no_gateway_has_taken_yet_is_taken_back_without_one(tmp_path: Path) -> None:
    beat(tmp_path)
    ops = HostOps(tmp_path)
    asked = ops.request("git_status")
    beat(tmp_path, age=3600)

    assert ops.cancel(asked.id).outcome == "withdrawn"
    assert [path.name for path in tmp_path.iterdir()] == ["gateway.json"]


def test_who_may_not_take_back_more_is_told_that_it_still_waits(tmp_path: Path) -> None:
    beat(tmp_path)
    write_result(tmp_path, "held", "awaiting_approval")
    found = HostOps(tmp_path).cancel("held", 0.1)

    assert (tmp_path / "held.withdraw").exists()
    assert (found.outcome, "not taken back yet" in found.text()) == ("waiting", True)


def test_what_somebody_else_asked_for_is_not_taken_back_and_that_is_said(host: ServedHost, ops: HostOps) -> None:
    write_result(host.shared, "operator-1", "awaiting_approval")

    assert "not asked for from here" in ops.cancel("operator-1", 3.0).text()
    (host.shared / "results" / "operator-1.json").unlink()


# --- where nobody serves


def test_nothing_is_asked_where_a_gateway_never_ran(tmp_path: Path) -> None:
    assert outcome_of(HostOps(tmp_path).request, "git_status", wait=WAIT) == "gateway_away"
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_asked_of_a_gateway_that_gave_no_sign_of_life_for_minutes(tmp_path: Path) -> None:
    beat(tmp_path, age=hostops.STALE + 60)

    assert outcome_of(HostOps(tmp_path).request, "git_status", wait=WAIT) == "gateway_away"


def test_d10_a_gateway_whose_clock_is_hours_apart_is_alive_while_its_file_is_fresh(tmp_path: Path) -> None:
    beat(tmp_path, heartbeat_at="2001-01-01T00:00:00.000Z")

    assert HostOps(tmp_path).request("git_status").outcome == "waiting"


def test_a_gateway_that_goes_away_meanwhile_is_noticed_and_the_request_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostops, "PULSE", 0.05)
    beat(tmp_path)
    ops = HostOps(tmp_path)
    asked = ops.request("git_status")
    beat(tmp_path, age=3600)

    assert outcome_of(ops.wait, asked.id, WAIT) == "gateway_away"
    assert (tmp_path / f"{asked.id}.request.json").exists()


def test_who_begins_to_wait_when_the_gateway_is_away_is_told_so_at_once(tmp_path: Path) -> None:
    beat(tmp_path, age=3600)
    write_result(tmp_path, "asked-before", "awaiting_approval")
    write_result(tmp_path, "done-before", "succeeded")

    assert outcome_of(HostOps(tmp_path).wait, "asked-before", WAIT) == "gateway_away"
    assert HostOps(tmp_path).wait("done-before", WAIT).ok


def test_d11_a_shared_directory_that_is_missing_or_no_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert outcome_of(HostOps(tmp_path / "nothing").request, "git_status") == "unusable"
    assert outcome_of(HostOps(tmp_path / "file").request, "git_status") == "unusable"
    assert outcome_of(HostOps(tmp_path / "nothing").capabilities) == "unusable"
    assert outcome_of(HostOps(tmp_path / "nothing").wait, "some-id", 0.0) == "unusable"


@pytest.mark.needs("unprivileged-user")
def test_d11_a_shared_directory_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    beat(tmp_path)
    asks = [sys.executable, "-I", hostops.__file__, "request", "git_status", "--shared", str(tmp_path), "--wait"]
    done = subprocess.run([*become(4242), *asks], capture_output=True, text=True, timeout=WAIT)

    assert done.returncode == 13, done.stderr
    assert "Permission denied" in done.stdout


# --- what is written


def test_a_request_is_readable_for_the_gateway_whatever_the_umask_of_the_agent(tmp_path: Path) -> None:
    beat(tmp_path)
    before = os.umask(0o077)
    try:
        asked = HostOps(tmp_path).request("git_status")
    finally:
        os.umask(before)

    written = tmp_path / f"{asked.id}.request.json"
    assert written.stat().st_mode & 0o777 == 0o644
    assert {path.name for path in tmp_path.iterdir()} == {"gateway.json", written.name}


def test_d02_a_request_is_never_seen_half_written(tmp_path: Path) -> None:
    beat(tmp_path)
    torn: list[str] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            for path in tmp_path.glob("*.request.json"):
                try:
                    json.loads(path.read_text())
                except ValueError as error:
                    torn.append(str(error))

    watcher = threading.Thread(target=look)
    watcher.start()
    for number in range(200):
        HostOps(tmp_path).request("git_commit", "x" * 50_000, request_id=f"n{number % 3}")
    done.set()
    watcher.join()

    assert torn == []


@pytest.mark.parametrize("bad", ["../etc/passwd", "", "a.b", "-x", "x" * 65, "a\n"])
def test_what_is_no_id_never_becomes_a_path(tmp_path: Path, bad: str) -> None:
    beat(tmp_path)

    assert outcome_of(HostOps(tmp_path).result, bad) == "usage"
    assert outcome_of(HostOps(tmp_path).cancel, bad) == "usage"


def test_an_answer_that_is_no_answer_is_waited_out(tmp_path: Path) -> None:
    beat(tmp_path)
    (tmp_path / "results").mkdir()
    ops = HostOps(tmp_path)
    asked = ops.request("git_status")
    for nonsense in ("", "[]", "{", '"text"', "null"):
        (tmp_path / "results" / f"{asked.id}.json").write_text(nonsense)
        assert ops.wait(asked.id, 0.0).outcome == "waiting"


# --- the command


def test_the_command_says_the_outcome_by_text_exit_code_and_json(host: ServedHost) -> None:
    told = command(host.shared, "request", "git_cmd", "--wait", "90", "--", "log", "--oneline", "-1")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("succeeded: git_cmd (id cmd-")

    as_json = command(host.shared, "request", "git_cmd", "git daemon", "--wait", "90", "--json")
    found = json.loads(as_json.stdout)
    assert (as_json.returncode, found["outcome"], found["exit_code"]) == (3, "refused", 3)
    assert found["result"]["error"]["code"] == "unknown_command"


def test_the_command_takes_a_message_from_its_input_and_words_after_options(host: ServedHost) -> None:
    (host.tree() / "stdin.txt").write_text("stdin\n")
    assert command(host.shared, "request", "git_add", "--wait", "90", "--reason", "new", "stdin.txt").returncode == 0
    done = command(host.shared, "request", "git_commit", "-", "--wait", "90", stdin="Subject\n\n`body` $x\n")

    assert done.returncode == 0, done.stdout
    assert host.git("log", "-1", "--format=%B").strip() == "Subject\n\n`body` $x"


def test_who_is_killed_while_waiting_has_been_told_the_id(host: ServedHost) -> None:
    asked = command(host.shared, "request", "git_cmd", "git tag v-impatient", "--wait", "0.1")

    [own] = re.findall(r"^asking as (cmd-\w+)$", asked.stderr, re.MULTILINE)
    assert f"(id {own})" in asked.stdout
    assert command(host.shared, "cancel", own).returncode == 9


@pytest.mark.parametrize("locale", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}])
def test_text_that_is_no_utf_8_or_cannot_be_printed_ends_in_words(tmp_path: Path, locale: dict[str, str]) -> None:
    beat(tmp_path)
    write_result(tmp_path, "snow", "failed")
    answer = tmp_path / "results" / "snow.json"
    answer.write_text(json.dumps({**json.loads(answer.read_text()), "output": "\u2603"}))

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, hostops.__file__, *words, "--shared", str(tmp_path)],
            env={"PATH": "/usr/bin:/bin", **locale}, input=b"\xff\xfe", capture_output=True, timeout=WAIT,
        )  # fmt: skip

    assert run("result", "snow").returncode == 1
    told = run("request", "git_commit", "-")
    assert (told.returncode, b"not UTF-8" in told.stdout) == (2, True)


def test_the_command_explains_takes_back_and_waits(host: ServedHost) -> None:
    explained = command(host.shared, "explain", "git_cmd", "git tag v-explained")
    assert (explained.returncode, "operators would be asked" in explained.stdout) == (0, True)
    asked = command(host.shared, "request", "git_cmd", "git tag v-taken-back", "--id", "taken-back")
    assert asked.returncode == 10
    host.in_state("taken-back", "awaiting_approval")
    assert command(host.shared, "cancel", "taken-back").returncode == 9
    assert command(host.shared, "wait", "taken-back").returncode == 9
    assert command(host.shared, "result", "never-asked").returncode == 12


def test_the_command_tells_what_the_host_offers(host: ServedHost, tmp_path: Path) -> None:
    until(lambda: (host.shared / "gateway.json").exists(), "gateway.json")
    offered = command(host.shared, "capabilities")

    assert offered.returncode == 0
    assert "git_push: depends" in offered.stdout
    assert "repositories (the default one first): shop" in offered.stdout
    assert command(tmp_path, "capabilities").returncode == 11


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("ask",),
        ("request",),
        ("request", "git_commit", "two", "words"),
        ("request", "git_cmd", "log", "--oneline"),
        ("wait", "a/b"),
        ("wait", "a", "nan"),
        ("wait", "a", "-1"),
        ("result", "a", "b"),
    ],
)
def test_a_command_line_that_is_none_asks_for_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    beat(tmp_path)

    assert command(tmp_path, *words).returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["gateway.json"]


ANCESTOR = """
import time
from pathlib import Path
Path("git_add.flag").write_text(".")
time.sleep(0.5)
Path("git_commit.flag").write_text("By the old script")
"""


def test_a_script_written_for_the_ancestor_works_unchanged(host: ServedHost) -> None:
    """It knows flags, a pause and nothing else."""
    (host.tree() / "old.txt").write_text("old\n")
    subprocess.run([sys.executable, "-I", "-c", ANCESTOR], cwd=host.shared, check=True)

    until(lambda: host.git("log", "-1", "--format=%s") == "By the old script", "the commit")
    assert "old.txt" in host.git("show", "--name-only", "--format=")
