"""`explain`: the decision and nothing else, whatever is fed to it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.policy.model import Policy
from gateway import cli
from gateway.commands.explain import answers, without_facts


def ask(*lines: object) -> list[dict[str, object]]:
    fed = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return list(answers(fed, without_facts(Policy())))


def test_each_line_is_answered_with_its_id_class_argv_and_reasons() -> None:
    reading, asking, refused = ask(
        {"id": "a", "operation": "git_cmd", "body": "git log --oneline -5"},
        {"id": "b", "operation": "git_cmd.flag", "body": "reset --hard HEAD~1", "category": "ignored"},
        {"id": "c", "operation": "git_cmd", "body": "log; id"},
    )
    assert (reading["id"], reading["decision"], reading["class"]) == ("a", "run", "read")
    assert reading["argv"] == ["git", "log", "--oneline", "-5"]
    assert (asking["id"], asking["decision"], asking["class"]) == ("b", "ask", "rewrite")
    assert asking["reasons"]
    assert (refused["id"], refused["decision"], refused["class"]) == ("c", "refuse", "never")
    assert refused["code"]
    assert refused["hint"]


def test_a_bad_line_is_answered_with_an_error_and_its_id_where_it_has_one() -> None:
    found = ask(
        b"nonsense\n",
        b"\xff\xfe",
        b"[1]",
        b'"git_status"',
        b"[" * 100_000,
        {"id": 1, "operation": "git_push.flag.tmp"},
        {"id": 2, "operation": "git_status", "body": 5},
        {"id": 3, "body": "no operation"},
        {"id": 4, "operation": "\ud800"},
        {"id": 5, "operation": "git_status"},
    )
    assert [answer["id"] for answer in found] == [None, None, None, None, None, 1, 2, 3, 4, 5]
    assert all("error" in answer for answer in found[:-1])
    assert found[-1]["decision"] == "run"


def test_a_body_that_the_host_would_not_read_is_refused_as_the_host_would() -> None:
    nul, surrogate, large = ask(
        {"id": 1, "operation": "git_commit", "body": "a\0b"},
        {"id": 2, "operation": "git_commit", "body": "\ud800"},
        {"id": 3, "operation": "git_commit", "body": "x" * 70_000},
    )
    assert [answer["decision"] for answer in (nul, surrogate, large)] == ["refuse"] * 3
    assert large["code"] == "body_too_large"


@given(
    st.binary(max_size=200)
    | st.builds(lambda body: json.dumps({"operation": "git_cmd", "body": body}).encode(), st.text())
)
def test_no_line_ends_the_answering(line: bytes) -> None:
    first = ask(line.replace(b"\n", b" "), {"id": "next", "operation": "git_status"})
    assert first[-1]["id"] == "next"


def test_one_request_is_explained_to_a_person_with_hidden_characters_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["explain", "git_commit", "safe\u202emessage"]) in (0, 1)
    shown = capsys.readouterr().out
    assert "\u202e" not in shown
    assert "U+202E" in shown


def test_a_refusal_ends_with_1_and_says_what_to_do_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["explain", "git_cmd", "config alias.x '!id'"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("is refused")
    assert max(map(len, shown.splitlines())) <= 80


def test_the_body_can_come_from_standard_input_and_the_answer_be_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfgit status\r\n")))
    assert cli.main(["explain", "git_cmd@blog.a1.flag", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == "run"
