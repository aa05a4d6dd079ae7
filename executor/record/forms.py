"""How a request came into the record, and so who wants it. Pure."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """What a request was raised by. Only what comes through the shared directory is the agent's."""

    FLAG = "flag"  # OP.flag and its like
    TYPED = "typed"  # ID.request.json
    OPERATOR = "operator"  # an operator's word in the chat; no flag was raised for it
    MONITOR = "monitor"  # the queue monitor

    @property
    def of_the_agent(self) -> bool:
        """Whether the agent asked; the ids of the others it can read in the results, and no more than that."""
        return self in (Form.FLAG, Form.TYPED)
