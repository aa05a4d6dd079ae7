"""Names of branches and what may be hidden in text."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.git.refnames import looks_like_release, ref_name_problem
from executor.git.text import disguise, hidden_character


@pytest.mark.parametrize(
    "name",
    [
        "main",
        "feature/x-1.2",
        "fix/#12",
        "10.x",
        "größe",
        "функция",
        "feature/функция",
        "fix/тест",
        "機能/ログイン",
        "기능",
        "naïve-café",
        "dependabot/npm_and_yarn/lodash-4.17.21",
        "user@host",
        "a{b}",
        "🚀",
        "v1.0",
        "release/2024.1",
        "ελληνικά",
        "yapı",
    ],
)
def test_an_everyday_name_is_fine(name: str) -> None:
    assert ref_name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "+x",
        "@",
        "HEAD",
        "a..b",
        "a b",
        "a~b",
        "a^b",
        "a:b",
        "a?b",
        "a*b",
        "a[b",
        "a\\b",
        "a@{b",
        "a.",
        ".a",
        "x/.a",
        "a.lock",
        "a.lock/b",
        "/a",
        "a/",
        "a//b",
        "a\x7f",
        "a\nb",
        "x" * 251,
        "a/" * 600 + "a",
    ],
)
def test_a_name_that_git_would_not_take_is_refused(name: str) -> None:
    assert ref_name_problem(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "mа\u0456n",
        "ma\u0456n",
        "\u0440\u0430\u0443",
        "ｍａｉｎ",
        "main\u2215x",
        "ɡood",
        "mai\u0578",
        "ma\u200bin",
        "main\u202e",
        "re\u0301lease",
        "x\u2024y",
        "𝗺𝗮𝗶𝗻",
        "maιn",
    ],
)
def test_a_name_in_disguise_is_refused(name: str) -> None:
    assert ref_name_problem(name) is not None


@pytest.mark.needs("git")
@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab-./@{}~^:?*[\\ \tHEADlock+", min_size=1, max_size=8))
def test_no_name_is_taken_that_git_refuses(name: str) -> None:
    if ref_name_problem(name) is None:
        asked = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
        assert asked.returncode == 0


@pytest.mark.parametrize("text", ["plain", "zwei\nZeilen\tmit Tab", "🚀 ❤️ 👩‍💻 1️⃣", "می‌خواهم", "größe", "\U0001fae8"])
def test_prose_may_hold_what_people_write(text: str) -> None:
    assert hidden_character(text, lines=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "a\u200bb",
        "a\u202eb",
        "a\u2066b",
        "a\x1bb",
        "a\rb",
        "a\x00",
        "a\u2028b",
        "a\U000e0041",
        "a\u00adb",
        "\ufeffa",
        "a\u200db",
        "a\ufe0fb",
        "\u3164",
        "a\ud800",
        "\x85",
        "a\u034fb",
        "x\U000e0100",
    ],
)
def test_hidden_characters_are_found_in_prose_too(text: str) -> None:
    assert hidden_character(text, lines=True) is not None


def test_newline_and_tab_are_hidden_in_a_single_word() -> None:
    assert hidden_character("a\nb") == "\n"
    assert hidden_character("a\tb") == "\t"


@given(st.text(max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    hidden_character(text)
    hidden_character(text, lines=True)
    disguise(text)
    ref_name_problem(text)


@pytest.mark.parametrize(
    ("name", "is_release"),
    [("v1.0", True), ("1.2.3", True), ("v2.0.0-rc1", True), ("10.x", False), ("main", False), ("release/1.2", False)],
)
def test_names_of_releases_are_recognised(name: str, is_release: bool) -> None:
    assert looks_like_release(name) is is_release
