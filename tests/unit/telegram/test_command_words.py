"""What counts as a command to this bot, and how it is taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.telegram import commands, replies
from gateway.telegram.authorise import Operator
from gateway.telegram.commands import Said


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/status", "status", ""),
        ("/Status@Gateway_Bot", "status", ""),
        ("/deny fix-1 not now\nnot here", "deny", "fix-1 not now\nnot here"),
        ("  /why   fix-1  ", "why", "fix-1"),
    ],
)
def test_a_command_is_read(text: str, name: str, rest: str) -> None:
    assert commands.read(text, "gateway_bot") == (name, rest)


@pytest.mark.parametrize("text", ["status", "see /status", "/status@other_bot", "/", "/stat-us", "//status"])
def test_anything_else_is_talk(text: str) -> None:
    assert commands.read(text, "gateway_bot") is None


def test_while_the_bots_own_name_is_not_known_every_command_may_be_meant_for_it() -> None:
    assert commands.read("/status@gateway_bot", "") == ("status", "")


@given(st.text())
def test_no_text_confuses_the_reader(text: str) -> None:
    found = commands.read(text, "gateway_bot")
    assert found is None or found[0].isascii()


def test_the_words_after_the_first_keep_their_lines() -> None:
    said = Said("deny", "fix-1 because\n  of this", Operator(11, "Ann"), 1)
    assert (said.first, said.others) == ("fix-1", "because\n  of this")


def test_every_command_that_is_offered_is_there() -> None:
    assert {name for name, _ in replies.COMMANDS} <= set(commands._DO)
