"""What a flag's body and a typed request's params become, and what is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Refused
from executor.policy.model import (
    AddParams,
    CmdParams,
    CommitParams,
    NoParams,
    Operation,
    Params,
    PushParams,
    QueueParams,
    SetConfigParams,
)
from executor.policy.parameters import from_body, from_typed

ADD, COMMIT, PUSH = Operation.GIT_ADD, Operation.GIT_COMMIT, Operation.GIT_PUSH
IDENTITY, CMD, QUEUE = Operation.GIT_SET_CONFIG, Operation.GIT_CMD, Operation.RESTART_QUEUE


@pytest.mark.parametrize(
    ("operation", "body", "params"),
    [
        (ADD, ".", AddParams((".",))),
        (ADD, ".\n", AddParams((".",))),
        (ADD, "./\n", AddParams((".",))),
        (ADD, "src/app.py\r\nREADME.md\r\n", AddParams(("src/app.py", "README.md"))),
        (ADD, "./src/app.py", AddParams(("src/app.py",))),
        (ADD, " file with spaces.txt \n\n", AddParams(("file with spaces.txt",))),
        (ADD, "täst.txt\n.gitignore\n.github/x.yml", AddParams(("täst.txt", ".gitignore", ".github/x.yml"))),
        (ADD, "app/[id]/page.tsx", AddParams(("app/[id]/page.tsx",))),
        (ADD, "a\na\nb", AddParams(("a", "b"))),
        (COMMIT, "Fix typo\n", CommitParams("Fix typo")),
        (COMMIT, "Title\r\n\r\n- a\r\n", CommitParams("Title\n\n- a")),
        (COMMIT, "  indented\n\n", CommitParams("  indented\n")),
        (COMMIT, "-m is no option; $HOME && `x`", CommitParams("-m is no option; $HOME && `x`")),
        (COMMIT, "🚀 ❤️ 👩‍💻", CommitParams("🚀 ❤️ 👩‍💻")),
        (PUSH, "", PushParams(None)),
        (PUSH, "\n", PushParams(None)),
        (PUSH, "feature/login\n", PushParams("feature/login")),
        (PUSH, "größe", PushParams("größe")),
        (IDENTITY, "Jane Doe|jane@example.com\n", SetConfigParams("Jane Doe", "jane@example.com")),
        (IDENTITY, "Conan O'Brien | conan@example.com", SetConfigParams("Conan O'Brien", "conan@example.com")),
        (
            IDENTITY,
            "ci[bot] | 41898282+ci[bot]@users.noreply.github.com",
            SetConfigParams("ci[bot]", "41898282+ci[bot]@users.noreply.github.com"),
        ),
        (CMD, "git status\n", CmdParams(("status",))),
        (CMD, "status -s", CmdParams(("status", "-s"))),
        (QUEUE, "", QueueParams(None)),
        (QUEUE, "emails\n", QueueParams("emails")),
        (Operation.GIT_STATUS, "1\n", NoParams()),
        (Operation.GIT_CHECK, "please; rm -rf /", NoParams()),
        (Operation.GIT_RECOVER, "now", NoParams()),
        (Operation.HEALTH_CHECK, "", NoParams()),
    ],
)
def test_body_is_taken(operation: Operation, body: str, params: Params) -> None:
    assert from_body(operation, body) == params


@pytest.mark.parametrize(
    ("operation", "body", "code"),
    [
        (ADD, "", "no_path"),  # a write that was cut short must not stage everything
        (ADD, " \n\t\n", "no_path"),
        (ADD, "-A", "bad_path"),
        (ADD, "-f .", "bad_path"),
        (ADD, "src\n../x", "bad_path"),
        (ADD, "/etc/passwd", "bad_path"),
        (ADD, "~/x", "bad_path"),
        (ADD, ":/", "bad_path"),
        (ADD, ":!x", "bad_path"),
        (ADD, ".git/config", "bad_path"),
        (ADD, "sub/.GIT", "bad_path"),
        (ADD, "././.git", "bad_path"),
        (ADD, "*.py", "bad_path"),
        (ADD, "x" * 5000, "bad_path"),
        (ADD, "x\u202ey", "hidden_characters"),
        (ADD, "\n".join(f"f{number}" for number in range(1001)), "too_many_paths"),
        (COMMIT, "", "empty_message"),
        (COMMIT, " \n\t", "empty_message"),
        (COMMIT, "a\x1b[2J", "hidden_characters"),
        (COMMIT, "a\rb", "hidden_characters"),
        (COMMIT, "a\u200bb", "hidden_characters"),
        (PUSH, "main dev", "bad_branch_name"),
        (PUSH, "main\ndev", "bad_branch_name"),
        (PUSH, "--all", "bad_branch_name"),
        (PUSH, "+main", "bad_branch_name"),
        (PUSH, ":main", "bad_branch_name"),
        (PUSH, "main@{1}", "bad_branch_name"),
        (PUSH, "HEAD", "bad_branch_name"),
        (PUSH, "ma\u0456n", "hidden_characters"),
        (IDENTITY, "Jane", "bad_identity"),
        (IDENTITY, "a|b|c@d", "bad_identity"),
        (IDENTITY, " | a@b.c", "bad_identity"),
        (IDENTITY, "Jane | ", "bad_identity"),
        (IDENTITY, "--unset | a@b.c", "bad_identity"),
        (IDENTITY, "A <x@y> | a@b.c", "bad_identity"),
        (IDENTITY, "Jane | a@b> E <c@d", "bad_identity"),
        (IDENTITY, "x\n[core] | a@b.c", "hidden_characters"),
        (CMD, "", "empty_command"),
        (CMD, "git", "empty_command"),
        (CMD, "git a; b", "compound_command"),
        (QUEUE, "a b", "bad_queue_name"),
        (QUEUE, "-x", "bad_queue_name"),
        (QUEUE, "$(id)", "bad_queue_name"),
    ],
)
def test_body_is_refused_with_a_code_and_a_hint(operation: Operation, body: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        from_body(operation, body)
    assert caught.value.code == code
    assert caught.value.hint


def test_an_empty_add_is_told_how_to_stage_everything() -> None:
    with pytest.raises(Refused) as caught:
        from_body(ADD, "")
    assert "." in caught.value.hint
    assert "everything" in caught.value.hint


@pytest.mark.parametrize(
    ("operation", "given", "params"),
    [
        (ADD, {"paths": ["."]}, AddParams((".",))),
        (
            ADD,
            {"paths": ["two\nlines.txt", " blank at the ends "]},
            AddParams(("two\nlines.txt", " blank at the ends ")),
        ),
        (COMMIT, {"message": "Fix\n"}, CommitParams("Fix\n")),
        (PUSH, {}, PushParams(None)),
        (PUSH, {"branch": "main"}, PushParams("main")),
        (PUSH, {"branch": None}, PushParams(None)),
        (IDENTITY, {"name": "Jane", "email": "j@example.com"}, SetConfigParams("Jane", "j@example.com")),
        (CMD, {"command": "git log -1"}, CmdParams(("log", "-1"))),
        (CMD, {"argv": ["git", "log", "-1"]}, CmdParams(("log", "-1"))),
        (CMD, {"argv": ["commit", "-m", "a; b"]}, CmdParams(("commit", "-m", "a; b"))),
        (QUEUE, {}, QueueParams(None)),
        (QUEUE, {"queue": "emails"}, QueueParams("emails")),
        (Operation.GIT_STATUS, {}, NoParams()),
    ],
)
def test_typed_params_are_taken(operation: Operation, given: dict[str, object], params: Params) -> None:
    assert from_typed(operation, given) == params


@pytest.mark.parametrize(
    ("operation", "given", "said"),
    [
        (ADD, {}, "missing: paths"),
        (ADD, {"path": ["x"]}, "unknown: 'path'; known: paths"),
        (ADD, {"paths": "x"}, '"paths" must be a list of strings'),
        (ADD, {"paths": ["x", 1]}, '"paths" must be a list of strings'),
        (ADD, {"paths": []}, "no path"),
        (ADD, {"paths": ["../x"]}, "cannot be staged"),
        (ADD, {"paths": ["a\u200bb"]}, "cannot be seen"),
        (COMMIT, {"message": ["x"]}, '"message" must be a string'),
        (COMMIT, {"message": "x", "amend": True}, "unknown: 'amend'"),
        (COMMIT, {"message": "x" * 70_000}, "at most"),
        (PUSH, {"branch": 1}, '"branch" must be a string'),
        (PUSH, {"branch": "main", "force": True}, "unknown: 'force'"),
        (IDENTITY, {"name": "Jane"}, "missing: email"),
        (CMD, {}, "either"),
        (CMD, {"command": "log", "argv": ["log"]}, "either"),
        (CMD, {"argv": []}, "empty"),
        (CMD, {"argv": ["git"]}, "empty"),
        (CMD, {"argv": ["x"] * 100}, "at most"),
        (Operation.GIT_STATUS, {"x": 1}, "unknown: 'x'; known: none"),
        (QUEUE, {"queue": "a b"}, "not a queue name"),
    ],
)
def test_typed_params_are_refused_by_name(operation: Operation, given: dict[str, object], said: str) -> None:
    with pytest.raises(Refused) as caught:
        from_typed(operation, given)
    assert said in caught.value.message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["paths", "message", "branch", "name", "email", "command", "argv", "queue", "x"])


@given(st.sampled_from(Operation), st.text(max_size=200))
def test_any_body_is_taken_or_refused(operation: Operation, body: str) -> None:
    with contextlib.suppress(Refused):
        from_body(operation, body)


@given(st.sampled_from(Operation), st.dictionaries(keys, json_values, max_size=4))
def test_any_params_are_taken_or_refused(operation: Operation, given: dict[str, object]) -> None:
    with contextlib.suppress(Refused):
        from_typed(operation, given)
