"""Requests, approvals and facts as they occur, of which the golden cards are made. Ids and names are made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from executor.git.push_report import FileStat, PushFacts, PushKind
from executor.git.risk_facts import CommitFact, RiskFact, Severity
from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.approvals import Approval, ApprovalState
from executor.record.audit import Event
from executor.record.forms import Form
from executor.record.requests import RequestRow
from gateway.telegram.card_model import Place

OLD, NEW, THIRD = ("4f1c2e9a0b12d3e4f5061728394a5b6c7d8e9f00", "9be0" * 10, "77aa" * 10)
DIGEST = "c0ffee11" * 8
NOW = datetime(2025, 11, 30, 17, 35, tzinfo=UTC)
ANN, BEN = "telegram:1001", "telegram:1002"
PLACE = Place("web-1", names={ANN: "Ann", BEN: "Ben"})


def at(minute: int, second: int = 0) -> str:
    return f"2025-11-30T17:{minute:02}:{second:02}.000000Z"


def request(**changes: Any) -> RequestRow:
    values: dict[str, Any] = {
        "id": "fix-login",
        "operation": Operation.GIT_CMD,
        "repo": "shop",
        "form": Form.FLAG,
        "text": "",
        "content_hash": "",
        "identity": "",
        "reason": "",
        "dry_run": False,
        "generated": False,
        "state": State.AWAITING_APPROVAL,
        "risk": RiskClass.REWRITE,
        "argv": ("git", "reset", "--hard", "origin/main"),
        "decision": {},
        "binding": None,
        "digest": DIGEST,
        "result": None,
        "output": None,
        "received_at": at(34),
        "started_at": None,
        "finished_at": None,
        "expires_at": None,
        "event_seq": 40,
    }
    return RequestRow(**{**values, **changes})


def approval(**changes: Any) -> Approval:
    values: dict[str, Any] = {
        "id": "fix-login.1",
        "request_id": "fix-login",
        "round": 1,
        "digest": DIGEST,
        "risk": RiskClass.REWRITE,
        "reasons": ("git reset --hard throws away uncommitted changes",),
        "quorum": 1,
        "shown": {
            "argv": ["git", "reset", "--hard", "origin/main"],
            "depends_on": [
                "HEAD is on: refs/heads/main",
                f"HEAD: {OLD}",
                "in progress: none",
                f"refs/remotes/origin/main: {NEW}",
                "not bound: the content of files is taken as it is when this runs",
            ],
            "moved": [],
            "loses": [
                "Uncommitted changes (2):",
                "   M app/Http/Login.php",
                "  ?? notes.txt",
                "Commits that no other branch or tag has (1):",
                "  4f1c2e9a0b 2025-11-30 Agent: Try another session driver",
            ],
        },
        "state": ApprovalState.PENDING,
        "created_at": at(34),
        "expires_at": "2025-11-30T18:34:00.000000Z",
        "decided_at": None,
        "decided_by": (),
        "decision_reason": "",
    }
    return Approval(**{**values, **changes})


def decided(
    state: ApprovalState = ApprovalState.APPROVED, by: tuple[str, ...] = (ANN,), reason: str = ""
) -> dict[str, Any]:
    return {"state": state, "decided_at": at(40), "decided_by": by, "decision_reason": reason}


def event(kind: str, seq: int = 41, **data: Any) -> Event:
    return Event(seq, at(40), "web-1", "fix-login", kind, data, "5ea1" * 16)


def commit(number: int, subject: str) -> CommitFact:
    return CommitFact(
        f"{number:04x}" * 10, "Agent", "agent@example.com", "agent@example.com", "2025-11-30T10:00:00+00:00", subject
    )


def push_facts(**changes: Any) -> PushFacts:
    facts = PushFacts(
        remote="origin",
        url="ssh://git@example.com/acme/shop.git",
        ref="refs/heads/main",
        old=OLD,
        new=NEW,
        kind=PushKind.FAST_FORWARD,
        commits=(
            commit(0x9BE0, "Deploy on every push"),
            commit(0x77AA, "Add a discount for returning customers"),
            commit(0x1234, "Move the session to Redis"),
        ),
        commits_total=3,
        base=OLD,
        files=(
            FileStat(".github/workflows/deploy.yml", "M", 12, 1),
            FileStat("app/Discount.php", "A", 88, 0),
            FileStat("config/session.php", "M", 2, 2),
            FileStat("public/logo.png", "A", None, None),
            FileStat("database/migrations/2025_11_30_add_discount.php", "A", 31, 0),
        ),
        files_total=5,
        added_total=133,
        deleted_total=3,
        risks=(
            RiskFact(
                "ci",
                Severity.DANGER,
                "changes what CI runs, with the secrets that CI has",
                (".github/workflows/deploy.yml",),
                1,
            ),
            RiskFact(
                "migrations",
                Severity.WARNING,
                "database migrations",
                ("database/migrations/2025_11_30_add_discount.php",),
                1,
            ),
            RiskFact("binary", Severity.NOTE, "binary files, of which a diff shows nothing", ("public/logo.png",), 1),
        ),
    )
    return replace(facts, **changes)


def push_request(**changes: Any) -> RequestRow:
    values: dict[str, Any] = {
        "id": "release-12",
        "operation": Operation.GIT_PUSH,
        "risk": RiskClass.PUBLISH,
        "argv": ("git_push", "main"),
        "reason": "The discount is reviewed and tested.\nPlease let it go out before the weekend.",
    }
    return request(**{**values, **changes})


def push_approval(facts: PushFacts | None = None, **changes: Any) -> Approval:
    shown = {
        "argv": ["git_push", "main"],
        "push": [(facts or push_facts()).to_data()],
        "diff": "diff --git a/app/Discount.php b/app/Discount.php\n+<?php\n",
        "depends_on": [
            "address of origin: ssh://git@example.com/acme/shop.git",
            f"refs/heads/main at origin: {OLD}",
            f"what goes to refs/heads/main: {NEW}",
        ],
        "moved": [],
    }
    values: dict[str, Any] = {
        "id": "release-12.1",
        "request_id": "release-12",
        "risk": RiskClass.PUBLISH,
        "reasons": ("main is a protected branch",),
        "shown": {**shown, **changes.pop("shown", {})},
    }
    return approval(**{**values, **changes})


def result(
    code: str = "", message: str = "", hint: str = "", verified: dict[str, Any] | None = None
) -> dict[str, Any]:
    error = {"code": code, "message": message, "hint": hint}
    return {"exit_code": 0, "verified": verified or {}, **({"error": error} if code else {})}
