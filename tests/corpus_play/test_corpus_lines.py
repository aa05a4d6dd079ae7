"""Every line of the corpus, played through the executor with an operator who approves everything."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from corpus_lines import Line, Order, lines
from evidence import Listener
from player import play, playing
from verdicts import wrongs
from world import WorldMaker

from executor.policy.model import Refuse

pytestmark = pytest.mark.needs("git", "landlock")
ALL = lines()


def _plays() -> list[ParameterSet]:
    return [
        pytest.param(line, order, id=f"{line.id}-{order}", marks=_marks(line))
        for line in ALL
        for order in line.orders()
        if not line.do_not_run
    ]


def _marks(line: Line) -> list[pytest.MarkDecorator]:
    root = [pytest.mark.needs("root")] if line.needs_root else []
    return [*root, pytest.mark.slow] if line.slow else root


def test_the_corpus_is_whole() -> None:
    assert len(ALL) == 483
    assert len({line.id for line in ALL}) == 483


@pytest.mark.parametrize(("line", "order"), _plays())
def test_a_line_is_answered_rightly_and_does_no_harm(
    line: Line, order: Order, maker: WorldMaker, listener: Listener
) -> None:
    played = play(line, order, maker, listener)
    assert not wrongs(played), played.told()


@pytest.mark.parametrize("line", [line for line in ALL if line.moves_refs], ids=lambda line: line.id)
def test_everyday_work_goes_on_where_maintenance_has_packed_the_refs(
    line: Line, maker: WorldMaker, listener: Listener
) -> None:
    played = play(line, Order.AFTER, maker, listener, packed=True)
    assert not wrongs(played), played.told()


@pytest.mark.parametrize("line", [line for line in ALL if line.do_not_run], ids=lambda line: line.id)
def test_a_line_that_must_never_run_is_refused_by_deciding_alone(line: Line, maker: WorldMaker) -> None:
    with playing(maker.fresh(adopted=True)) as player:
        decision = player.dispatcher.explain(line.operation, player.world.fill(line.content or ""))
    assert isinstance(decision, Refuse)


def test_whatever_only_reads_says_what_git_itself_says(maker: WorldMaker) -> None:
    everyday = [line for line in ALL if not line.malicious and line.operation == "git_cmd"]
    reading = [line for line in everyday if line.expect == "auto-ok"]
    world = maker.fresh(adopted=False)
    said = {line.id: _git_says(world.work, line.content or "") for line in reading}
    with playing(maker.fresh(adopted=True)) as player:
        for line in reading:
            player.raise_flag(f"git_cmd.{line.id}.flag", line.content or "")
        player.play_out()
        answered = {row.id: _timeless(row.output or "") for row in player.rows()}
    assert len(answered) == len(reading) > 80
    assert {name: answered[name] for name in said} == said


def _git_says(where: Path, command: str) -> str:
    words = [word for word in shlex.split(command) if word != "git"]
    done = subprocess.run(["git", *words], cwd=where, capture_output=True, text=True, check=True)
    return _timeless(done.stdout + done.stderr)


def _timeless(output: str) -> str:
    """Return what git said, without the lines that hold the present moment (blame, of what is not committed yet)."""
    return "\n".join(line for line in output.rstrip().splitlines() if not line.startswith("00000000"))
