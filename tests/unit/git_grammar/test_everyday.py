"""What is typed every day with git is not refused, and has the class that a person would give it."""

from __future__ import annotations

import pytest
from command_lists import decided, lines_of

from executor.policy.model import Ask, RiskClass, Run

READS = lines_of("everyday_reads.txt")
CHANGES = [line.split(" ", 1) for line in lines_of("everyday_changes.txt")]


@pytest.mark.parametrize("line", READS)
def test_looking_at_a_repository_runs_by_itself(line: str) -> None:
    decision = decided(line)
    assert isinstance(decision, Run), decision
    assert decision.risk is RiskClass.READ


@pytest.mark.parametrize(("risk", "line"), CHANGES, ids=[line for _, line in CHANGES])
def test_changing_a_repository_asks_with_its_class_and_a_reason(risk: str, line: str) -> None:
    decision = decided(line)
    assert isinstance(decision, Ask), decision
    assert decision.risk is RiskClass(risk)
    assert all(decision.reasons)
    assert decision.reasons


def test_the_lists_are_long_enough_to_mean_something() -> None:
    assert len(set(READS)) >= 400
    assert len({line for _, line in CHANGES}) >= 300
