"""What operators are called, so that cards name people and not numbers; kept, so that they do after a restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from executor.record import cards
from executor.record.store import Store

if TYPE_CHECKING:
    from gateway.telegram.authorise import Operator
    from gateway.telegram.desk import Desk

_NAMES = "names"


def known_names(store: Store) -> dict[str, str]:
    """Return the names that operators had when they were last heard, by how their decisions are recorded."""
    with store.reading() as view:
        noted = cards.state(view, _NAMES)
    found = json.loads(noted) if noted else {}
    return {str(who): str(name) for who, name in found.items()}


def remember_name(desk: Desk, operator: Operator) -> None:
    """Note what an operator is called now. Only operators are noted, so there are as many as are listed."""
    if operator.name and desk.names.get(operator.voter) != operator.name:
        desk.names[operator.voter] = operator.name
        with desk.store.transaction() as tx:
            cards.note(tx, _NAMES, json.dumps(desk.names))
