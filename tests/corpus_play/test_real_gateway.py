"""Some lines of the corpus through `python -m gateway run` and the commands of an operator, all as processes."""

from __future__ import annotations

from typing import Any

import pytest
from corpus_lines import Line, lines
from evidence import Listener, harm, look
from gateway_process import ConfiguredHost, running
from world import REPOSITORY, World, WorldMaker

pytestmark = pytest.mark.needs("git", "landlock")
_FINAL = ("succeeded", "failed", "refused", "timed_out")
_LINES = {
    "ok-001": "succeeded",
    "ok-142": "succeeded",
    "chg-010": "succeeded",
    "chg-067": "succeeded",  # asks
    "chg-105": "succeeded",  # asks
    "chg-129": "refused",
    "exec-022": "refused",
    "glob-002": "refused",
    "tok-028": "refused",
    "flag-003": "refused",  # the flag is a link to the secret
    "flag-006": "refused",  # the flag is a FIFO
    "result-001": "succeeded",  # git_status.txt is a link to a file of the host
    "tree-020": "succeeded",
}
LINES = [pytest.param(line, _LINES[line.id], id=line.id) for line in lines() if line.id in _LINES]


class CorpusHost(ConfiguredHost):
    """A host that is configured to serve the world of the corpus."""

    def __init__(self, world: World) -> None:
        self.root = world.root.parent / "gateway"
        self.root.mkdir(exist_ok=True)
        self.work_tree, self.shared, self.state = world.work, world.shared, world.state
        self.settings = {
            "HOME": str(world.home),
            "GATEWAY_SHARED_DIR": str(world.shared),
            "GATEWAY_REPO_DIR": str(world.work),
            "GATEWAY_STATE_DIR": str(world.state),
            "GATEWAY_CREDENTIAL_FILE": str(world.home / ".git-credentials"),
            "GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES": "true",
        }

    def ended(self, name: str) -> dict[str, Any]:
        """Approve what is asked, and return the result of this name when it says how the request ended."""
        found = self.in_state(name, *_FINAL, "awaiting_approval")
        if found["state"] == "awaiting_approval":
            assert self.cli("approve", found["id"]).returncode == 0
            found = self.in_state(name, *_FINAL)
        return found


@pytest.mark.parametrize(("line", "state"), LINES)
def test_a_line_ends_as_it_must_in_the_real_gateway(
    line: Line, state: str, maker: WorldMaker, listener: Listener
) -> None:
    world = maker.fresh(adopted=True)
    assert world.paths.name == REPOSITORY
    host = CorpusHost(world)
    with world.agent(line.setup):
        before = look(world, listener)
        with running(host):
            if line.content is not None:
                host.raise_flag(line.flag, world.fill(line.content))
            assert host.ended(line.operation)["state"] == state
            host.raise_flag("git_status.next.flag")
            assert host.ended("next")["state"] == "succeeded"
    assert harm(world, listener, before) == []
