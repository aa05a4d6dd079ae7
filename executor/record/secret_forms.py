"""What secrets look like in text: the table of forms that `redaction` masks, and nothing else.

Every form is linear in the text by design: a pattern starts at a fixed word, runs over one class of characters and
either always matches what it ran over (a small function then decides) or stops at a character that no later start
lies behind. Nothing here needs backtracking over more than one run.

A form that hides too much hides the truth from operators, so what is not clearly a value is left: commit ids,
hashes, branch names, e-mail addresses, `user@host:path`, `token=token` in code, prose after a colon.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MASK = "***"

Replacement = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class Form:
    """One way a secret is written. `needles` are lower case; a text that holds none of them is not searched."""

    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: Replacement


def _looks_random(value: str) -> bool:
    """Say whether `value` is more than a word: letters and digits together."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


# --- addresses ---------------------------------------------------------------------------------------------------


def _userinfo(match: re.Match[str]) -> str:
    ssh, userinfo = match.group(1), match.group(2)
    if not ssh:
        return f"://{MASK}@"
    user, colon, _ = userinfo.partition(":")  # `ssh://git@host`: the user is no secret, a password is
    return f"{ssh}://{user}:{MASK}@" if colon else match.group(0)


_ADDRESSES = (
    # up to the last `@` before the path, as git reads it; with a colon or without (`https://TOKEN@host`, C21)
    Form(("://",), re.compile(r'(ssh)?://([^\s/?#"<>]+)@', re.I), _userinfo),
    Form(("hooks.slack.com",), re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)[\w/-]+", re.I), rf"\1{MASK}"),
    Form(("/webhooks/",), re.compile(r"(/api/webhooks/\d{1,30}/)[\w-]{20,}", re.I), rf"\1{MASK}"),
)

# --- headers -----------------------------------------------------------------------------------------------------

_SEPARATOR = r"""["']?[ \t]{0,8}[:=][ \t]{0,8}["']?"""
_SCHEME = re.compile(r"(?:basic|bearer|token|digest|negotiate|apikey)[ \t]+", re.I)


def _authorization(match: re.Match[str]) -> str:
    head, value = match.group(1), match.group(2)
    scheme = _SCHEME.match(value)
    if scheme:
        return head + scheme.group(0) + MASK
    one_word = len(value.split()) == 1 and len(value) >= 6 and "(" not in value
    return head + MASK if one_word else match.group(0)  # "authorization: fix the role check" is prose, `= f(` code


def _scheme_value(match: re.Match[str]) -> str:
    return match.group(1) + MASK if _looks_random(match.group(2)) else match.group(0)


_HEADERS = (
    Form(
        ("extraheader",),
        re.compile(
            r"""(extraheader(?:["']?[ \t]{0,8}[=:][ \t]{0,8}|[ \t]{1,8})["']?[\w-]{1,64}:[ \t]{0,8})[^\r\n"']+""",
            re.I,
        ),
        rf"\1{MASK}",
    ),
    Form(("authorization",), re.compile(rf"""(authorization{_SEPARATOR})([^\r\n"']+)""", re.I), _authorization),
    Form(
        ("-token", "x-api-key"),
        re.compile(
            rf"""((?:x-api-key|(?:x-auth|x-vault|x-gitlab|private|job|deploy)-token){_SEPARATOR})[^\s"',;]+""", re.I
        ),
        rf"\1{MASK}",
    ),
    Form(
        ("cookie",),
        re.compile(r"""(\b(?:set-)?cookie["']?[ \t]{0,8}:[ \t]{0,8}["']?)[^\r\n"'=]{1,200}=[^\r\n"']*""", re.I),
        rf"\1{MASK}",
    ),
    Form(
        ("bearer", "basic"),
        re.compile(r"(\b(?:bearer|basic)[ \t]{1,8})([\w.~+/-]{16,}={0,2})", re.I),
        _scheme_value,
    ),
)

# --- tokens that carry their kind in front -----------------------------------------------------------------------


def _api_key(match: re.Match[str]) -> str:
    value = match.group(0)
    mixed = any(c.isdigit() for c in value) and any(c.isupper() for c in value)
    return MASK if mixed or value.startswith("sk-ant-") else value  # "sk-" also starts honest branch names


def _json_web_token(match: re.Match[str]) -> str:
    first, dot, _ = match.group(0).partition(".")
    return MASK if dot and len(first) >= 12 else match.group(0)


def _bot_token(match: re.Match[str]) -> str:
    return match[0] if _OBJECT_ID.fullmatch(match[1]) else MASK  # `git log --format=%ct:%H` is a time and an id


