"""The corpus is worth as much as what looks for harm: each kind of it is found when it is done."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from evidence import Listener, harm, look
from repos import plain_git
from world import PRIVATE, SECRET, World, WorldMaker

pytestmark = pytest.mark.needs("git", "landlock")


def _new_file(world: World) -> None:
    (world.canary / "pwned").touch()


def _new_content(world: World) -> None:
    (world.home / ".gitconfig").write_text("[core]\n")


def _new_mode(world: World) -> None:
    (world.canary / "victim.txt").chmod(0o777)


def _beside(world: World) -> None:
    (world.root / "fp").mkdir()


def _told(world: World) -> None:
    (world.shared / "git_status.txt").write_text(f"fatal: bad line {SECRET}")


def _committed(world: World) -> None:
    plain_git(world.paths.local, "hash-object", "-w", "--stdin", stdin=SECRET)


def _pushed(world: World) -> None:
    plain_git(world.remote, "hash-object", "-w", "--stdin", stdin=f"what is {PRIVATE}")


def _connected(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.port)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")


HARMS = [_new_file, _new_content, _new_mode, _beside, _told, _committed, _pushed, _connected]


@pytest.mark.parametrize("do", HARMS, ids=lambda do: do.__name__)
def test_harm_is_found(do: Callable[[World], None], maker: WorldMaker, listener: Listener) -> None:
    world = maker.fresh(adopted=True)
    before = look(world, listener)
    assert harm(world, listener, before) == []
    do(world)
    assert harm(world, listener, before) != []
