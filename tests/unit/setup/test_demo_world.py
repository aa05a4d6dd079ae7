"""The demo's agent takes the answer to its own flag and no other, and reads the log to the end of the story."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from executor.errors import Failed
from gateway.setup import demo_world
from gateway.setup.demo_world import World

MOMENT, LATER = "2026-11-30T21:04:00.120Z", "2026-11-30T21:04:00.121Z"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(demo_world, "ANSWER_SECONDS", 0.0)  # what is not there now does not come any more
    (tmp_path / "shared" / "results").mkdir(parents=True)
    return World(tmp_path)


def answered(world: World, received_at: str, state: str = "succeeded") -> None:
    result = {"received_at": received_at, "state": state}
    (world.shared / "results" / "git_status.json").write_text(json.dumps(result))


def test_an_answer_counts_however_soon_it_came(world: World) -> None:
    before = world.received_at("git_status")
    answered(world, MOMENT)

    assert world.result("git_status", before=before)["received_at"] == MOMENT


def test_the_answer_to_the_flag_before_is_not_taken_for_the_one_that_is_waited_for(world: World) -> None:
    answered(world, MOMENT)
    before = world.received_at("git_status")

    with pytest.raises(Failed, match="in vain"):
        world.result("git_status", before=before)
    answered(world, LATER)
    assert world.result("git_status", before=before)["received_at"] == LATER


def test_a_request_that_still_runs_is_waited_for(world: World) -> None:
    answered(world, MOMENT, state="running")

    with pytest.raises(Failed, match="in vain"):
        world.result("git_status")


def test_the_log_is_read_when_it_tells_the_end_and_only_of_that_request(world: World) -> None:
    log = world.shared / "commands.log"
    first, other = f"{MOMENT} #1 tag-1 request.received a=1", f"{MOMENT} #2 tag-10 request.succeeded"
    log.write_text(f"{first}\n{other}\n")
    with pytest.raises(Failed, match="in vain"):
        world.logged("tag-1", "request.succeeded")

    last = f"{LATER} #3 tag-1 request.succeeded exit_code=0"
    log.write_text(f"{first}\n{other}\n{last}\n")
    assert world.logged("tag-1", "request.succeeded") == [first, last]
