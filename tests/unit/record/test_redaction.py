"""Secrets are masked in every form they are written in, and nothing else is."""

from __future__ import annotations

import json
import string
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.record.redaction import Redactor, redact
from executor.record.secret_forms import FORMS

# Made up, and put together here so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
FINE_GRAINED = "github_pat_" + "11ABCDEFG0" * 5
GITLAB = "glpat-" + "xY3_" * 5
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
AWS_ID = "AKIA" + "IOSFODNN7EXAMPLE"
ANTHROPIC = "sk-ant-" + "api03-" + "aZ9_" * 10
OPENAI = "sk-proj-" + "Ab1" * 12
STRIPE = "sk_live_" + "51H" * 8
NPM = "npm_" + "a1B2" * 9
PYPI = "pypi-" + "AgEIcHlwaS5vcmc" * 4
HUGGING = "hf_" + "aBcD" * 9
GOOGLE = "AIza" + "SyA" + "b1C-" * 8
JWT = "eyJhbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiIxIn0" + "." + "c2lnbmF0dXJl"
BOT = "123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw" + "x"
TOKENS = [
    GITHUB, FINE_GRAINED, GITLAB, SLACK, AWS_ID, ANTHROPIC, OPENAI, STRIPE, NPM, PYPI, HUGGING, GOOGLE, JWT, BOT,
]  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "x {} y", '"{}"', "a={}", "({}),", "token_{}", "see <{}>", "{}\n", "é{}é"])
def test_c21_a_token_of_a_known_kind_is_masked_wherever_it_stands(token: str, around: str) -> None:
    assert token[12:] not in redact(around.format(token))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("origin\thttps://user:hunter2@example.org/x.git (fetch)", "origin\thttps://***@example.org/x.git (fetch)"),
        ("https://hunter2@example.org/x", "https://***@example.org/x"),
        ("https://user:p@ss:w@example.org/x", "https://***@example.org/x"),
        ("HTTP://u:@h/", "HTTP://***@h/"),
        ("postgresql+psycopg://ops:pw@db:5432/x", "postgresql+psycopg://***@db:5432/x"),
        ("ssh://git:pw@example.org/x", "ssh://git:***@example.org/x"),
        ("a https://u:p@h b https://v:q@i c", "a https://***@h b https://***@i c"),
    ],
)
def test_c21_the_userinfo_of_an_address_is_masked_with_and_without_a_colon(text: str, masked: str) -> None:
    assert redact(text) == masked


