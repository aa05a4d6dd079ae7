"""Deciding, as a table: what runs, what asks, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.policy.decide import decide
from executor.policy.model import (
    AddParams,
    Ask,
    CmdParams,
    CommitParams,
    Decision,
    Facts,
    NoParams,
    Operation,
    Params,
    Policy,
    PushParams,
    QueueParams,
    Refuse,
    Request,
    RiskClass,
    Run,
    SetConfigParams,
)

STATUS = Request(Operation.GIT_STATUS, NoParams())
ADD = Request(Operation.GIT_ADD, AddParams((".",)))
COMMIT = Request(Operation.GIT_COMMIT, CommitParams("Fix"))
RECOVER = Request(Operation.GIT_RECOVER, NoParams())
QUEUE = Request(Operation.RESTART_QUEUE, QueueParams("emails"))
KNOWN = Facts(branches=frozenset({"main", "dev"}), default_branch="main")


def push(branch: str | None) -> Request:
    return Request(Operation.GIT_PUSH, PushParams(branch))


def command(*words: str) -> Request:
    return Request(Operation.GIT_CMD, CmdParams(words))


def refusal(decision: Decision) -> Refuse:
    assert isinstance(decision, Refuse), decision
    assert decision.reason
    assert decision.hint
    assert decision.risk is RiskClass.NEVER
    return decision


@pytest.mark.parametrize(
    ("request_", "risk", "argv"),
    [
        (STATUS, RiskClass.READ, ("git_status",)),
        (Request(Operation.GIT_CHECK, NoParams()), RiskClass.READ, ("git_check",)),
        (Request(Operation.HEALTH_CHECK, NoParams()), RiskClass.READ, ("health_check",)),
        (ADD, RiskClass.CHANGE, ("git_add", ".")),
        (COMMIT, RiskClass.CHANGE, ("git_commit", "Fix")),
        (push("dev"), RiskClass.PUBLISH, ("git_push", "dev")),
        (push(None), RiskClass.PUBLISH, ("git_push", "main")),
        (QUEUE, RiskClass.CHANGE, ("restart_queue", "emails")),
        (
            Request(Operation.GIT_SET_CONFIG, SetConfigParams("J", "j@x.y")),
            RiskClass.CHANGE,
            ("git_set_config", "J", "j@x.y"),
        ),
        (command("log", "-1"), RiskClass.READ, ("git", "log", "-1")),
    ],
)
def test_runs_by_itself(request_: Request, risk: RiskClass, argv: tuple[str, ...]) -> None:
    decision = decide(request_, Policy(), KNOWN)
    assert isinstance(decision, Run)
    assert (decision.risk, decision.argv) == (risk, argv)


def test_a_command_that_changes_asks_with_the_judged_command_and_its_reasons() -> None:
    decision = decide(command("reset", "--hard"), Policy(), KNOWN)
    assert isinstance(decision, Ask)
    assert decision.risk is RiskClass.REWRITE
    assert decision.command is not None
    assert decision.command.argv == decision.argv == ("git", "reset", "--hard")
    assert "discards all uncommitted changes" in decision.reasons
    assert (decision.quorum, decision.expiry_seconds) == (1, 3600)


def test_quorum_and_expiry_come_from_the_class() -> None:
    policy = Policy(quorum={RiskClass.FORCE: 2}, expiry_seconds={RiskClass.FORCE: 600})
    forced = decide(command("push", "--force"), policy, KNOWN)
    assert isinstance(forced, Ask)
    assert (forced.quorum, forced.expiry_seconds) == (2, 600)
    fetched = decide(command("fetch"), policy, KNOWN)
    assert isinstance(fetched, Ask)
    assert (fetched.quorum, fetched.expiry_seconds) == (1, 3600)


@pytest.mark.parametrize("request_", [ADD, COMMIT, push("dev"), QUEUE, STATUS, command("log")])
def test_one_setting_puts_an_operation_behind_approval(request_: Request) -> None:
    decision = decide(request_, Policy(approve=frozenset({request_.operation})), KNOWN)
    assert isinstance(decision, Ask)
    assert any(str(request_.operation) in reason for reason in decision.reasons)


def test_a_recovery_always_asks() -> None:
    assert isinstance(decide(RECOVER, Policy(), KNOWN), Ask)


@pytest.mark.parametrize("branch", ["main", None, "release/1.2"])
def test_a_push_to_a_protected_branch_asks(branch: str | None) -> None:
    facts = Facts(branches=frozenset({"main", "release/1.2"}), default_branch="main")
    decision = decide(push(branch), Policy(protected_branches=("main", "release/*")), facts)
    assert isinstance(decision, Ask)
    assert decision.reasons == (f"{branch or 'main'} is a protected branch",)


def test_a_push_to_another_branch_runs_although_some_are_protected() -> None:
    assert isinstance(decide(push("dev"), Policy(protected_branches=("main",)), KNOWN), Run)


def test_a_push_of_an_unknown_default_branch_asks_where_branches_are_protected() -> None:
    assert isinstance(decide(push(None), Policy(protected_branches=("main",)), Facts()), Ask)
    assert isinstance(decide(push(None), Policy(), Facts()), Run)


def test_a_push_that_seems_to_hold_a_secret_asks_and_names_its_kind() -> None:
    facts = Facts(branches=frozenset({"main"}), default_branch="main", push_secret="an AWS access key")
    for request in (push("main"), command("push", "origin", "main")):
        decision = decide(request, Policy(), facts)
        assert isinstance(decision, Ask)
        assert any("an AWS access key" in reason for reason in decision.reasons)


@pytest.mark.parametrize("name", ["v1.0", "feature/gone", "ma"])
def test_a_push_of_what_is_no_branch_is_refused_and_told_the_branches(name: str) -> None:
    refused = refusal(decide(push(name), Policy(), KNOWN))
    assert refused.code == "no_such_branch"
    assert "dev, main" in refused.hint


def test_without_the_repository_a_release_is_not_taken_for_a_branch() -> None:
    assert refusal(decide(push("v1.0"), Policy(), Facts())).code == "no_such_branch"
    assert isinstance(decide(push("10.x"), Policy(), Facts()), Run)
    facts = Facts(branches=frozenset({"v1.0"}))
    assert isinstance(decide(push("v1.0"), Policy(), facts), Run)


def test_a_default_branch_that_does_not_exist_is_refused() -> None:
    facts = Facts(branches=frozenset({"dev"}), default_branch="main")
    assert refusal(decide(push(None), Policy(), facts)).code == "no_such_branch"


@pytest.mark.parametrize("request_", [ADD, COMMIT, push("main"), QUEUE, RECOVER, command("fetch"), command("stash")])
def test_a_frozen_gateway_refuses_all_but_reading(request_: Request) -> None:
    refused = refusal(decide(request_, Policy(), Facts(frozen="an incident")))
    assert refused.code == "frozen"
    assert "an incident" in refused.reason


@pytest.mark.parametrize("request_", [STATUS, command("log"), Request(Operation.HEALTH_CHECK, NoParams())])
def test_a_frozen_gateway_still_answers_questions(request_: Request) -> None:
    assert isinstance(decide(request_, Policy(), Facts(frozen="")), Run)


def test_an_operation_that_the_host_has_no_set_up_for_is_refused() -> None:
    facts = Facts(not_configured=frozenset({Operation.RESTART_QUEUE}))
    assert refusal(decide(QUEUE, Policy(), facts)).code == "not_configured"


def test_an_unknown_repository_is_refused_and_told_the_configured_ones() -> None:
    policy = Policy(repositories=("shop", "blog"))
    refused = refusal(decide(Request(Operation.GIT_STATUS, NoParams(), repo="wiki"), policy, KNOWN))
    assert refused.code == "unknown_repository"
    assert "shop, blog" in refused.hint
    assert isinstance(decide(Request(Operation.GIT_STATUS, NoParams(), repo="blog"), policy, KNOWN), Run)
    assert isinstance(decide(STATUS, policy, KNOWN), Run)


def test_parameters_of_another_operation_are_refused() -> None:
    assert refusal(decide(Request(Operation.GIT_ADD, NoParams()), Policy(), KNOWN)).code == "bad_params"


words = st.text(max_size=12)
params: st.SearchStrategy[Params] = st.one_of(
    st.just(NoParams()),
    st.builds(AddParams, st.lists(words, max_size=3).map(tuple)),
    st.builds(CommitParams, words),
    st.builds(PushParams, st.none() | words),
    st.builds(SetConfigParams, words, words),
    st.builds(CmdParams, st.lists(words | st.sampled_from(["log", "push", "-f", "origin"]), max_size=5).map(tuple)),
    st.builds(QueueParams, st.none() | words),
)
some_operations = st.frozensets(st.sampled_from(Operation), max_size=3)


@given(
    st.builds(Request, st.sampled_from(Operation), params, repo=words),
    st.builds(
        Policy,
        approve=some_operations,
        protected_branches=st.lists(words, max_size=2).map(tuple),
        repositories=st.lists(words, max_size=2).map(tuple),
    ),
    st.builds(
        Facts,
        branches=st.none() | st.frozensets(words, max_size=2),
        default_branch=st.none() | words,
        push_secret=st.none() | words,
        frozen=st.none() | words,
        not_configured=some_operations,
    ),
)
def test_every_request_gets_a_decision(request_: Request, policy: Policy, facts: Facts) -> None:
    decision = decide(request_, policy, facts)
    if isinstance(decision, Ask):
        assert decision.reasons
    if isinstance(decision, Refuse):
        assert decision.code
        assert decision.reason
    if isinstance(decision, Run) and facts.frozen is not None:
        assert decision.risk is RiskClass.READ
