"""Deciding and looking on the command line, over a real record."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from executor.git.push_report import PushFacts, PushKind
from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record import approvals, controls, requests
from executor.record.forms import Form
from executor.record.requests import NewRequest
from executor.record.schema import timestamp
from executor.record.store import Store
from gateway import cli, settings, wiring
from gateway.commands.card import CARD_LIMIT
from gateway.schedule import word

DIGEST = "ab" * 32
PUSH = PushFacts(
    remote="origin",
    url="https://example.org/shop.git",
    ref="refs/heads/main",
    old="b" * 40,
    new="c" * 40,
    kind=PushKind.REWRITE,
    dropped_total=2,
)
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The record of a configured host."""
    for name, variable in (("shared", "SHARED_DIR"), ("shop", "REPO_DIR"), ("state", "STATE_DIR")):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(f"GATEWAY_{variable}", str(tmp_path / name))
    monkeypatch.setenv("GATEWAY_HOST_NAME", "web-1")
    monkeypatch.chdir(tmp_path)
    with wiring.record(settings.load()) as opened:
        yield opened


def asked(
    store: Store,
    name: str = "fix-1",
    *,
    argv: tuple[str, ...] = ("git", "push", "--force"),
    quorum: int = 1,
    form: Form = Form.FLAG,
    repo: str = "shop",
) -> None:
    """Let a request await approval."""
    expires = timestamp(datetime.now(UTC) + timedelta(hours=1))
    with store.transaction() as tx:
        requests.insert_one(
            tx,
            NewRequest(
                id=name,
                operation=Operation.GIT_CMD,
                repo=repo,
                form=form,
                text="push --force",
                identity=f"identity of {name}",
                state=State.AWAITING_APPROVAL,
                reason="please\u202e approve, it is safe",
                risk=RiskClass.FORCE,
                argv=argv,
                digest=DIGEST,
                expires_at=expires,
            ),
        )
        approvals.create(
            tx,
            name,
            digest=DIGEST,
            risk=RiskClass.FORCE,
            reasons=["rewinds a remote branch"],
            quorum=quorum,
            shown={"depends_on": ["main abc first", "origin def second"], "push": [PUSH.to_data()]},
            expires_at=expires,
        )


def state_of(store: Store, name: str = "fix-1") -> State:
    with store.reading() as reading:
        found = requests.get(reading, name)
    assert found is not None
    return found.state


