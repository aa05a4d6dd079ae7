"""What an operator does besides deciding: freeze and unfreeze, undo, ask for a recovery. Audited before and after.

All of it blocks, so it is called in a thread. `by` names the operator and the door: "telegram:12345".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.decided import unflagged
from executor.errors import Refused
from executor.git.undo import undo
from executor.host_operations import undone_in
from executor.outcome import Outcome
from executor.policy.model import Operation, Refuse
from executor.record import controls, requests
from executor.record.controls import Freeze
from executor.record.forms import Form
from executor.record.requests import Arrival
from gateway.approvals.acts import audited

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher


def freeze(dispatcher: Dispatcher, reason: str, by: str) -> Freeze:
    """Let nothing be run that changes anything; return the freeze that holds, which may be an earlier one."""
    with dispatcher.store.transaction() as tx:
        held = controls.freeze(tx, reason, by)
    dispatcher.publish_capabilities()
    return held


def unfreeze(dispatcher: Dispatcher, by: str) -> bool:
    """Let the gateway go on; return False when it was not frozen."""
    with dispatcher.store.transaction() as tx:
        thawed = controls.unfreeze(tx, by)
    dispatcher.publish_capabilities()
    return thawed


def undo_request(dispatcher: Dispatcher, request_id: str, by: str) -> Outcome:
    """Take back what a request changed. Raises Refused where that is not possible, Unavailable while git is busy."""
    with dispatcher.store.reading() as view:
        row = requests.get(view, request_id)
    if row is None:
        raise Refused("unknown_request", "there is no such request", "look at /queue")
    with audited(dispatcher.store, "undo", repo=row.repo, by=by, request_id=request_id) as told:
        with dispatcher.repositories.held(undone_in(request_id, row.operation, row.repo)) as git:
            outcome = undo(git, request_id, force=False)
        told += outcome.output.splitlines()
        if outcome.error is not None:
            raise outcome.error
    return outcome


def ask_for(dispatcher: Dispatcher, operation: Operation, repo: str, by: str, occasion: str) -> str:
    """Record a request of operator `by` for an operation without parameters; return its id.

    It takes the ordinary way: a recovery's plan is shown, and runs only after a yes. The record tells who asked, and
    no file of the shared directory has to do with it. `repo` "" is the default repository. `occasion` names what was
    said or pressed: the same one makes one request, however often it is delivered. Raises Refused where the
    repository is not served, or policy forbids it.
    """
    name = dispatcher.lane(operation, repo)
    decision = dispatcher.explain(operation, "", name)
    if isinstance(decision, Refuse):
        raise decision.problem()
    new = unflagged(Form.OPERATOR, operation, name, decision, occasion=occasion, reason=f"asked for by {by}")
    with dispatcher.store.transaction() as tx:
        done = requests.insert_one(tx, new)
    if done.arrival is Arrival.CONFLICT:
        raise Refused("id_reused", f"a request {new.id} is there already", "ask once more")
    return done.row.id
