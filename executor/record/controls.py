"""Switches that operators throw: freezing the gateway. They outlive a restart, and throwing one is an event."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, delete, insert, select

from executor.record.columns import storable
from executor.record.schema import controls
from executor.record.store import Reading, Transaction

_FREEZE = "freeze"
_FROZEN = select(controls.c.reason, controls.c.by, controls.c.at)  # asked with every request, so built once
_FROZEN = _FROZEN.where(controls.c.host == bindparam("of_host"), controls.c.name == _FREEZE)


@dataclass(frozen=True, slots=True)
class Freeze:
    """Why, by whom and since when nothing but reading is done."""

    reason: str
    by: str
    at: str


def freeze(tx: Transaction, reason: str, by: str) -> Freeze:
    """Freeze the gateway; one that is frozen stays as it was. Return the freeze that holds."""
    held = frozen(tx)
    if held is None:
        held = Freeze(storable(reason), by, tx.at)
        values = {"name": _FREEZE, "reason": held.reason, "by": by, "at": tx.at}
        tx.connection.execute(insert(controls).values(host=tx.host, **values))
        tx.append("control.frozen", data={"reason": reason, "by": by})
    return held


def unfreeze(tx: Transaction, by: str) -> bool:
    """Let the gateway work again; False when it was not frozen."""
    this = (controls.c.host == tx.host) & (controls.c.name == _FREEZE)
    thawed = tx.connection.execute(delete(controls).where(this)).rowcount == 1
    if thawed:
        tx.append("control.unfrozen", data={"by": by})
    return thawed


def frozen(tx: Reading) -> Freeze | None:
    """Return the freeze that holds, or None."""
    row = tx.connection.execute(_FROZEN, {"of_host": tx.host}).first()
    return Freeze(row.reason, row.by, row.at) if row else None