def test_a25_a_bot_token_in_a_request_address_is_masked() -> None:
    text = f'HTTP Request: POST https://api.telegram.org/bot{BOT}/getUpdates "HTTP/1.1 200 OK"'

    assert redact(text) == 'HTTP Request: POST https://api.telegram.org/bot***/getUpdates "HTTP/1.1 200 OK"'
    assert BOT[10:] not in redact(urllib.parse.quote(text))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("authorization: bearer abc.def-ghi", "authorization: bearer ***"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz\nHost: x", "Proxy-Authorization: Basic ***\nHost: x"),
        ("{'Authorization': 'token abcdef', 'a': 1}", "{'Authorization': 'token ***', 'a': 1}"),
        ("http.extraheader=AUTHORIZATION: basic eDpB", "http.extraheader=AUTHORIZATION: ***"),
        ("http.https://h/.extraHeader X-Custom: abc def", "http.https://h/.extraHeader X-Custom: ***"),
        ("-c 'http.extraHeader=PRIVATE-TOKEN: abcd' push", "-c 'http.extraHeader=PRIVATE-TOKEN: ***' push"),
        ("Cookie: session=abc; other=def", "Cookie: ***"),
        ("Set-Cookie: a=b; Path=/", "Set-Cookie: ***"),
        ("X-Api-Key: abcd", "X-Api-Key: ***"),
        ("curl -H 'Bearer abcdefgh12345678'", "curl -H 'Bearer ***'"),
    ],
)
def test_c21_headers_that_authorise_are_masked(text: str, masked: str) -> None:
    assert redact(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("DB_PASSWORD=hunter", "DB_PASSWORD=***"),
        ("DB_PASSWORD=secret DB_PASSWORD=password", "DB_PASSWORD=*** DB_PASSWORD=***"),
        ("password=$6$salt$hash password=$ecret1 password=9(b", "password=*** password=*** password=***"),
        ("AccountKey=abc==;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"),
        ('{"log":"{\\"password\\": \\"hunter\\", \\"a\\": 1}"}', '{"log":"{\\"password\\": \\"***\\", \\"a\\": 1}"}'),
        ("MYSQL_PASS=x\nUSER=me", "MYSQL_PASS=***\nUSER=me"),
        ("APP_KEY=base64:abc=", "APP_KEY=***"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = ***"),
        ('{"password": "hunter"}', '{"password": "***"}'),
        ('{"api_key":"a\\"b"}', '{"api_key":"***"}'),
        ("'secret' => 'a b c',", "'secret' => '***',"),
        ('passphrase = "correct horse"', 'passphrase = "***"'),
        ("password: hunter2", "password: ***"),
        ("GET /x?access_token=abc&y=1", "GET /x?access_token=***&y=1"),
        ("Server=x;Pwd=abc;", "Server=x;Pwd=***;"),
        ("tool --api-token abc123 --verbose", "tool --api-token *** --verbose"),
        ("tool --password=abc x", "tool --password=*** x"),
        ("machine h login me password abc", "machine h login me password ***"),
    ],
)
def test_c21_a_value_under_a_telling_name_is_masked(text: str, masked: str) -> None:
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)",
        "1700000000:9fceb02d0ae598e95dc970b74767f19372d61af8 Fix",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "git@github.com:owner/repo.git",
        "origin ssh://git@example.org/x.git (push)",
        "Author: Ann Other <ann.other@example.org>",
        "https://example.org/a@b https://example.org/?q=a@b",
        "feature/sk-add-the-long-dashboard-page-for-users",
        "Fix token: refresh on expiry",
        "authorization: fix the role check",
        'authorization = self.headers.get("Authorization")',
        "Basic internationalization of the menus",
        "def f(token=token, password=self.password): return get_token(secret=None)",
        "token = get_token()",
        "DB_PASSWORD=${DB_PASSWORD} TOKEN=$TOKEN max_token=100 token={token} password=%s",
        "token=${{ secrets.TOKEN }} password=$(cat /run/secrets/db)",
        "PWD=/srv/work",
        '"password": "The password field is required."',
        "The secret of a good commit is its message; keep passwords out.",
        "monkey=banana keyboard: qwerty1 author=ann bypass=1",
        "eyJust a word, and eyJ",
        "diff --git a/src/token.py b/src/token.py",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCARygAwIBAgIB\n-----END CERTIFICATE-----",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


KEY = "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF0/"


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n{KEY}\nab==\n-----END RSA PRIVATE KEY-----\n",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\r\n{KEY}\r\n-----END OPENSSH PRIVATE KEY-----\r\n",
        f"+-----BEGIN PRIVATE KEY-----\n+{KEY}\n+-----END PRIVATE KEY-----\n",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{KEY}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{KEY}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        f"cut off: -----BEGIN PRIVATE KEY-----\n{KEY}",
        f"… {KEY}\n{KEY}\n-----END PRIVATE KEY-----"[2:],
        f'"-----BEGIN PRIVATE KEY-----\\n{KEY}\\n{KEY}\\n-----END PRIVATE KEY-----\\n"',
        f"-----BEGIN PRIVATE KEY----- {KEY}{KEY} -----END PRIVATE KEY-----",
    ],
)
def test_a_private_key_is_masked_line_by_line(text: str) -> None:
    masked = redact(text)

    assert KEY not in masked
    assert masked.count("\n") == text.count("\n")


