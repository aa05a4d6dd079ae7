"""The request corpus: every line with content, decided as `explain` and as the gateway would decide it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from executor.errors import Refused
from executor.policy.decide import decide
from executor.policy.model import Ask, Decision, Facts, Operation, Policy, Refuse, Request, Run
from executor.policy.parameters import from_body
from executor.protocol.bodies import decode_body

CORPUS = Path(__file__).with_name("requests.jsonl")
PLACES = {
    "@WORK@": "/srv/work",
    "@SHARED@": "/srv/shared",
    "@CANARY@": "/srv/canary",
    "@SECRET@": "/srv/canary/secret.txt",
    "@VICTIM@": "/srv/canary/victim.txt",
    "@OTHERREPO@": "/srv/canary/otherrepo",
    "@REMOTE@": "/srv/remote.git",
    "@PORT@": "9418",
}
NAMES = {Run: "auto-ok", Ask: "needs-approval", Refuse: "refused"}
# The typed operations run by default; where an approval is expected of them, both answers are right.
RUN_BY_DEFAULT = {Operation.GIT_ADD, Operation.GIT_COMMIT, Operation.GIT_PUSH, Operation.GIT_SET_CONFIG}
FIXTURE_FACTS = Facts(branches=frozenset({"main", "dev", "feature/login"}), default_branch="main")

LINES = [
    line
    for line in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    if line.get("content") is not None
]


def content_of(line: dict[str, Any]) -> str:
    content: str = line["content"]
    for place, path in PLACES.items():
        content = content.replace(place, path)
    return content


def decided(operation: Operation, content: str, facts: Facts) -> Decision:
    try:
        params = from_body(operation, decode_body(content.encode("utf-8", "surrogatepass")))
    except Refused as refused:
        return Refuse(refused.code, refused.message, refused.hint)
    return decide(Request(operation, params), Policy(), facts)


def right_answers(line: dict[str, Any], operation: Operation) -> set[str]:
    right = {line["expect"], *line.get("also_ok", ())}
    return right | {"auto-ok"} if operation in RUN_BY_DEFAULT and "needs-approval" in right else right


@pytest.mark.parametrize("facts", [Facts(), FIXTURE_FACTS], ids=["facts-unknown", "facts-known"])
@pytest.mark.parametrize("line", LINES, ids=[line["id"] for line in LINES])
def test_corpus_line_gets_a_right_answer(line: dict[str, Any], facts: Facts) -> None:
    operation = Operation(line["flag"].removesuffix(".flag"))
    decision = decided(operation, content_of(line), facts)
    assert NAMES[type(decision)] in right_answers(line, operation), (line["why"], decision)
    if isinstance(decision, Refuse):
        assert decision.code
        assert decision.reason
        assert decision.hint, "a refusal says what to do instead"


def test_the_corpus_is_whole() -> None:
    assert len(LINES) > 400
    assert len({line["id"] for line in LINES}) == len(LINES)