def test_a31_pending_shows_all_that_a_decision_depends_on_with_nothing_hidden(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store, argv=("git", "push", "--force", "origin", "a\u200bb"))
    assert cli.main(["pending"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "fix-1: git_cmd in shop on web-1",
        "git push --force origin",
        "⟨U+200B⟩",
        "says: please⟨U+202E⟩",
        "rewinds a remote branch",
        "abc first",
        "def second",
        "Drops 2 commits",
        "at origin (https://example.org/shop.git)",
        "in 60 min",
        DIGEST[:12],
    ):
        assert part in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize("form", Form)
def test_only_what_the_agent_asked_for_is_said_to_be_its_words(
    form: Form, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store, form=form)
    for verb in ("pending", "why"):
        assert cli.main([verb, "fix-1"]) == 0
        shown = capsys.readouterr().out
        assert ("agent     says: please" in shown) is form.of_the_agent
        assert ("reason    please" in shown) is not form.of_the_agent


def test_what_concerns_the_host_is_not_said_to_be_in_a_repository(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store, repo="")
    for verb, title in (("pending", "fix-1: git_cmd on web-1"), ("why", "fix-1: git_cmd: awaiting approval")):
        assert cli.main([verb, "fix-1"]) == 0
        assert title in capsys.readouterr().out.splitlines()


def test_pending_is_json_for_programs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    asked(store)
    assert cli.main(["pending", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["host"], only["argv"], only["approval"]["digest"]) == ("web-1", ["git", "push", "--force"], DIGEST)


def test_a_yes_queues_the_request_is_recorded_with_the_user_and_wakes_the_gateway(
    store: Store, tmp_path: Path
) -> None:
    asked(store)
    assert cli.main(["approve", "fix-1", "--digest", DIGEST[:12]]) == 0
    assert state_of(store) is State.QUEUED
    with store.reading() as reading:
        approval = approvals.latest_of(reading, "fix-1")
    assert approval is not None
    assert approval.decided_by == (cli.own_user(),)
    assert word.received(tmp_path / "state") == ["fix-1"]


@pytest.mark.parametrize("digest", ["cd" * 6, "ab", DIGEST[:11] + "0", DIGEST + "0"])
def test_a_digest_of_something_else_or_one_that_is_too_short_approves_nothing(digest: str, store: Store) -> None:
    asked(store)
    assert cli.main(["approve", "fix-1", "--digest", digest]) == 1
    assert state_of(store) is State.AWAITING_APPROVAL


def test_a31_what_cannot_be_read_in_full_cannot_be_approved_and_can_be_denied(store: Store) -> None:
    asked(store, argv=("git", "add", "--", "x" * CARD_LIMIT))
    assert cli.main(["approve", "fix-1", "--digest", DIGEST]) == 1
    assert state_of(store) is State.AWAITING_APPROVAL
    assert cli.main(["deny", "fix-1", "--reason", "too long to read"]) == 0
    assert state_of(store) is State.DENIED


def test_a14_the_second_answer_is_told_who_gave_the_first(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    asked(store)
    assert cli.main(["deny", "fix-1", "--reason", "not on a Friday"]) == 0
    assert cli.main(["approve", "fix-1"]) == 1
    assert f"already denied by {cli.own_user()}" in capsys.readouterr().out
    assert state_of(store) is State.DENIED


def test_with_a_quorum_one_person_is_not_enough_however_often(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store, quorum=2)
    assert cli.main(["approve", "fix-1"]) == 0
    assert "1 more must say yes" in capsys.readouterr().out
    assert cli.main(["approve", "fix-1"]) == 1
    assert state_of(store) is State.AWAITING_APPROVAL


def test_a_no_needs_a_reason(store: Store) -> None:
    asked(store)
    with pytest.raises(SystemExit) as ended:
        cli.main(["deny", "fix-1"])
    assert ended.value.code == cli.EXIT_USAGE
    assert state_of(store) is State.AWAITING_APPROVAL


@pytest.mark.usefixtures("store")
def test_what_nobody_asked_cannot_be_decided(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["approve", "nothing"]) == 1
    assert "nothing of that name awaits a decision" in capsys.readouterr().err
    assert cli.main(["why", "nothing"]) == 1


def test_only_the_owner_of_the_state_decides(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store)
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    assert cli.main(["approve", "fix-1"]) == 1
    assert "which is not you" in capsys.readouterr().err
    assert state_of(store) is State.AWAITING_APPROVAL


def test_a_freeze_holds_until_it_is_lifted_and_keeps_its_first_reason(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["freeze", "deploying"]) == 0
    assert cli.main(["freeze", "again"]) == 0
    assert f"frozen already, by {cli.own_user()}: deploying" in capsys.readouterr().out
    with store.reading() as reading:
        held = controls.frozen(reading)
    assert held is not None
    assert held.reason == "deploying"
    assert cli.main(["unfreeze"]) == 0
    assert cli.main(["unfreeze"]) == 1


def test_why_tells_the_whole_story_with_secrets_masked(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    asked(store, argv=("git", "push", f"https://x:{TOKEN}@example.org/a.git"))
    cli.main(["deny", "fix-1", "--reason", "a token in the address"])
    capsys.readouterr()
    assert cli.main(["why", "fix-1"]) == 0
    shown = capsys.readouterr().out
    for part in ("fix-1: git_cmd in shop: denied", "a token in the address", "approval.asked", "approval.vote",
                 "request.denied", cli.own_user()):  # fmt: skip
        assert part in shown
    assert TOKEN not in shown
    assert cli.main(["why", "fix-1", "--json"]) == 0
    told = capsys.readouterr().out
    assert TOKEN not in told
    assert json.loads(told)["events"][0]["kind"] == "request.awaiting_approval"


def test_the_audit_log_is_shown_proved_and_exported(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store)
    assert cli.main(["audit", "show", "--limit", "1"]) == 0
    assert "approval.asked" in capsys.readouterr().out
    assert cli.main(["audit", "verify"]) == 0
    end = capsys.readouterr().out.split()[-1]
    assert cli.main(["audit", "verify", "--anchor", end]) == 0
    assert cli.main(["audit", "verify", "--anchor", "1:" + "0" * 64]) == 1
    assert cli.main(["audit", "export", str(tmp_path / "audit.jsonl")]) == 0
    assert len((tmp_path / "audit.jsonl").read_text().splitlines()) == 2


def test_a_changed_event_shows(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    asked(store)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("update events set data = '{}' where seq = 1")
    assert cli.main(["audit", "verify"]) == 1
    assert "NOT whole: changed" in capsys.readouterr().out


def test_b14_status_says_what_is_wrong_and_never_what_is_planned(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(store)
    cli.main(["freeze", "deploying"])
    capsys.readouterr()
    assert cli.main(["status"]) == 1
    shown = capsys.readouterr().out
    for part in ("no gateway runs", "1 awaiting approval", "deploying", "web-1"):
        assert part in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert cli.main(["status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["requests"]["awaiting_approval"] == 1


_CTRL_D = ""
_TYPED = {"y\n": (0, State.QUEUED), "\n": (1, State.AWAITING_APPROVAL), _CTRL_D: (1, State.AWAITING_APPROVAL)}


@pytest.mark.parametrize("answer", _TYPED)
def test_at_a_terminal_what_is_asked_is_shown_and_a_yes_is_asked_for(
    answer: str,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked(store)
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    code = cli.main(["approve", "fix-1"])
    assert "rewinds a remote branch" in capsys.readouterr().out
    assert (code, state_of(store)) == _TYPED[answer]
