"""What a flag's bytes say: accepted text, and refusals that help an honest writer."""

from __future__ import annotations

import codecs
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from executor.errors import Refused
from executor.policy.model import Operation
from executor.protocol.bodies import (
    BODY_LIMIT,
    REASON_LIMIT,
    Truncated,
    decode_body,
    looks_cut_off,
    parse_request_json,
)

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are slow at times


def refusal_of_body(data: bytes) -> Refused:
    with pytest.raises(Refused) as caught:
        decode_body(data)
    return caught.value


def refusal_of_json(text: str) -> Refused:
    with pytest.raises(Refused) as caught:
        parse_request_json(text)
    return caught.value


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"main\n", "main\n"),
        ("Füße 🎉\n".encode(), "Füße 🎉\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (codecs.BOM_UTF8 + b"main\r\n", "main\n"),
        (codecs.BOM_UTF8, ""),
        (b"x" * BODY_LIMIT, "x" * BODY_LIMIT),
    ],
)
def test_d08_text_as_windows_and_unix_write_it_reads_the_same(data: bytes, text: str) -> None:
    assert decode_body(data) == text


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"x" * (BODY_LIMIT + 1), "body_too_large"),
        (b"a\0b", "body_nul"),
        (b"\0" * 8, "body_nul"),
        (b"fix \xff\xfe bytes", "body_not_utf8"),
        (b"\xc0\xaf", "body_not_utf8"),
        (b"\xed\xa0\x80", "body_not_utf8"),
        (b"typo\rmalicious", "body_lone_cr"),
        (b"x\r | a@example.com", "body_lone_cr"),
        (b"a\r\r\nb", "body_lone_cr"),
        (b"a\r", "body_lone_cr"),
    ],
)
def test_what_is_not_plain_text_is_refused_with_the_reason(data: bytes, code: str) -> None:
    refusal = refusal_of_body(data)

    assert refusal.code == code
    assert refusal.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["git status\r\n", '{"operation": "git_status"}'])
def test_d08_utf16_is_refused_with_the_command_that_mends_it(encoding: str, text: str) -> None:
    refusal = refusal_of_body(text.encode(encoding))

    assert refusal.code == "body_utf16"
    assert "Set-Content -Encoding utf8" in refusal.hint


def test_d02_bytes_that_end_within_a_character_look_cut_off() -> None:
    with pytest.raises(Truncated):
        decode_body("Füße"[:2].encode()[:-1])


@UNTIMED
@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf\xef\xbb\xbf")
def test_any_bytes_are_either_plain_text_or_refused(data: bytes) -> None:
    try:
        text = decode_body(data)
    except Refused:
        return

    assert "\0" not in text
    assert "\r" not in text
    text.encode()


def test_a_full_request_is_read_with_every_field() -> None:
    request = parse_request_json(
        '{"operation": "git_commit", "repo": "web", "params": {"message": "Fix\\r\\nit"},'
        ' "reason": "why", "dry_run": true}'
    )

    assert request.operation is Operation.GIT_COMMIT
    assert (request.repo, request.reason, request.dry_run) == ("web", "why", True)
    assert request.params == {"message": "Fix\nit"}


