"""docs/protocol.md says what the code does: codes, states, operations, limits."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from executor.git.failures import _KNOWN
from executor.outcome import OPEN_STATES, State
from executor.policy.model import Operation, RiskClass
from executor.protocol.bodies import BODY_LIMIT, DEPTH_LIMIT, NUMBER_LIMIT, REASON_LIMIT
from executor.protocol.capabilities import LimitsView, Needs
from executor.protocol.names import NAME_PATTERN
from executor.protocol.results import ApprovalView, Result
from executor.record.lifecycle import ARROWS

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "protocol.md").read_text()
CODE = re.compile(r"[a-z]+(_[a-z0-9]+)+")
RAISES = {"Refused", "Failed", "TimedOut", "Unavailable", "ConfigError", "CannotRecover", "Refuse", "_bad"}
# What only operators run (adopt, release, undo). Then: a code that nobody is told, and one that only operators are.
NOT_THE_AGENTS = {
    "adoption", "adoption_checks", "adoption_plan", "adoption_recovery", "agreed_remotes", "foreign_copy",
    "git_dir_copy", "git_dir_survey", "gitfile", "index_rebuild", "release", "submodule_dirs", "table", "taking_back",
    "undo",
}  # fmt: skip
NEVER_ANSWERED = {"changed_meanwhile", "no_rescue"}


def strings_in(folder: Path) -> set[str]:
    trees = [ast.parse(path.read_text()) for path in folder.rglob("*.py")]
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def codes_in(path: Path) -> set[str]:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call) and node.args)
    firsts = (call.args[0] for call in calls if ast.unparse(call.func) in RAISES)
    return {first.value for first in firsts if isinstance(first, ast.Constant) and isinstance(first.value, str)}


def section(title: str) -> str:
    return DOCUMENT.split(f"{title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_code_of_a_refused_file_or_body_is_explained() -> None:
    prefixes = ("flag_", "body_", "request_", "reserved_")
    raised = {text for text in strings_in(ROOT / "executor" / "protocol") if text.startswith(prefixes)}
    raised = {text for text in raised if CODE.fullmatch(text)} - {"body_bytes", "request_id"}

    assert {code for code in raised if f"`{code}`" not in DOCUMENT} == set()


def test_every_code_that_a_request_can_end_with_is_explained() -> None:
    rooms = [ROOT / "executor" / room for room in (".", "policy", "git", "sandbox")]
    modules = [path for room in rooms for path in room.glob("*.py") if path.stem not in NOT_THE_AGENTS]
    raised = {code for path in modules for code in codes_in(path)} | {code for _, code, *_ in _KNOWN}

    assert {code for code in raised - NEVER_ANSWERED if f"`{code}`" not in DOCUMENT} == set()


def test_every_code_that_is_explained_can_happen() -> None:
    explained = set(re.findall(r"`([a-z0-9_]+)`", section("## Error codes")))
    explained -= {"unknown", "code", "bad_ref_name"}  # the last one is put together: bad_{what}_name

    assert explained - strings_in(ROOT / "executor") - set(State) - set(Operation) == set()


@pytest.mark.parametrize("state", sorted(OPEN_STATES))
def test_the_arrows_are_the_ones_that_are_enforced(state: State) -> None:
    [row] = [line for line in DOCUMENT.splitlines() if re.match(rf"\| `{state}` \| `", line)]

    assert set(re.findall(r"`(\w+)`", row.split("|")[2])) == set(ARROWS[state])


@pytest.mark.parametrize("state", sorted(set(State) - OPEN_STATES))
def test_each_final_state_says_what_to_do(state: State) -> None:
    assert re.search(rf"^\| `{state}` \| .+ \| .+ \|$", DOCUMENT, re.MULTILINE)


@pytest.mark.parametrize("operation", Operation)
def test_each_operation_says_what_its_flag_and_its_params_hold(operation: Operation) -> None:
    assert re.search(rf"^\| `{operation}` \| .+ \| `{{.*}}`.* \|$", DOCUMENT, re.MULTILINE)


def test_each_key_of_a_result_is_shown_or_explained() -> None:
    keys = [field.serialization_alias or name for name, field in Result.model_fields.items()]

    assert [key for key in keys if f'"{key}"' not in DOCUMENT and f"`{key}`" not in DOCUMENT] == []
    assert [key for key in ApprovalView.model_fields if f"`{key}`" not in DOCUMENT] == []
    assert [risk for risk in RiskClass if f"`{risk}`" not in DOCUMENT] == []
    assert [need for need in Needs if f"`{need}`" not in DOCUMENT] == []


def test_the_limits_are_the_ones_that_hold() -> None:
    words = [
        f"at most {BODY_LIMIT:,} bytes",
        f"at most {REASON_LIMIT:,} characters",
        f"deeper than {DEPTH_LIMIT} levels",
    ]
    words += [f"{NUMBER_LIMIT} digits", NAME_PATTERN, *(f'"{name}"' for name in LimitsView.model_fields)]

    assert [word for word in words if word not in DOCUMENT] == []
