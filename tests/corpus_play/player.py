"""Plays a line of the corpus through the executor, as the gateway would, with an operator who approves everything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from corpus_lines import Line, Order
from evidence import Listener, harm, look
from world import World, WorldMaker, mend_attributes

from executor.config import ExecutorConfig, Limits, RepositoryConfig
from executor.dispatch import Dispatcher
from executor.errors import Problem, Unavailable
from executor.policy.model import Policy
from executor.record import approvals, requests
from executor.record.approvals import Verdict
from executor.record.requests import RequestRow
from executor.sandbox.confinement import Support
from gateway.approvals import decisions

LINE_SECONDS = 60.0  # until a line counts as hanging
GIT_SECONDS = 20.0  # for one git process, so that what hangs ends within the line's time
HANGING_SECONDS = 2.0  # the same where a set-up makes git hang for certain
BACKGROUND_SECONDS = 12.0  # that a set-up may go on in the background
NEXT = "next"  # id of the git_status that follows each line
_ANSWERS = {"run": "auto-ok", "ask": "needs-approval", "refuse": "refused"}


@dataclass
class Played:
    """What came of a line: `answer` in the words of the corpus (None where no request arrived), `harm` in words."""

    line: Line
    order: Order
    answer: str | None = None
    ended: list[RequestRow] = field(default_factory=list)
    next: RequestRow | None = None
    adoption: Problem | None = None
    harm: list[str] = field(default_factory=list)

    @property
    def last(self) -> RequestRow | None:
        return self.ended[-1] if self.ended else None

    def told(self) -> str:
        """Return how it went, for a failing test."""
        rows = [f"{row.state} {error_code(row)} {row.argv} {(row.output or '')[:300]!r}" for row in self.ended[-3:]]
        after = f"{self.next.state} {error_code(self.next)}" if self.next else "no answer"
        return f"{self.line.id} {self.order}: {self.answer}; {rows}; next: {after}; adoption: {self.adoption!r}"


class Player:
    """Given a world, be the gateway and the operator in it."""

    def __init__(
        self, world: World, *, confined: bool = True, policy: Policy | None = None, seconds: float = GIT_SECONDS
    ) -> None:
        self.world = world
        repository = RepositoryConfig(world.paths.name, world.work, world.access)
        self.dispatcher = Dispatcher(
            ExecutorConfig(
                shared_dir=world.shared,
                state_dir=world.state,
                repositories=(repository,),
                host="corpus",
                policy=policy or Policy(),
                limits=Limits(deadline_seconds=seconds, network_deadline_seconds=seconds),
                run_without_confinement=not confined,
            )
        )
        self.dispatcher.recover()

    def close(self) -> None:
        self.dispatcher.close()

    def raise_flag(self, name: str, text: str) -> None:
        """Write a flag as an agent does: under another name, then renamed."""
        draft = self.world.shared / f".{name}.draft"
        draft.write_bytes(text.encode("utf-8", "surrogatepass"))
        draft.rename(self.world.shared / name)

    def take(self) -> int:
        try:
            return self.dispatcher.take(None, settle=False)
        except Unavailable:  # a shared directory that cannot be written: the flag waits
            return 0

    def play_out(self) -> None:
        """Take, run and approve until nothing is left to do. Raises AssertionError when that does not end."""
        give_up = time.monotonic() + LINE_SECONDS
        while self.take() or self.run_due() or self.approve_all():
            assert time.monotonic() < give_up, "the requests of this line never ended"

    def approve_all(self) -> int:
        """Say yes to whatever waits, by the command line's own decision; return how many said so."""
        with self.dispatcher.store.reading() as view:
            waiting = approvals.pending(view)
        for approval in waiting:
            decisions.take(
                self.dispatcher.store,
                self.world.state,
                approval,
                operator="cli:somebody",
                verdict=Verdict.APPROVE,
                reason="",
            )
        return len(waiting)

    def rows(self) -> list[RequestRow]:
        """Return all requests in the order of their arrival."""
        with self.dispatcher.store.reading() as view:
            return list(reversed(requests.recent(view, 1000)))

    def run_due(self) -> int:
        """Run what is due, or put it to the operator; return how many requests that were."""
        worked = 0
        for repository in self.dispatcher.queued_repositories():
            while self.dispatcher.run_next(repository):
                worked += 1
        return worked


def without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the executor find a kernel that cannot confine, as an old one cannot."""
    monkeypatch.setattr("executor.sandbox.confinement.probe", lambda kernel: Support(0, False, "switched off"))


@contextmanager
def playing(
    world: World, *, confined: bool = True, policy: Policy | None = None, seconds: float = GIT_SECONDS
) -> Iterator[Player]:
    """A player that is there for as long as the block lasts."""
    with closing(Player(world, confined=confined, policy=policy, seconds=seconds)) as player:
        yield player


def play(
    line: Line, order: Order, maker: WorldMaker, listener: Listener, *, confined: bool = True, packed: bool = False
) -> Played:
    """Play `line` in a fresh world and return what came of it and of the next flag.

    With `packed` the adopted repository is as maintenance leaves it, its refs in one file.
    """
    world = maker.fresh(adopted=order is not Order.BEFORE)
    if packed:
        world.git("pack-refs", "--all")
    if order is Order.BESIDE:
        if "git add src" in line.setup:
            world.git("add", "src")  # in the index that counts, not only in the agent's own
        world.replace_git_dir(maker.pristine_git_dir)
    played = Played(line, order)
    with world.agent(line.setup) as background:
        (world.canary / "pwned").unlink(missing_ok=True)  # the set-up's own git may have run what it planted
        before = look(world, listener)
        if order is Order.BEFORE:
            try:
                world.adopt()
            except Problem as problem:
                played.adoption = problem
        seconds = HANGING_SECONDS if line.hangs else GIT_SECONDS
        with playing(world, confined=confined, seconds=seconds) as player:
            for _ in range(line.repeat):
                _raise(player, line)
                player.take()
                played.answer = _answer(player.rows(), line)
                player.play_out()
            if line.goes_on:
                _wait_for_group(background.pid)
                player.play_out()
            played.ended = player.rows()
            mend_attributes(world.root)
            player.raise_flag(f"git_status.{NEXT}.flag", "")
            player.play_out()
            played.next = next((row for row in player.rows() if row.id == NEXT), None)
    played.harm = harm(world, listener, before)
    return played


def _raise(player: Player, line: Line) -> None:
    """Raise the line's flag, unless its set-up has."""
    there = os.path.lexists(player.world.shared / line.flag)
    if line.content is not None and not (there and not line.content):
        player.raise_flag(line.flag, player.world.fill(line.content))


def _answer(rows: list[RequestRow], line: Line) -> str | None:
    """Return what was decided about the line's own flag, unless the set-up overwrote it before it was taken."""
    own = [row for row in rows if not line.goes_on or row.text == line.content]
    return _ANSWERS[own[-1].decision["answer"]] if own else None


def _wait_for_group(group: int) -> None:
    """Wait until a set-up's background processes have ended by themselves, or long enough."""
    give_up = time.monotonic() + BACKGROUND_SECONDS
    while time.monotonic() < give_up and _alive(group):
        time.sleep(0.05)


def _alive(group: int) -> bool:
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                return True
    return False


def error_code(row: RequestRow) -> str:
    """Return the code of a request's error, "" without one."""
    return str(((row.result or {}).get("error") or {}).get("code", ""))
