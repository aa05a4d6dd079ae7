"""How a line becomes words: no shell, no surprises, and the way back for what people are shown."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Refused
from executor.git.lexer import LINE_LIMIT, WORD_LIMIT, quote, split
from executor.git.text import hidden_character


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git status", ("git", "status")),
        ("  git \t log   -1 \n", ("git", "log", "-1")),
        ("git commit -m 'two words'", ("git", "commit", "-m", "two words")),
        ('git commit -m"two words"', ("git", "commit", "-mtwo words")),
        ('git log --format="%h %s"', ("git", "log", "--format=%h %s")),
        ('git show HEAD:"my file"', ("git", "show", "HEAD:my file")),
        ('git commit -m "line one\n\nline two"', ("git", "commit", "-m", "line one\n\nline two")),
        (
            'git commit -m "say \\"hi\\" for \\$5 with \\`x\\` and \\\\"',
            ("git", "commit", "-m", 'say "hi" for $5 with `x` and \\'),
        ),
        ('git log --grep "a\\d+"', ("git", "log", "--grep", "a\\d+")),
        ("git log --grep 'a\\d+'", ("git", "log", "--grep", "a\\d+")),
        ("git commit -m 'it'\\''s'", ("git", "commit", "-m", "it's")),
        ("git commit -m 'it'\"'\"'s'", ("git", "commit", "-m", "it's")),
        ("git show HEAD@{1} v1^{commit} @{u}", ("git", "show", "HEAD@{1}", "v1^{commit}", "@{u}")),
        ("git branch --format=%(refname:short)", ("git", "branch", "--format=%(refname:short)")),
        ("git checkout -b fix/#12", ("git", "checkout", "-b", "fix/#12")),
        ("git log -- ''", ("git", "log", "--", "")),
        ("git diff ^main ~x a*b [c] !d", ("git", "diff", "^main", "~x", "a*b", "[c]", "!d")),
    ],
)
def test_line_is_split_as_a_reader_would(line: str, words: tuple[str, ...]) -> None:
    assert split(line) == words


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("git a; b", "compound_command"),
        ("git a && b", "compound_command"),
        ("git a | b", "compound_command"),
        ("git a > b", "compound_command"),
        ("git $(a)", "compound_command"),
        ("git `a`", "compound_command"),
        ("git ${a}", "compound_command"),
        ("git {a,b}", "compound_command"),
        ("git @{a b}", "compound_command"),
        ("git a\nb", "compound_command"),
        ("git a\\\nb", "compound_command"),
        ("git a # b", "compound_command"),
        ("git st\\at", "compound_command"),
        ("git 'a", "unclosed_quote"),
        ('git "a', "unclosed_quote"),
        ('git "a\\"', "unclosed_quote"),
        ("git s'tat'us", "quote_inside_word"),
        ("git 'stat'us", "quote_inside_word"),
        ("", "empty_command"),
        (" \n\t", "empty_command"),
        ("git a\x07", "hidden_characters"),
        ("git a\u200b", "hidden_characters"),
        ("git 'a\u202eb'", "hidden_characters"),
        ("\ufeffgit a", "hidden_characters"),
        ("git a\rb", "hidden_characters"),
        ("git " + "a " * WORD_LIMIT, "command_too_long"),
        ("git " + "a" * LINE_LIMIT, "command_too_long"),
    ],
)
def test_what_a_shell_would_act_upon_is_refused(line: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        split(line)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("git log | head -5", "-n 20"),
        ("git add . && git commit", "one flag for each command"),
        ("git status 2>&1", "errors are in the result"),
        ("git log $BRANCH", "write the value itself"),
        ("git log (x)", "quotes around text"),
    ],
)
def test_the_hint_says_how_to_do_without_a_shell(line: str, hint: str) -> None:
    with pytest.raises(Refused) as caught:
        split(line)
    assert hint in caught.value.hint


visible_words = st.lists(
    st.text(max_size=40).filter(lambda word: hidden_character(word, lines=True) is None), min_size=1, max_size=12
)


@given(visible_words)
def test_quoting_and_splitting_give_the_words_back(words: list[str]) -> None:
    assert split(quote(words)) == tuple(words)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("git", "log", "-5", "HEAD~1..main"), "git log -5 HEAD~1..main"),
        (("git", "show", "HEAD@{1}"), "git show HEAD@{1}"),
        (("git", "commit", "-m", "it's"), 'git commit -m "it\'s"'),
        (("a b", "", "$x", "#1"), "'a b' '' '$x' '#1'"),
    ],
)
def test_quotes_stand_only_where_they_are_needed(words: tuple[str, ...], line: str) -> None:
    assert quote(words) == line


@given(st.text(max_size=200))
def test_any_text_is_split_or_refused(text: str) -> None:
    with contextlib.suppress(Refused):
        words = split(text)
        assert split(quote(words)) == words


@given(st.text(alphabet="gitlog -'\"\\;$(){}@^#\n%=:x", max_size=40))
def test_text_full_of_syntax_is_split_or_refused(text: str) -> None:
    with contextlib.suppress(Refused):
        words = split(text)
        assert split(quote(words)) == words
