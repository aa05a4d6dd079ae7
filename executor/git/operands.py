"""The kinds of words that commands.toml names, and the check of each. Pure.

A check is given a word without hidden characters. It raises Refused, or returns what the word means for the risk of
its command (an `Effect`), mostly nothing. Choices, lists of allowed values, are the table's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from executor.errors import Refused
from executor.git.identity import email_problem, name_problem
from executor.git.pathspecs import check_file, check_likely_path, check_path
from executor.git.remote_operands import (
    Effect,
    check_fetch_refspec,
    check_lease,
    check_push_refspec,
    check_remote,
    check_url,
)
from executor.git.revisions import (
    check_branch,
    check_commit,
    check_new_branch,
    check_pattern,
    check_ref,
    check_revision,
    check_revision_or_path,
    check_tag,
)

Check = Callable[[str], Effect | None]

_SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")
_HUGE = re.compile(r"\d{5,}")  # git pads to it: one line would take the memory of the host
_SORT_KEY = re.compile(r"-?(?:v(?:ersion)?:)?\*?[a-z][A-Za-z-]*(?::[a-z-]+)?", re.ASCII)
_STRATEGY_OPTION = re.compile(r"[a-z][a-z-]*(?:=[A-Za-z0-9_][A-Za-z0-9%._/-]*)?", re.ASCII)
_LINE_RANGE = re.compile(
    r"(?:/(?:[^/\\]|\\.)*/|\d+)(?:,(?:/(?:[^/\\]|\\.)*/|[+-]?\d+)?)?|,\d+|\^?:[^:]+",  # 1,10  /re/,+5  :function
)


def _text(word: str) -> None:
    """Any visible text of one line: no file, no program, no revision is read from it."""


def _message(word: str) -> None:
    if not word.strip():
        raise Refused("empty_message", "the message is empty", "write what is done and why")


def _format(word: str) -> None:
    if _SIGNATURE.search(word.replace("%%", "")):
        raise Refused("signature_check", "%G… and %(signature) start a signature program", "leave them out")

    _date_format(word)


def _date_format(word: str) -> None:
    if _HUGE.search(word):
        raise Refused("bad_value", "a width of more than four digits in a format", "write a smaller one")


def _sort(word: str) -> None:
    if not _SORT_KEY.fullmatch(word) or "signature" in word:
        raise Refused("bad_value", f"{word!r} is not a sort key", "for example --sort=-committerdate")


def _strategy_option(word: str) -> None:
    if not _STRATEGY_OPTION.fullmatch(word):
        raise Refused("bad_value", f"{word!r} is not an option of a merge strategy", "for example -X ours")
    if word.partition("=")[0] == "subtree":
        raise Refused("bad_value", "-X subtree puts files where no commit has them", "leave it out")
    check_path(word.partition("=")[2] or word)


def _line_range(word: str) -> None:
    """`10,20`, `/re/,+5`, `:function`, and for log the same followed by `:path`."""
    found = _LINE_RANGE.match(word)
    rest = word[found.end() :] if found else word
    if found is None or (rest and not rest.startswith(":")):
        raise Refused("bad_value", f"{word!r} is not a range of lines", "for example -L 10,20 or -L 10,20:src/app.py")
    if rest:
        check_path(rest[1:])


def _person(word: str) -> None:
    if problem := name_problem(word):
        raise Refused("bad_identity", f"{word!r} cannot be a name: {problem}", 'for example "Jane Doe"')


def _email(word: str) -> None:
    if problem := email_problem(word):
        raise Refused("bad_identity", f"{word!r} cannot be an email: {problem}", "for example jane@example.com")


def _matching(pattern: str, example: str) -> Check:
    compiled = re.compile(pattern, re.ASCII)

    def check(word: str) -> None:
        if not compiled.fullmatch(word):
            raise Refused("bad_value", f"{word!r} cannot stand here", f"for example {example}")

    return check


def _identity_key(key: str) -> Check:
    """The one setting `key`, where others are asked for too."""

    def check(word: str) -> None:
        if word != key:
            raise Refused(
                "setting_of_the_host",
                f"{word!r} cannot be set here: only user.name and user.email can",
                "go on without it; the other settings are the host's",
            )

    return check


CHECKS: Mapping[str, Check] = {
    # paths
    "path": check_path,
    "file": check_file,
    "likely-path": check_likely_path,
    # revisions and names in the repository
    "rev": check_revision,
    "commit": check_commit,
    "rev-or-path": check_revision_or_path,
    "branch": check_branch,
    "new-branch": check_new_branch,
    "tag": check_tag,
    "ref": check_ref,
    "pattern": check_pattern,
    "stash": _matching(r"stash(?:@\{[^{}]+\})?|\d{1,6}", "stash@{0}"),
    # remotes
    "remote": check_remote,
    "url": check_url,
    "push-refspec": check_push_refspec,
    "fetch-refspec": check_fetch_refspec,
    "lease": check_lease,
    # text
    "text": _text,
    "message": _message,
    "format": _format,
    "date-format": _date_format,
    "sort": _sort,
    "name-key": _identity_key("user.name"),
    "email-key": _identity_key("user.email"),
    "person": _person,
    "email": _email,
    # small values
    "number": _matching(r"\d{1,9}", "10"),
    "width": _matching(r"\d{1,4}", "80"),
    "widths": _matching(r"\d{1,4}(?:,\d{1,4}){0,3}", "80,40"),
    "percent": _matching(r"\d{1,9}%?(?:/\d{1,9}%?)?", "90%"),
    "word": _matching(r"[A-Za-z0-9*][A-Za-z0-9._*,/-]*", "a plain word"),
    "line-range": _line_range,
    "strategy-option": _strategy_option,
}
MULTILINE_KINDS = frozenset({"message"})