def test_a_request_needs_no_more_than_its_operation() -> None:
    request = parse_request_json('{"operation": "git_status"}')

    assert (request.repo, request.params, request.reason, request.dry_run) == ("", {}, "", False)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{}", "request_invalid"),
        ("[]", "request_not_object"),
        ("null", "request_not_object"),
        ('"git_status"', "request_not_object"),
        ("git status", "request_not_json"),
        ('{"operation": git_status}', "request_not_json"),
        ('{"operation": "git_status"} {}', "request_not_json"),
        ('{"operation": "git_status",}', "request_not_json"),
        ("\ufeff{}", "request_not_json"),
        ('{"operation": "git_rebase"}', "request_invalid"),
        ('{"operation": 1}', "request_invalid"),
        ('{"operation": "git_status", "shell": "id"}', "request_invalid"),
        ('{"operation": "git_status", "dry_run": 1}', "request_invalid"),
        ('{"operation": "git_status", "dry_run": "true"}', "request_invalid"),
        ('{"operation": "git_status", "params": []}', "request_invalid"),
        ('{"operation": "git_status", "repo": "../x"}', "request_invalid"),
        ('{"operation": "git_status", "repo": "web\\n"}', "request_invalid"),
        ('{"operation": "git_status", "reason": null}', "request_invalid"),
        ('{"operation": "git_status", "reason": "%s"}' % ("x" * (REASON_LIMIT + 1)), "request_invalid"),
        ('{"operation": "git_status", "operation": "git_push"}', "request_duplicate_key"),
        ('{"operation": "git_status", "params": {"a": {"b": 1, "b": 2}}}', "request_duplicate_key"),
        ('{"operation": "git_status", "params": {"a\\r\\n": 1, "a\\n": 2}}', "request_duplicate_key"),
        ('{"operation": "git_status", "params": {"a": NaN}}', "request_bad_number"),
        ('{"operation": "git_status", "params": {"a": -Infinity}}', "request_bad_number"),
        ('{"operation": "git_status", "params": {"a": 1e999}}', "request_bad_number"),
        ('{"operation": "git_status", "params": {"a": %s}}' % ("9" * 5000), "request_bad_number"),
        ('{"operation": "git_status", "params": {"a": "\\ud800"}}', "request_bad_text"),
        ('{"operation": "git_status", "params": {"\\udfff": 1}}', "request_bad_text"),
        ('{"operation": "git_status", "params": {"a": ["\\u0000"]}}', "body_nul"),
        ('{"operation": "git_commit", "params": {"message": "typo\\rmalicious"}}', "body_lone_cr"),
        ("[" * 100_000, "request_too_deep"),
        ('{"a":' * 10_000, "request_too_deep"),
        ('{"operation": "git_status", "params": ' + '{"a":' * 50 + "1" + "}" * 51, "request_too_deep"),
    ],
)
def test_d05_a_malformed_request_is_refused_with_the_reason(text: str, code: str) -> None:
    refusal = refusal_of_json(text)

    assert refusal.code == code
    assert refusal.hint
    assert len(refusal.message) < 1_000


@pytest.mark.parametrize(
    "text", ["", " \n", "{", '{"op":', '{"operation": "git_sta', '{"operation": "x\\', '{"a": [1, 2]']
)
def test_d02_a_request_whose_writer_is_not_done_is_told_apart_from_a_wrong_one(text: str) -> None:
    assert isinstance(refusal_of_json(text), Truncated)
    assert looks_cut_off(text.encode())


@UNTIMED
@given(st.data())
def test_d02_every_beginning_of_a_request_looks_cut_off(data: st.DataObject) -> None:
    params = {"message": 'a "quoted" {text} with [brackets] \\ and ü', "n": [1, {"deep": None}]}
    whole = json.dumps({"operation": "git_commit", "params": params}, ensure_ascii=data.draw(st.booleans())).encode()
    end = data.draw(st.integers(0, len(whole) - 1))

    assert looks_cut_off(whole[:end])
    assert not looks_cut_off(whole)


def test_a_wrong_request_does_not_look_cut_off() -> None:
    assert not looks_cut_off(b'{"operation": "git_rebase"}')
    assert not looks_cut_off(b"\xff\xfe{\0}\0")


def test_brackets_and_quotes_within_a_text_do_not_count_as_nesting() -> None:
    message = '[{"\\' * 1000

    request = parse_request_json(json.dumps({"operation": "git_commit", "params": {"message": message}}))

    assert request.params == {"message": message}


def test_g07_a_refusal_does_not_repeat_what_was_written() -> None:
    refusal = refusal_of_json('{"operation": "git_status", "reason": ["hunter2"], "\\u001b[2Jkey": "hunter2"}')

    assert "hunter2" not in str(refusal)
    assert "\x1b" not in str(refusal)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@UNTIMED
@given(st.dictionaries(st.sampled_from(["operation", "repo", "params", "reason", "dry_run", "x"]), JSON))
def test_any_json_object_is_either_a_request_or_refused(value: dict[str, Any]) -> None:
    try:
        parse_request_json(json.dumps(value))
    except Refused:
        return

    assert set(value) <= {"operation", "repo", "params", "reason", "dry_run"}


@UNTIMED
@given(st.text() | st.text(alphabet='{}[]":,\\ \n0123456789eE+-.truefalsnN\ud800'))
def test_any_text_is_either_a_request_or_refused(text: str) -> None:
    try:
        parse_request_json(text)
    except Refused:
        return

    assert isinstance(json.loads(text), dict)