def test_what_follows_a_private_key_is_not_masked_with_it() -> None:
    text = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\nword\nThe next paragraph.\n"

    assert redact(text).endswith("-----END PRIVATE KEY-----\nword\nThe next paragraph.\n")
    assert redact("about -----BEGIN PRIVATE KEY-----\nis a line, and\nword\n").endswith("\nis a line, and\nword\n")


@pytest.mark.parametrize("literal", ["correct horse battery", 'q"uote\\d', "p@ss/w:rd%", "größe-geheim"])
def test_a_literal_secret_is_masked_plain_percent_encoded_and_inside_json(literal: str) -> None:
    masker = Redactor([literal])
    text = f"{literal} | {urllib.parse.quote(literal, safe='')} | {json.dumps({'x': literal})}"

    assert masker(text) == '*** | *** | {"x": "***"}'


def test_a_literal_too_short_to_be_a_secret_masks_nothing() -> None:
    assert Redactor(["", "a", "main", "******"])("a main branch ****") == "a main branch ****"


def test_data_is_masked_before_json_escapes_could_split_a_secret() -> None:
    data = {
        "argv": ["x", "--password", "abc", f"https://u:p@h\\u{GITHUB}"],
        "db_password": "p\n",
        "n": 1,
        "t": (None,),
    }

    masked = Redactor().redact_data(data)

    assert masked == {
        "argv": ["x", "--password", "***", "https://***@h\\u***"], "db_password": "***", "n": 1, "t": [None],
    }  # fmt: skip


_PIECES = st.sampled_from(
    [
        *TOKENS, "password", "token", "secret=", "=", ":", "://", "@", '"', "'", " ", "\n", "/", "&",
        "Authorization: ", "ssh", "Basic ", "cookie: a=", "extraheader=",
        "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
        KEY, "\\n", "***", "--", "login ", "eyJ", ".", "(", ",", "1", "aB3",
    ]
)  # fmt: skip
_MIXED = st.lists(_PIECES | st.text(max_size=4), max_size=25).map("".join)


@given(_MIXED)
def test_masking_twice_changes_nothing_more_and_keeps_the_lines(text: str) -> None:
    masked = redact(text)

    assert redact(masked) == masked
    assert masked.count("\n") == text.count("\n")


@given(st.text(st.sampled_from(string.ascii_letters + " \n.,é"), max_size=60), _MIXED)
def test_a_token_is_masked_whatever_stands_around_it(before: str, after: str) -> None:
    assert GITHUB not in redact(f"{before} {GITHUB} {after}")


@given(st.text(min_size=6, max_size=20).filter(lambda text: "*" not in text), _MIXED, _MIXED)
def test_a_literal_secret_never_survives(literal: str, before: str, after: str) -> None:
    masker = Redactor([literal])
    masked = masker(before + literal + after)

    assert literal not in masked
    assert masker(masked) == masked


LONG = 60_000  # characters; a pattern that is quadratic in them would run for minutes and meet the test's time limit


@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "\n", "://", "://a:", "token=", 'token="', "token='\"", "token: ", "--", "--a", "--token ", "eyJ",
        "eyJ.", "eyJ-", "authorization:", "authorization: ", "cookie:", "cookie: a", "extraheader=a",
        "bearer ", "login ",
        "login a ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\nAAAA\n",
        "-----BEGIN PRIVATE KEY-----AAAA\n", "sk-", "1", "1:", "glpat-", "key", "password\\", 'password:"\\',
        "hooks.slack.com/services/", "***",
    ],
)  # fmt: skip
def test_long_hostile_text_is_masked_in_time_linear_in_its_length(piece: str) -> None:
    text = piece * (LONG // len(piece))

    assert redact(text).count("\n") == text.count("\n")


def test_every_form_is_reached_through_its_needles() -> None:
    for form in FORMS:
        assert all(needle == needle.lower() for needle in form.needles)
