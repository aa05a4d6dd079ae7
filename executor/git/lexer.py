"""How a `git_cmd` line becomes words, and words become a line again. Pure.

Not `shlex`: that one joins lines, drops quotes in the middle of a word and reads backslashes, so that what an
operator sees and what runs could differ. Here a line is plain words and whole quotes, or it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from executor.errors import Refused
from executor.git.text import require_visible

LINE_LIMIT = 8 * 1024  # bytes
WORD_LIMIT = 64

_BLANK = " \t"
_QUOTE_IT = "there is no shell here: put quotes around text"
_ONE_COMMAND = "raise one flag for each command"
_NOT_EXPANDED = "nothing is expanded here: write the value itself, or put text in single quotes"
_NO_REDIRECTION = "leave it out: output and errors are in the result anyway"
# What a shell acts upon, and how to do without.
_SHELL = {
    **dict.fromkeys("(){}\\", _QUOTE_IT),
    **dict.fromkeys(";&\n", _ONE_COMMAND),
    **dict.fromkeys("`$", _NOT_EXPANDED),
    **dict.fromkeys("<>", _NO_REDIRECTION),
    "|": "there are no pipes here: limit the output with options such as -n 20, or work on the result",
    "#": "leave comments out; put quotes around text",
}
# Unquoted brackets that belong to git's own syntax: HEAD@{1}, v1^{commit}, --format=%(refname:short).
_GIT_BRACKETS = re.compile(r"[@^]\{[^\s{}()`$;&|<>\\#'\"]*\}|%\([A-Za-z0-9_*:=,.%/+-]*\)", re.ASCII)
_QUOTE_MAY_FOLLOW = re.compile(r"|.*[=:]|-[A-Za-z0-9]+", re.DOTALL)  # nothing yet, --x= or HEAD:, -m
_ESCAPED = re.compile(r'\\(["\\$`])')
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'([^']*)'")
_NEEDS_NO_QUOTES = re.compile(r"(?:[A-Za-z0-9_@%+=:,./^~!*?\[\]-]|[@^]\{[A-Za-z0-9_./-]*\})+", re.ASCII)


def split(line: str) -> tuple[str, ...]:
    """Return the words of one command line.

    Blanks separate. `'…'` and `"…"` stand where a word, a value after `=` or `:`, or the value of a short option
    begins, may follow each other directly (`'it'"'"'s'`), and hold any visible text and newlines. A backslash escapes
    only ``"\\$` `` in double quotes, or one quote between two quoted parts (`'it'\\''s'`).
    Raises Refused for anything that a shell would act upon, and for lines of no words or too many.
    """
    text = line.strip(" \t\n")
    if len(text.encode(errors="replace")) > LINE_LIMIT:
        raise Refused("command_too_long", f"a command line has at most {LINE_LIMIT} bytes", "split it in several")
    require_visible(text, "the command line", lines=True)
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in _BLANK:
            at += 1
            continue
        word, at = _word(text, at)
        words.append(word)
        if len(words) > WORD_LIMIT:
            raise Refused("command_too_long", f"a command has at most {WORD_LIMIT} words", "split it in several")
    if not words:
        raise Refused("empty_command", "the command is empty", "write one git command, such as: git status")
    return tuple(words)


def _word(text: str, at: int) -> tuple[str, int]:
    """Return the word that begins at `at`, and where it ends."""
    if text[at] == "#":
        _refuse("#", "a comment cannot follow a command")
    word, closed = "", False  # closed: a quote has just ended
    while at < len(text) and text[at] not in _BLANK:
        if text[at] in "\"'":
            if not closed and not _QUOTE_MAY_FOLLOW.fullmatch(word):
                raise Refused("quote_inside_word", f"a quote stands inside {word!r}", "quote the whole word")
            part, at = _quoted(text, at)
            word, closed = word + part, True
        elif closed and text[at : at + 3] in {"\\''", '\\""', "\\\"'", "\\'\""}:
            word, at = word + text[at + 1], at + 2
        elif closed:
            raise Refused("quote_inside_word", f"text follows the quote that ends {word!r}", "quote the whole word")
        else:
            part, at = _plain(text, at)
            word += part
    return word, at


def _plain(text: str, at: int) -> tuple[str, int]:
    brackets = _GIT_BRACKETS.match(text, at)
    if brackets:
        return brackets[0], brackets.end()
    if text[at] == "\n":
        _refuse("\n", "it has several lines")
    if text[at] in _SHELL and text[at] != "#":  # inside a word it is an ordinary character
        _refuse(text[at], f"{text[at]!r} stands outside quotes")
    return text[at], at + 1


def _quoted(text: str, at: int) -> tuple[str, int]:
    if text[at] == "'":
        found = _SINGLE_QUOTED.match(text, at)
        value = found[1] if found else ""
    else:
        found = _DOUBLE_QUOTED.match(text, at)
        value = _ESCAPED.sub(r"\1", found[1]) if found else ""
    if found is None:
        raise Refused("unclosed_quote", f"the quote {text[at]} is never closed", "close it; quote whole values")
    return value, found.end()


def _refuse(character: str, why: str) -> NoReturn:
    raise Refused("compound_command", f"this is not one plain git command: {why}", _SHELL[character])


def quote(words: Iterable[str]) -> str:
    """Return the line that `split` takes apart into `words`: the form in which commands are shown to people."""
    return " ".join(word if _NEEDS_NO_QUOTES.fullmatch(word) else _in_quotes(word) for word in words)


def _in_quotes(word: str) -> str:
    if "'" not in word:
        return f"'{word}'"
    return '"' + re.sub(r'(["\\$`])', r"\\\1", word) + '"'
