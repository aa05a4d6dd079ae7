"""The corpus through `ops-gateway explain --jsonl`, as anybody can run it on a host that is not set up at all."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from corpus_lines import Line, lines
from world import World

_ANSWERS = {"run": "auto-ok", "ask": "needs-approval", "refuse": "refused"}
GIVEN = [line for line in lines() if line.content is not None]
# Refused by default, as the corpus allows: submodules are not entered.
MAY_BE_REFUSED = frozenset({"chg-129"})


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What `explain --jsonl` answers to each line that has content."""
    here = tmp_path_factory.mktemp("explain")
    asked = "".join(json.dumps(_asked(line, World(here, 9))) + "\n" for line in GIVEN)
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "explain", "--jsonl"],
        cwd=here,
        env={"PATH": "/usr/bin:/bin", "HOME": str(here)},
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def _asked(line: Line, world: World) -> dict[str, str]:
    return {"id": line.id, "operation": line.operation, "body": world.fill(line.content or "")}


def test_each_line_is_answered_and_none_is_an_error(answers: dict[str, dict[str, Any]]) -> None:
    assert list(answers) == [line.id for line in GIVEN]
    assert {answer["id"] for answer in answers.values() if "error" in answer} == set()


def test_nothing_that_must_be_refused_would_run_by_itself(answers: dict[str, dict[str, Any]]) -> None:
    runs = {line.id for line in GIVEN if answers[line.id]["decision"] == "run"}
    assert runs & {line.id for line in GIVEN if line.answers == {"refused"}} == set()


def test_no_everyday_line_would_be_refused(answers: dict[str, dict[str, Any]]) -> None:
    refused = {line.id for line in GIVEN if not line.malicious and answers[line.id]["decision"] == "refuse"}
    assert refused == MAY_BE_REFUSED


def test_each_answer_is_one_of_the_right_ones(answers: dict[str, dict[str, Any]]) -> None:
    given = {line.id: _ANSWERS[answers[line.id]["decision"]] for line in GIVEN}
    wrong = {line.id: given[line.id] for line in GIVEN if given[line.id] not in line.answers}
    assert wrong == {}, Counter((line.expect, given[line.id]) for line in GIVEN)
