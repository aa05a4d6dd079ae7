"""What the demo prints is short enough to read, and says what was proved."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.setup.demo import _tell, _told

ONE, NONE, LONG = "8c12c95542" + "a" * 30, "0" * 40, "1b8743adce" + "b" * 54


def shown(capsys: pytest.CaptureFixture[str], text: str) -> str:
    _tell("agent", text)
    return capsys.readouterr().out


@pytest.mark.parametrize("full_id", [ONE, NONE, LONG])
def test_of_an_id_its_beginning_is_shown(capsys: pytest.CaptureFixture[str], full_id: str) -> None:
    assert shown(capsys, f"commit={full_id}.") == f"  agent     commit={full_id[:10]}….\n"


@pytest.mark.parametrize("cut", [1, 9, 22, 39])
def test_an_id_that_met_the_edge_of_the_screen_is_shown_no_longer(
    capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    said = shown(capsys, f"index {ONE}..{NONE[:cut]}\n          {NONE[cut:]}\n          --- a/x")

    assert said == f"  agent     index 8c12c95542…..0000000000…\n{' ' * 22}--- a/x\n"


@pytest.mark.parametrize("text", ["deadbeef", "a" * 39, "x" + "a" * 40])
def test_what_is_no_id_is_shown_whole(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert text in shown(capsys, text)


@pytest.mark.parametrize(
    ("verified", "said"),
    [
        ({"effect": True, "staged": 1}, "succeeded, effect verified: staged=1"),
        ({"branch": "main"}, "succeeded, verified: branch=main"),
        (None, "succeeded"),
    ],
)
def test_it_says_whether_the_effect_was_seen(verified: dict[str, Any] | None, said: str) -> None:
    assert _told({"state": "succeeded", "error": None, "verified": verified, "output": ""}) == said
