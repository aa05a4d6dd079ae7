"""Everyday work and attacks with the kernel's wall taken away: work goes on, and the other two walls stand alone.

What they do not stop is a work tree that changes while git reads it (tree-014), which is why running without the
kernel is called unsafe.
"""

from __future__ import annotations

import pytest
from corpus_lines import Line, Order, lines
from evidence import Listener
from player import play
from verdicts import wrongs
from world import WorldMaker

pytestmark = [pytest.mark.needs("git"), pytest.mark.usefixtures("unconfined")]
ALL = lines()
EVERYDAY = [line for line in ALL if not line.malicious][::4]
LEFT_OUT = frozenset({"tree-014", "tree-021"})  # the race; 100,000 files, about which the kernel has no say


@pytest.mark.parametrize("line", EVERYDAY, ids=lambda line: line.id)
def test_everyday_work_goes_on_without_the_kernel(line: Line, maker: WorldMaker, listener: Listener) -> None:
    played = play(line, Order.AFTER, maker, listener, confined=False)
    assert not wrongs(played), played.told()


@pytest.mark.parametrize(
    ("line", "order"),
    [
        pytest.param(line, order, id=f"{line.id}-{order}")
        for line in ALL
        for order in (Order.BEFORE, Order.BESIDE)
        if order in line.orders()
    ]
    + [
        pytest.param(line, Order.AFTER, id=line.id)
        for line in ALL
        if line.category == "work-tree" and not line.hangs and line.id not in LEFT_OUT
    ],
)
def test_no_metadata_and_no_tree_that_stands_still_does_harm_without_the_kernel(
    line: Line, order: Order, maker: WorldMaker, listener: Listener
) -> None:
    played = play(line, order, maker, listener, confined=False)
    assert not wrongs(played), played.told()
