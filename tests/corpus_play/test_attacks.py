"""Attacks beyond the corpus, with the kernel's wall and without it: nothing fires, and the gateway goes on."""

from __future__ import annotations

import pytest
from _pytest.mark.structures import ParameterSet
from attacks import ATTACKS, PROGRAM, Attack
from evidence import Listener, harm, look
from player import playing, without_the_kernel
from repos import plain_git
from world import World, WorldMaker

from executor.outcome import State
from executor.policy.model import Operation, Policy
from executor.record.requests import RequestRow

pytestmark = pytest.mark.needs("git", "landlock")


def _plays() -> list[ParameterSet]:
    return [
        pytest.param(attack, confined, id=f"{_slug(attack.name)}-{'confined' if confined else 'unconfined'}")
        for attack in ATTACKS
        for confined in (True, False)
    ]


def _slug(name: str) -> str:
    return name.replace(" ", "-").replace(",", "")


@pytest.mark.parametrize(("attack", "confined"), _plays())
def test_nothing_of_an_attack_fires(
    attack: Attack, confined: bool, maker: WorldMaker, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not confined:
        without_the_kernel(monkeypatch)
    world = maker.fresh(adopted=True)
    with world.agent(PROGRAM + attack.plant):
        (world.canary / "pwned").unlink(missing_ok=True)  # the agent's own git ran what the agent planted
        before = look(world, listener)
        with playing(world, confined=confined) as player:
            for number, (operation, body) in enumerate((*attack.flags, ("git_status", ""))):
                player.raise_flag(f"{operation}.{number}.flag", world.fill(body))
                player.play_out()
            rows = {row.id: row for row in player.rows()}
    assert harm(world, listener, before) == [], _told(rows)
    assert rows["0"].state in attack.first, _told(rows)
    assert rows[str(len(attack.flags))].state is State.SUCCEEDED, _told(rows)


def _remote_main(world: World) -> str:
    return plain_git(world.remote, "rev-parse", "refs/heads/main")


def test_a_branch_that_moves_while_operators_think_is_asked_about_again(maker: WorldMaker) -> None:
    world = maker.fresh(adopted=True)
    before = _remote_main(world)
    with playing(world, policy=Policy(approve=frozenset({Operation.GIT_PUSH}))) as player:
        world.git("commit", "-q", "--allow-empty", "-m", "what operators see")
        player.raise_flag("git_push.p.flag", "main")
        player.take()
        player.run_due()
        world.git("commit", "-q", "--allow-empty", "-m", "swapped")
        assert player.approve_all() == 1
        player.run_due()
        assert player.rows()[0].state is State.AWAITING_APPROVAL
        assert _remote_main(world) == before
        assert player.approve_all() == 1
        player.run_due()
        assert player.rows()[0].state is State.SUCCEEDED
    assert _remote_main(world) == world.git("rev-parse", "main")


def test_a_flag_that_is_replaced_while_operators_think_does_not_change_what_runs(maker: WorldMaker) -> None:
    world = maker.fresh(adopted=True)
    with playing(world) as player:
        player.raise_flag("git_cmd.flag", "git tag v2.0")
        player.take()
        player.run_due()
        player.raise_flag("git_cmd.flag", "git tag -d v1.0")
        assert player.approve_all() == 1
        player.run_due()
        assert [row.state for row in player.rows()] == [State.SUCCEEDED]
        player.take()
        player.run_due()
        assert [row.state for row in player.rows()] == [State.SUCCEEDED, State.AWAITING_APPROVAL]
    assert world.git("tag", "--list").split() == ["v1.0", "v1.1", "v2.0"]


def _told(rows: dict[str, RequestRow]) -> str:
    return "\n".join(
        f"{row.id} {row.operation} {row.text!r}: {row.state} {row.result} {row.output!r}" for row in rows.values()
    )
