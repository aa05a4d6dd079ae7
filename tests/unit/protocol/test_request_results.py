"""What the agent reads about its request, and what it never reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from executor.errors import Failed, Refused
from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.protocol.capabilities import Needs, OperationView, capabilities
from executor.protocol.results import (
    OUTPUT_LIMIT,
    ApprovalView,
    DecisionView,
    build_result,
    cap,
    one_line,
    showable,
)

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are slow at times
MOMENT = datetime(2025, 11, 30, 16, 34, 5, 120_000, tzinfo=UTC)

KEYS = [
    "protocol",
    "id",
    "operation",
    "repo",
    "state",
    "class",
    "argv",
    "exit_code",
    "output",
    "truncated",
    "error",
    "approval",
    "verified",
    "received_at",
    "started_at",
    "finished_at",
]


def mask(text: str) -> str:
    return text.replace("hunter2", "***")


def published(**values: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "id": "7",
        "operation": Operation.GIT_PUSH,
        "repo": "web",
        "state": State.SUCCEEDED,
        "received_at": MOMENT,
    }
    result: dict[str, Any] = json.loads(build_result(mask, **{**base, **values}).to_json())
    return result


def test_a_result_always_has_every_key_of_the_protocol_in_its_order() -> None:
    assert list(published()) == KEYS


def test_the_parts_of_a_finished_request_are_said_as_they_are() -> None:
    result = published(
        risk=RiskClass.PUBLISH,
        argv=("git", "push", "origin", "main"),
        exit_code=0,
        output="done\n",
        verified={"effect": True, "commits": ["abc"]},
        started_at=MOMENT,
        finished_at=MOMENT + timedelta(seconds=2),
    )

    assert result["protocol"] == 1
    assert (result["operation"], result["state"], result["class"]) == ("git_push", "succeeded", "publish")
    assert (result["argv"], result["exit_code"], result["output"]) == (["git", "push", "origin", "main"], 0, "done\n")
    assert result["verified"] == {"effect": True, "commits": ["abc"]}
    assert (result["error"], result["truncated"]) == (None, False)
    assert result["finished_at"] == "2025-11-30T16:34:07.120Z"


def test_times_are_utc_wherever_the_host_is() -> None:
    tokyo = MOMENT.astimezone(timezone(timedelta(hours=9)))

    assert published(received_at=tokyo)["received_at"] == "2025-11-30T16:34:05.120Z"


def test_a_time_without_a_zone_is_a_mistake() -> None:
    with pytest.raises(ValidationError):
        published(received_at=MOMENT.replace(tzinfo=None))


def test_a_request_that_could_not_be_read_has_no_operation() -> None:
    error = Refused("request_not_json", "the request is not valid JSON", "write JSON")

    result = published(operation=None, state=State.REFUSED, error=error)

    assert result["operation"] is None
    assert result["error"] == {
        "code": "request_not_json",
        "message": "the request is not valid JSON",
        "hint": "write JSON",
    }


def test_every_text_is_masked_wherever_it_stands() -> None:
    result = published(
        state=State.FAILED,
        argv=("git", "fetch", "https://me:hunter2@host/"),
        output="hunter2",
        error=Failed("x", "hunter2", "hunter2"),
        approval=ApprovalView(reasons=("hunter2",), decided_by="hunter2", reason="hunter2", decided_at=MOMENT),
        verified={"why": "hunter2", "deep": [{"a": ("hunter2",)}]},
        decision=DecisionView(answer="ask", reasons=("hunter2",)),
        conflict=Refused("id_reused", "hunter2"),
    )

    assert "hunter2" not in json.dumps(result)
    assert result["output"] == "***"
    assert result["approval"]["decided_at"] == "2025-11-30T16:34:05.120Z"
    assert result["conflict"]["code"] == "id_reused"


@pytest.mark.parametrize("state", [State.DENIED, State.EXPIRED, State.UNDELIVERABLE, State.WITHDRAWN])
def test_an_end_that_nobody_ran_into_explains_itself(state: State) -> None:
    error = published(state=state)["error"]

    assert error["code"] == state
    assert error["message"]
    assert error["hint"]


def test_only_a_denial_says_do_not_retry_and_it_carries_the_operators_words() -> None:
    denied = published(state=State.DENIED, approval=ApprovalView(reason="Not on a Friday"))["error"]
    others = [published(state=state)["error"] for state in (State.EXPIRED, State.UNDELIVERABLE)]

    assert "Not on a Friday" in denied["message"]
    assert "do not retry" in denied["hint"]
    assert all("not a no" in error["message"] and "do not retry" not in error["hint"] for error in others)


@pytest.mark.parametrize("state", [State.RECEIVED, State.QUEUED, State.RUNNING, State.SUCCEEDED])
def test_a_request_that_goes_well_has_no_error(state: State) -> None:
    assert published(state=state)["error"] is None


def test_an_error_of_its_own_is_kept() -> None:
    error = published(state=State.TIMED_OUT, error=Failed("lock_held", "the index is locked"))["error"]

    assert error["code"] == "lock_held"


def test_long_output_keeps_its_head_and_tail_and_says_so() -> None:
    result = published(output="HEAD" + "x" * OUTPUT_LIMIT + "TAIL")

    assert result["truncated"]
    assert result["output"].startswith("HEAD")
    assert result["output"].endswith("TAIL")
    assert "bytes left out" in result["output"]
    assert len(result["output"].encode()) <= OUTPUT_LIMIT


def test_a_secret_on_the_cut_is_masked_before_it_is_cut() -> None:
    half = (OUTPUT_LIMIT - 80) // 2

    result = published(output="x" * (half - 3) + "hunter2" + "x" * OUTPUT_LIMIT)

    assert "hun" not in result["output"]


def test_output_cut_by_its_runner_stays_marked() -> None:
    assert published(output="short", truncated=True)["truncated"]


@UNTIMED
@given(st.text(min_size=0, max_size=400), st.integers(100, 300))
def test_cut_text_never_passes_its_limit_nor_breaks_a_character(text: str, limit: int) -> None:
    shown, cut = cap(text, limit)

    assert len(shown.encode()) <= limit
    assert cut == (shown != text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"),
        ("a\rb\x9b\x7f\0", "a\\x0db\\x9b\\x7f\\x00"),
        ("half \udcff", "half \\udcff"),
        ("Füße 🎉", "Füße 🎉"),
    ],
)
def test_control_characters_are_shown_and_not_sent(text: str, shown: str) -> None:
    assert showable(text) == shown


def test_one_line_is_one_line() -> None:
    assert one_line("a\nb\r\n") == "a\\nb\\x0d\\n"


@UNTIMED
@given(st.text(st.characters()), st.recursive(st.none() | st.floats() | st.text(), st.lists))
def test_any_output_and_anything_verified_is_publishable(output: str, value: object) -> None:
    text = build_result(
        mask,
        id="7",
        operation=None,
        repo="",
        state=State.FAILED,
        received_at=MOMENT,
        output=output,
        verified={"value": value},
    ).to_json()

    assert json.loads(text.encode())["id"] == "7"


def test_a_dry_run_and_a_reused_id_are_only_mentioned_where_they_are() -> None:
    result = published(decision=DecisionView(answer="run"), conflict=Refused("id_reused", "other content"))

    assert list(result) == [*KEYS, "decision", "conflict"]
    assert result["decision"] == {"answer": "run", "reasons": []}


def test_gateway_json_says_what_can_be_asked_for() -> None:
    offered = capabilities(
        mask,
        heartbeat_at=MOMENT,
        repositories=["web", "api"],
        operations={
            Operation.GIT_STATUS: OperationView(needs=Needs.AUTO),
            Operation.RESTART_QUEUE: OperationView(needs=Needs.REFUSED, why="no queue is configured"),
        },
        degraded=["Telegram is away: hunter2"],
    )

    value = json.loads(offered.to_json())
    assert (value["protocol"], value["heartbeat_at"]) == (1, "2025-11-30T16:34:05.120Z")
    assert value["repositories"] == ["web", "api"]
    assert value["operations"]["restart_queue"] == {"needs": "refused", "why": "no queue is configured", "body": ""}
    assert value["limits"]["body_bytes"] == 65_536
    assert value["frozen"] is None
    assert value["degraded"] == ["Telegram is away: ***"]