_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_START = r"(?<![A-Za-z0-9])"  # for beginnings that honest words could end with
_TOKENS = (
    Form(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(r"g(?:h[pousr]|ithub_pat)_\w{20,}", re.ASCII),
        MASK,
    ),
    Form(
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-"),
        re.compile(r"gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[\w-]{16,}", re.ASCII),
        MASK,
    ),
    Form(("xox", "xapp-"), re.compile(r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"), MASK),
    Form(("akia", "asia"), re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"), MASK),
    Form(("sk-",), re.compile(_START + r"sk-[\w-]{20,}", re.ASCII), _api_key),
    Form(
        ("_live_", "_test_", "whsec_"), re.compile(_START + r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}"), MASK
    ),
    Form(("npm_",), re.compile(r"npm_[A-Za-z0-9]{36,}"), MASK),
    Form(("pypi-",), re.compile(r"pypi-[\w-]{40,}", re.ASCII), MASK),
    Form(("hf_",), re.compile(_START + r"hf_[A-Za-z0-9]{30,}"), MASK),
    Form(("aiza",), re.compile(r"AIza[\w-]{35}", re.ASCII), MASK),
    Form(("ya29.",), re.compile(_START + r"ya29\.[\w-]{20,}", re.ASCII), MASK),
    Form(("eyj",), re.compile(_START + r"eyJ[\w-]+(?:\.[\w-]+)*", re.ASCII), _json_web_token),
    # a Telegram bot's token (A25)
    Form((":", "%3a"), re.compile(r"(?<!\d)\d{8,10}(?::|%3[Aa])([\w-]{35,})", re.ASCII), _bot_token),
)

# --- values that are given a telling name ------------------------------------------------------------------------


def _either_case(word: str) -> str:
    """Return a pattern for `word` in any case that says what it begins with: `re.I` would try every position."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in word)


_KEY_KINDS = ("api", "app", "access", "account", "private", "secret", "signing", "encryption", "master")
_NAMES = (
    *(f"{_either_case(kind)}[_-]?{_either_case('key')}" for kind in _KEY_KINDS),
    *map(_either_case, ("password", "passwd", "passphrase", "secret", "token", "credentials", "credential")),
    # short ones must begin a word: MYSQL_PASS, but not bypass
    *(f"{_either_case(short)}(?<![A-Za-z]{_either_case(short)})" for short in ("pass", "pwd")),
)
_NAME = f"(?:{'|'.join(_NAMES)})"
SECRET_NAME = re.compile(rf"{_NAME}$")
_NOT_VALUES = frozenset({"true", "false", "null", "none", "nil", "undefined", "yes", "no", "required", "string"})
_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]*|\$[{(].*|%[A-Z_]+%|%[sdr]|%\(\w+\)[sd]|\{+[\w.]*\}*")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(.*")

# The value in each way of writing it; the first that fits counts.
_VALUES = (
    r"""["']?[ \t]{0,8}:?=>?[ \t]{0,8}(?:"(?P<double>(?:[^"\\\r\n]|\\.)+)"|'(?P<single>(?:[^'\\\r\n]|\\.)+)')""",
    r"""["']?[ \t]{0,8}:[ \t]{0,8}["'](?P<quoted>(?:[^"'\\\r\n]|\\.)+)["']""",
    r"""\\"[ \t]{0,8}[:=][ \t]{0,8}\\"(?P<escaped>[^"\\\r\n]+)""",  # JSON inside a string of JSON, as logs have it
    r"""["']?=(?P<plain>[^\s"'&;,)<>`]+)""",
    r"""["']?[ \t]{0,8}[:=][ \t]{0,8}(?P<spaced>[^\s"',;()\[\]{}<>=]+)""",
)


def _is_code(name: str, value: str) -> bool:
    """Say whether `name=value` is code or a template: a variable, a number, a call, or the same name again."""
    lowered = value.lower()
    return (
        lowered in _NOT_VALUES
        or _VARIABLE.fullmatch(value) is not None
        or _CALL.fullmatch(value) is not None
        or (value.isdigit() and len(value) < 6)
        # `token=self.token`; but DB_PASSWORD=password is one
        or (re.split(r"[._$]", lowered)[-1] == name.lower() and not name.isupper())
        or (name.lower() == "pwd" and value[0] == "/")  # the working directory
    )


def _is_prose(value: str) -> bool:
    return any(c.isspace() for c in value) or _VARIABLE.fullmatch(value) is not None


def _is_random_word(value: str) -> bool:
    return len(value) >= 6 and _looks_random(value)


def _named_value(match: re.Match[str]) -> str:
    how = match.lastgroup or ""
    value = match[how]
    kept = (
        (how == "plain" and _is_code(match["name"], value))
        or (how == "quoted" and _is_prose(value))
        or (how == "spaced" and not _is_random_word(value))
    )
    if kept:
        return match[0]
    before, after = match.start(how) - match.start(), match.end(how) - match.start()
    return match[0][:before] + MASK + match[0][after:]


def _option_value(match: re.Match[str]) -> str:
    return match[1] + MASK if _is_random_word(match[2]) else match[0]  # "use --token to" is prose


_NAMED = (
    Form(
        ("pass", "pwd", "secret", "token", "credential", "key"),
        re.compile(f"(?P<name>{_NAME})(?:{'|'.join(_VALUES)})"),
        _named_value,
    ),
    Form(
        ("--",),
        re.compile(rf"((?<![-\w])--[A-Za-z0-9-]{{0,32}}?{_NAME}[ \t]{{1,8}})([^\s\"'-][^\s\"']*)"),
        _option_value,
    ),
    Form(("login",), re.compile(r"(\blogin[ \t]{1,8}\S{1,256}[ \t]{1,8}password[ \t]{1,8})\S+", re.I), rf"\1{MASK}"),
)

FORMS: tuple[Form, ...] = _ADDRESSES + _HEADERS + _TOKENS + _NAMED
