"""What is a shell script in git is done by the program behind it, as that version of git names it."""

from __future__ import annotations

import pytest

from executor.git.scripts import without_shell


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ((2, 40, 0), ["bisect", "start", "HEAD", "--", "a"]),
        ((2, 39, 5), ["bisect--helper", "start", "HEAD", "--", "a"]),
        ((2, 34, 1), ["bisect--helper", "--bisect-start", "HEAD", "--", "a"]),
    ],
)
def test_a_bisection_is_begun_by_a_program_in_every_version(version: tuple[int, ...], words: list[str]) -> None:
    assert without_shell(["bisect", "start", "HEAD", "--", "a"], version) == words


@pytest.mark.parametrize("verb", ["bad", "good", "new", "old"])
def test_a_verdict_is_a_state_to_the_program_behind_the_script(verb: str) -> None:
    assert without_shell(["bisect", verb, "HEAD"], (2, 39)) == ["bisect--helper", "state", verb, "HEAD"]
    assert without_shell(["bisect", verb, "HEAD"], (2, 38)) == ["bisect--helper", "--bisect-state", verb, "HEAD"]
    assert without_shell(["bisect", verb, "HEAD"], (2, 45)) == ["bisect", verb, "HEAD"]


def test_other_commands_stay_as_they_are() -> None:
    assert without_shell(["merge", "--no-edit", "topic"], (2, 39)) == ["merge", "--no-edit", "topic"]
