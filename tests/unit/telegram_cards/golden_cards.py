"""The cards that are kept as golden files, by name. Each is a situation that somebody meets on a phone at night."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from golden_health import HEALTH_CARDS
from golden_queues import QUEUE_CARDS
from telegram_samples import (
    ANN,
    BEN,
    NEW,
    NOW,
    OLD,
    PLACE,
    approval,
    at,
    commit,
    decided,
    event,
    push_approval,
    push_facts,
    push_request,
    request,
    result,
)

from executor.errors import Refused
from executor.git.push_report import PushKind
from executor.git.secrets import SecretFinding
from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.approvals import ApprovalState
from executor.record.chain import Head
from executor.record.controls import Freeze
from gateway.telegram import digests, notices, replies
from gateway.telegram.approval_card import Asked, details
from gateway.telegram.card_model import Card
from gateway.telegram.cards import Story, reminder, request_card

FREEZE = Freeze("looking into the strange pushes of tonight", ANN, at(30))
RECOVERY_PLAN = [
    "HEAD is detached at 4f1c2e9a0b, with 1 commit that is on no branch.",
    "1. Keep what there is: Keeps every branch, the uncommitted work, and the commit on rescue/2025-11-30.",
    "2. Switch to main: Checks out main. Uncommitted work comes along.",
    "3. Set the upstream to origin/main: main follows origin/main from now on, so that ahead and behind are known.",
    "4. Read it back: HEAD is on main, nothing is in progress, and what was kept is there.",
    "Leaves behind: The branch rescue/2025-11-30.",
]


def story(**changes: object) -> Story:
    values: dict[str, object] = {"request": request(), "approval": approval()}
    return Story(**{**values, **changes})  # type: ignore[arg-type]


def ended(state: State, *, said: str = "", **changes: object) -> Story:
    """The reset --hard, approved by Ann, as it ended in `state`."""
    row = request(state=state, started_at=at(40, 1), finished_at=at(40, 3), **changes)
    return story(request=row, approval=approval(**decided(reason=said)), undoable=True)


def recovery(state: State, *events: tuple[str, str, str], **changes: object) -> Story:
    row = request(
        id="recover-7f3a",
        operation=Operation.GIT_RECOVER,
        argv=("git_recover",),
        risk=RiskClass.CHANGE,
        state=state,
        started_at=None if state is State.AWAITING_APPROVAL else at(40),
        **changes,
    )
    shown = {
        "argv": ["git_recover"],
        "plan": RECOVERY_PLAN,
        "depends_on": ["HEAD is on: no branch", f"HEAD: {OLD}", f"refs/heads/main: {NEW}"],
    }
    settled = {} if state is State.AWAITING_APPROVAL else decided()
    reasons = ("git_recover is put to operators with its plan",)
    asked = approval(
        id="recover-7f3a.1", request_id="recover-7f3a", risk=RiskClass.CHANGE, shown=shown, reasons=reasons, **settled
    )
    told = tuple(event(f"recovery.{kind}", step=step, detail=detail) for kind, step, detail in events)
    return Story(row, asked, events=told, undoable=state.final)


def quorum(*approvers: str) -> Story:
    forced = ("git", "push", "--force-with-lease", "origin", "main")
    facts = push_facts(
        kind=PushKind.REWRITE, dropped=(commit(0x55, "Fix the login of administrators"),), dropped_total=1
    )
    asked = push_approval(
        facts,
        quorum=2,
        risk=RiskClass.FORCE,
        reasons=("git push --force-with-lease can drop commits that others have pushed",),
        shown={"argv": list(forced)},
    )
    row = push_request(operation=Operation.GIT_CMD, risk=RiskClass.FORCE, argv=forced)
    return Story(row, asked, approvers=approvers)


def drift() -> Story:
    moved = [f"refs/heads/main at origin moved from {OLD[:10]} to 77aa77aa77."]
    facts = push_facts(commits=push_facts().commits[:2], commits_total=2)
    return Story(push_request(), push_approval(facts, round=2, id="release-12.2", shown={"moved": moved}))


def hidden_characters() -> Story:
    argv = ["git", "branch", "-D", "fe\u200bature", "m\u0430in"]
    asked = approval(shown={**approval().shown, "argv": argv, "loses": ["main is at 4f1c2e9a0b."]})
    return story(request=request(argv=tuple(argv)), approval=asked)


def long_command() -> Story:
    argv = ["git", "commit", "--amend", "-m", "Move the session to Redis\n\nThe file driver locks; Redis does not."]
    asked = approval(shown={**approval().shown, "argv": argv, "loses": ["HEAD is at 4f1c2e9a0b."]})
    return story(request=request(argv=tuple(argv)), approval=asked)


def masked() -> Story:
    argv = ["git", "commit", "--amend", "-m", "Use token ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"]
    asked = approval(shown={**approval().shown, "argv": argv, "loses": []})
    return story(request=request(argv=tuple(argv)), approval=asked)


def too_long() -> Story:
    things = [f"refs/tags/release-{number} at origin: {OLD}" for number in range(200)]
    return story(approval=approval(shown={**approval().shown, "depends_on": things}))


def pushed() -> Story:
    verified = {"effect": True, "remote": "origin", "ref": "refs/heads/main", "old": OLD, "new": NEW}
    row = push_request(
        state=State.SUCCEEDED,
        started_at=at(40, 1),
        finished_at=at(40, 3),
        result=result(verified=verified),
        output="Pushed main to origin: 4f1c2e9a0b -> 9be09be09b.\n",
    )
    sealed = (event("approval.approved", seq=1204),)
    return Story(row, push_approval(**decided(by=(ANN,))), events=sealed)


def refused(number: int, code: str = "flag_is_symlink", message: str = "the flag is a symbolic link") -> list[object]:
    return [
        request(
            id=f"k3x9q{one}",
            operation=Operation.GIT_STATUS,
            argv=(),
            state=State.REFUSED,
            risk=RiskClass.NEVER,
            result=result(code, message, "write the flag as an ordinary file"),
        )
        for one in range(number)
    ]


def routine(operation: Operation, state: State = State.SUCCEEDED, **changes: object):  # type: ignore[no-untyped-def]
    return request(operation=operation, argv=(str(operation),), state=state, risk=RiskClass.READ, **changes)


def _day() -> list[object]:
    good = [routine(Operation.GIT_STATUS)] * 9 + [routine(Operation.GIT_ADD)] * 3
    bad = routine(
        Operation.GIT_COMMIT, State.FAILED, result=result("nothing_to_commit", "There is nothing to commit.")
    )
    return [*good, bad, routine(Operation.GIT_COMMIT)]


def _away() -> list[object]:
    waits = request(state=State.AWAITING_APPROVAL)
    no = routine(Operation.GIT_CMD, State.REFUSED, result=result("never", "git gc is not among the allowed commands"))
    return [*[routine(Operation.GIT_STATUS)] * 12, no, waits]


STATUS = {
    "repositories": {"shop": "/srv/shop", "docs": "/srv/docs"},
    "confinement": "git runs confined by Landlock (ABI 5) and seccomp",
    "unsafe": [],
    "frozen": None,
    "requests": {"awaiting_approval": 1, "queued": 0, "running": 1},
    "troubles": [],
}

CARDS: dict[str, Callable[[], Card]] = {
    "request-received": lambda: request_card(PLACE, Story(request(state=State.RECEIVED))),
    "request-running": lambda: request_card(PLACE, Story(request(state=State.RUNNING, started_at=at(40)))),
    "approve-reset-hard": lambda: request_card(
        PLACE, story(request=request(reason="My rebase went wrong, start over"))
    ),
    "approve-push-with-risks": lambda: request_card(PLACE, Story(push_request(), push_approval())),
    "approve-push-with-secrets": lambda: request_card(
        PLACE,
        Story(
            push_request(reason=""),
            push_approval(push_facts(secrets=(SecretFinding(".env.production", 3, "an AWS access key"),))),
        ),
    ),
    "approve-force-push-by-two": lambda: request_card(PLACE, quorum()),
    "approved-by-one-of-two": lambda: request_card(PLACE, quorum(ANN)),
    "approve-again-after-drift": lambda: request_card(PLACE, drift()),
    "approve-hidden-characters": lambda: request_card(PLACE, hidden_characters()),
    "approve-masked-secret": lambda: request_card(PLACE, masked()),
    "approve-too-long": lambda: request_card(PLACE, too_long()),
    "approve-details": lambda: details(PLACE, Asked(push_request(), push_approval())),
    "reminder": lambda: reminder(PLACE, Asked(push_request(), push_approval()), 600),
    "approved-queued": lambda: request_card(
        PLACE, story(request=request(state=State.QUEUED), approval=approval(**decided(by=(ANN, BEN))))
    ),
    "approved-running": lambda: request_card(
        PLACE,
        story(request=request(state=State.RUNNING, started_at=at(41)), approval=approval(**decided(by=("cli:ann",)))),
    ),
    "succeeded-push": lambda: request_card(PLACE, pushed()),
    "succeeded-reset-with-undo": lambda: request_card(
        PLACE,
        ended(
            State.SUCCEEDED,
            result=result(verified={"effect": True, "branch": "main", "commit": NEW}),
            output="HEAD is now at 9be09be09b Deploy on every push\n",
        ),
    ),
    "succeeded-effect-not-seen": lambda: request_card(
        PLACE,
        ended(
            State.SUCCEEDED,
            result=result(
                verified={
                    "effect": False,
                    "why": "git reported success, but what reset asks for was not found afterwards",
                    "branch": "main",
                }
            ),
        ),
    ),
    "succeeded-long-output": lambda: request_card(
        PLACE, ended(State.SUCCEEDED, output="".join(f"line {one} of <many> & more\n" for one in range(900)))
    ),
    "undone": lambda: request_card(
        PLACE,
        replace(
            ended(State.SUCCEEDED),
            events=(
                event("operator.undo", by=BEN),
                event(
                    "operator.undo.done",
                    by=BEN,
                    told=[f"refs/heads/main is at {OLD[:10]}", "files put back as they were: 2"],
                ),
            ),
        ),
    ),
    "failed-push": lambda: request_card(
        PLACE,
        Story(
            push_request(
                state=State.FAILED,
                started_at=at(40, 1),
                finished_at=at(40, 3),
                result=result(
                    "non_fast_forward",
                    "The remote's main has commits that yours lacks (3 ahead, 1 behind).",
                    "Fetch and integrate first: git_cmd: fetch origin",
                ),
                output="The remote's main has commits that yours lacks (3 ahead, 1 behind).",
            ),
            push_approval(**decided()),
        ),
    ),
    "timed-out": lambda: request_card(
        PLACE,
        ended(
            State.TIMED_OUT,
            result=result(
                "timed_out",
                "git passed its deadline of 300 s and was ended.",
                "Look at the state before trying again.",
            ),
        ),
    ),
    "interrupted": lambda: request_card(
        PLACE,
        ended(
            State.INTERRUPTED,
            result=result(
                "interrupted",
                "The gateway stopped while it ran; HEAD did not move.",
                "look at the state (git_status, git_check) before trying again",
            ),
        ),
    ),
    "interrupted-found": lambda: request_card(
        PLACE,
        ended(
            State.INTERRUPTED,
            result=result(
                "interrupted",
                "The gateway stopped while it ran. Found afterwards: the remote has it: refs/heads/main is at "
                "0a1b2c3d4e there (origin).",
                "do not ask for it again; git_status and git_check show the rest",
                verified={"effect": True, "found": ["the remote has it", "a lock was left behind: <index>.lock"]},
            ),
        ),
    ),
    "denied-with-reason": lambda: request_card(
        PLACE,
        story(
            request=request(state=State.DENIED, finished_at=at(40)),
            approval=approval(**decided(ApprovalState.DENIED, reason="a person wants to review this first")),
            events=(event("approval.denied", seq=77),),
        ),
    ),
    "expired": lambda: request_card(
        PLACE,
        story(
            request=request(state=State.EXPIRED, finished_at=at(40)),
            approval=approval(**decided(ApprovalState.EXPIRED, (), "nobody answered in time")),
        ),
    ),
    "undeliverable": lambda: request_card(
        PLACE,
        story(
            request=request(state=State.UNDELIVERABLE, finished_at=at(40)),
            approval=approval(
                **decided(ApprovalState.UNDELIVERABLE, (), "Telegram has been out of reach since 16:10 UTC")
            ),
        ),
    ),
    "withdrawn": lambda: request_card(
        PLACE,
        story(
            request=request(state=State.WITHDRAWN, finished_at=at(40)),
            approval=approval(**decided(ApprovalState.WITHDRAWN, (BEN,), "not needed any more")),
        ),
    ),
    "refused-while-frozen": lambda: request_card(
        PLACE,
        story(
            request=request(
                state=State.REFUSED,
                finished_at=at(40),
                result=result(
                    "frozen",
                    "operators have frozen this gateway: looking into it",
                    "only reading is possible now; wait until it is unfrozen, do not retry in a loop",
                ),
            ),
            approval=approval(**decided()),
        ),
    ),
    "recovery-approve": lambda: request_card(PLACE, recovery(State.AWAITING_APPROVAL)),
    "recovery-running": lambda: request_card(
        PLACE,
        recovery(
            State.RUNNING,
            ("started", "Keep what there is", ""),
            ("done", "Keep what there is", "kept every branch, and the uncommitted work"),
            ("started", "Switch to main", "Checks out main."),
        ),
    ),
    "recovery-failed": lambda: request_card(
        PLACE,
        recovery(
            State.FAILED,
            ("done", "Keep what there is", "kept every branch, and the uncommitted work"),
            ("failed", "Switch to main", "git could not check out main"),
            finished_at=at(41),
            result=result(
                "switch_failed",
                "Stopped at: Switch to main. git could not check out main",
                "Everything is kept under refs/rescue/recover-7f3a; undo of recover-7f3a goes back.",
            ),
        ),
    ),
    "recovery-offer": lambda: notices.recover_offer(
        PLACE, "shop", ["HEAD is detached at 4f1c2e9a0b.", "1 commit is on no branch."]
    ),
    "tampering": lambda: notices.tampering(PLACE, refused(2)),  # type: ignore[arg-type]
    "tampering-many": lambda: notices.tampering(PLACE, refused(12), 340),  # type: ignore[arg-type]
    "frozen": lambda: notices.frozen(PLACE, FREEZE),
    "unfrozen": lambda: notices.unfrozen(PLACE, "cli:ann"),
    "started": lambda: notices.started(
        PLACE,
        {"repositories": ["shop", "docs"], "confinement": "git runs confined by Landlock (ABI 5) and seccomp"},
        waiting=1,
    ),
    "started-unsafe": lambda: notices.started(
        PLACE,
        {
            "repositories": ["shop"],
            "confinement": "The gateway runs git on the work tree WITHOUT confinement: Landlock is switched off",
        },
        unsafe=["GATEWAY_UNSAFE_RUN_WITHOUT_CONFINEMENT: git runs even where the kernel cannot confine it"],
        troubles={"root": "it runs as root; give it a user of its own"},
    ),
    "trouble": lambda: notices.trouble(
        PLACE, {"telegram": "another process polls with this bot's token", "disk": "/var/lib/ops-gateway is full"}
    ),
    "trouble-over": lambda: notices.trouble_over(PLACE, "disk"),
    "stranger": lambda: notices.stranger(PLACE, "@mallory <b>admin</b>", 666, "approve fix-login", 4),
    "anchor": lambda: notices.anchor(PLACE, Head(1204, "5ea1" * 16)),
    "routine-one": lambda: digests.routine(PLACE, [routine(Operation.GIT_STATUS)]),
    "routine-many": lambda: digests.routine(PLACE, _day()),  # type: ignore[arg-type]
    "while-away": lambda: digests.while_away(PLACE, 3 * 3600, _away()),  # type: ignore[arg-type]
    "reply-status": lambda: replies.status(PLACE, STATUS),
    "reply-status-bad": lambda: replies.status(
        PLACE,
        {
            **STATUS,
            "frozen": {"by": ANN, "reason": "looking into it", "at": at(30)},
            "unsafe": ["git runs unconfined"],
            "troubles": ["the last sweep was 6 min ago: see the gateway's log"],
        },
    ),
    "reply-pending": lambda: replies.pending(
        PLACE, [Asked(request(), approval()), Asked(quorum().request, quorum().approval, (ANN,))], NOW
    ),
    "reply-pending-none": lambda: replies.pending(PLACE, [], NOW),
    "approve-long-command": lambda: request_card(PLACE, long_command()),
    "reply-why": lambda: replies.why(PLACE, pushed(), pushed().events),
    "reply-help": lambda: replies.help_text(PLACE),
    "reply-queue-not-configured": lambda: replies.not_configured(
        PLACE, "queue", "See GATEWAY_LARAVEL in docs/settings.md"
    ),
    "reply-too-old": lambda: replies.too_old(PLACE, "freeze", 7200),
    "reply-usage": lambda: replies.usage(PLACE, "deny"),
    "reply-went-wrong": lambda: replies.went_wrong(
        PLACE, Refused("unknown_repository", "there is no repository 'shpo'", "repositories are: shop, docs")
    ),
    "reply-ask-for-reason": lambda: replies.ask_for_reason(PLACE, Asked(request(), approval()), "@ann"),
    **HEALTH_CARDS,
    **QUEUE_CARDS,
}
