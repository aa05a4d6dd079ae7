"""What tells a secret from what only looks like one: by the file, by the value, by the lines that follow (pure)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from executor.record.secret_forms import FORMS, MASK

# A line without any of these cannot hold what a detector looks for: a telling name, a password in an address, a run
# of characters as tokens and random strings have it.
_WORTH_A_LOOK = re.compile(
    r"pass|pwd|secret|token|key|contrase|://[^\s/@]{0,100}:[^\s/@]{0,200}@|[A-Za-z0-9_+/=.-]{20}|\d{8,10}:[\w-]{35}",
    re.I,
)
_GENERATED = re.compile(
    r"""(?:^|/)(?:
        [^/]*[.-]lock(?:file)?(?:\.[a-z]+)? | [^/]*\.(?:sum|map|svg|snap|ipynb|po|pot|csv|tsv)
      | [^/]*\.min\.(?:js|css|mjs) | [^/]*(?:package-lock|shrinkwrap|checksums?|\.resolved)[^/]*
      | (?:node_modules|vendor|dist|third_party)/.*
    )$""",
    re.X | re.I,
)
_TEST = re.compile(
    r"""(?:^|/)(?:tests?|specs?|__tests__|testdata|test-data|fixtures?|mocks?|__mocks__|examples?|samples?|e2e|stubs?
      |docs?|factories|seeders)/
      |(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|tests|spec|mock|fixture)s?\.[a-z]+|conftest\.py|[^/]*Test\.(?:php|java|kt|cs))$
      |\.(?:md|rst|adoc)$
      |(?:^|/)\.env\.(?:example|sample|dist|template|testing)$|\.(?:example|sample|dist|template)$""",
    re.X | re.I,
)
_ENVIRONMENT = re.compile(r"(?:^|/)(?:\.env(?:\.[^/]+)?|[^/]+\.env|\.npmrc|\.netrc|\.pypirc|credentials)$", re.I)
_EXAMPLE = re.compile(
    r"example|sample|dummy|fake|placeholder|change.?(?:me|it|this)|replace|redacted|insert|your[-_. ]|my[-_]|x{4}"
    r"|\*{3}|\.{3}|todo|foobar|not.?(?:a.?)?(?:real|secret)|lorem|deadbeef|0{6}|1{6}|test",
    re.I,
)
# a value that stands for another one: ${X}, {{ x }}, <x>, %X%, env(...), process.env.X, config['x'], @x@, !Ref x
_REFERENCE = re.compile(
    r"[$<{%@!&*].*|\w[\w.$:>-]*[\[(].*|(?:process\.|os\.)?env[.:].*|(?:var|local|data|module|secrets|vault)[.:].*",
    re.I,
)
_ROWS = (
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "0123456789abcdefghijklmnopqrstuvwxyz",
    "1234567890" * 4,
    "0123456789" * 4,
)
_ROW_MIN = 10
_SETTING = re.compile(r"""\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*["']?([^\s"'#]{4,})""")
_SETTING_NAME = re.compile(r"pass(?:word|wd|phrase)?$|pwd$|secret|token|key$|salt$|dsn$|credential", re.I)
_NOTHING = frozenset({"null", "none", "true", "false", "local", "localhost", "secret", "password"})
_ADDRESS = re.compile(r"""://[^\s:/?#@"'<>]{0,100}:([^\s/?#@"'<>]{1,200})@""")
_ADDRESS_PASSWORD_MIN = 4
_COMMON = frozenset(
    {"pass", "password", "passwd", "secret", "postgres", "root", "user", "guest", "admin", "token", "pwd"}
)
# what the redactor's forms are called here, by what they are found by; the others are called by that
_FORM_KINDS = {
    ":": "a bot token",
    "%3a": "a bot token",
    "eyj": "a JSON web token",
    "aiza": "a Google key",
    "ya29.": "a Google token",
}
_IDENTIFIER = re.compile(r"[a-z]+(?:[-_.][a-z]+)*(?:[-_.]\d{1,4})?")  # `app-tls-2024` names a thing
_ENTROPY_MIN = 2.8  # bits a character: "aaaaaaaa1" has 0.5, "hunter2hunter2" 2.8, ten random letters 3.3
_VALUE_MIN = 8
_CHUNK, _OVERLAP = 1024, 160  # characters: patterns that could run over a whole line stay cheap, tokens stay whole


def may_hold_secret(text: str) -> bool:
    """Say whether `text` is worth giving to the detectors; cheap, and false for most lines of code."""
    return _WORTH_A_LOOK.search(text) is not None


def is_generated(path: str) -> bool:
    """Say whether a program writes this file, so that hashes in it are the rule."""
    return _GENERATED.search(path) is not None


def is_test(path: str) -> bool:
    """Say whether this is a test, an example or a document, where passwords are made up."""
    return _TEST.search(path) is not None


def is_environment(path: str) -> bool:
    """Say whether the file is there to hold settings as `NAME=value`, without quotes."""
    return _ENVIRONMENT.search(path) is not None


def is_example(value: str) -> bool:
    """Say whether the value tells by itself that it is none: an example, a variable, a placeholder."""
    return _EXAMPLE.search(value) is not None or _REFERENCE.fullmatch(value.strip()) is not None


def row_of_characters(value: str) -> bool:
    """Say whether the value is made of a row that people type: `abcdefghij…`, `1234567890…`, `aaaaaaaa…`."""
    lowered = value.lower()
    if entropy(lowered) < _ENTROPY_MIN:
        return True
    return any(row[start : start + _ROW_MIN] in lowered for row in _ROWS for start in range(len(row) - _ROW_MIN + 1))


def has_password_in_address(text: str) -> bool:
    """Say whether an address carries a password that is no example: `postgres://app:…@db/app`."""
    return any(
        len(found[1]) >= _ADDRESS_PASSWORD_MIN and not is_example(found[1]) and found[1].lower() not in _COMMON
        for found in _ADDRESS.finditer(text)
    )


def looks_random(value: str) -> bool:
    """Say whether a value under a telling name is more than a word."""
    return (
        len(value) >= _VALUE_MIN
        and not any(c.isspace() for c in value)
        and not _IDENTIFIER.fullmatch(value)
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not row_of_characters(value)
    )


def entropy(value: str) -> float:
    """Return Shannon's entropy of the characters of `value`, in bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


def chunks(text: str) -> Iterator[str]:
    """Yield `text` in pieces that overlap by more than the longest beginning of a token."""
    for start in range(0, max(len(text), 1), _CHUNK):
        yield text[start : start + _CHUNK + _OVERLAP]


def token_forms_in(text: str) -> Iterator[str]:
    """Yield the kind of each token that the redactor would mask as a whole and that is no example."""
    for needle, found, masked in _masked_in(text):
        if masked == MASK and not (is_example(found) or row_of_characters(found)):
            yield _FORM_KINDS.get(needle) or f"a token ({needle}…)"


def named_values_in(text: str) -> Iterator[str]:
    """Yield the values that the redactor would mask because of the name, or the header, before them."""
    for needle, found, masked in _masked_in(text):
        head, mask, tail = masked.partition(MASK)
        if head and mask and "://" not in needle:
            yield found[len(head) : len(found) - len(tail)]


def setting_in(text: str) -> str | None:
    """Return the value that a line `NAME=value` of an environment file gives to a name that tells of a secret."""
    found = _SETTING.match(text)
    if found is None or found[2].lower() in _NOTHING or not _SETTING_NAME.search(found[1]):
        return None
    return found[2]


def _masked_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (needle, what matched, what the redactor makes of it) for each form of secret that `text` holds."""
    lowered = text.lower()
    for form in FORMS:
        needle = next((needle for needle in form.needles if needle in lowered), None)
        for match in form.pattern.finditer(text) if needle is not None else ():
            replaced = (
                match.expand(form.replacement) if isinstance(form.replacement, str) else form.replacement(match)
            )
            if replaced != match[0]:
                yield needle or "", match[0], replaced


class KeyWatch:
    """Follows added lines and tells where a private key begins, once lines of the key itself have come.

    The first line alone is no key: programs that read keys hold it too.
    """

    _BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]:")
    _BODY = re.compile(r"[\s\"'+,|\\nr]*[A-Za-z0-9+/=]{40,}")
    _REACH = 6  # lines between the first line and the body: headers of old formats

    def __init__(self) -> None:
        self._path = ""
        self._begun = 0

    def follow(self, path: str, number: int, text: str) -> int | None:
        """Return the number of the line where a key begins when this line shows that it is one."""
        begin = self._BEGIN.search(text)
        if begin is not None:
            self._path, self._begun = path, number
            return self._end() if self._BODY.match(text, begin.end()) else None
        if not self._begun:
            return None
        if path != self._path or not 0 < number - self._begun <= self._REACH:
            self._begun = 0
            return None
        return self._end() if self._BODY.match(text) else None

    def _end(self) -> int:
        begun, self._begun = self._begun, 0
        return begun
