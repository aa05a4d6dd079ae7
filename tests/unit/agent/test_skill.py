"""The skill and the pages for agents: valid where agents look, and true."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import hostops
import pytest
from hostops import OUTCOMES

from executor.outcome import OPEN_STATES, State
from executor.policy.model import Operation

AGENT = Path(hostops.__file__).parent
SKILL = AGENT / "ops-gateway" / "SKILL.md"
PAGE = AGENT.parents[1] / "docs" / "agent.md"


def commands(page: Path) -> list[str]:
    """The lines of a page's shell blocks that call hostops, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("hostops ")]


def test_the_skill_is_accepted_by_the_validator() -> None:
    validator = Path(sys.executable).with_name("agentskills")
    done = subprocess.run([validator, "validate", SKILL.parent], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_skill_is_short_enough_to_be_read_every_time() -> None:
    assert len(SKILL.read_text().split()) < 700


def test_the_skill_explains_each_operation_and_each_end() -> None:
    text = SKILL.read_text()

    assert [operation for operation in Operation if operation not in text] == []
    assert [state for state in set(State) - OPEN_STATES if state not in text] == []
    named = {int(code) for code in re.findall(r"\((\d+)\)", text)}
    usual = {OUTCOMES[outcome][0] for outcome in ("usage", "unknown_id")}  # a command line of one's own mends these
    assert named == {code for code, *_ in OUTCOMES.values()} - usual


def test_the_page_lists_every_exit_code() -> None:
    listed = re.findall(r"^\| (\d+) \| ", PAGE.read_text(), re.MULTILINE)

    assert listed == [str(code) for code in range(len(OUTCOMES))]


@pytest.mark.parametrize("line", [*commands(SKILL), *commands(PAGE)])
def test_every_command_that_is_shown_is_one(line: str) -> None:
    options = hostops._parsed(shlex.split(line.split(" < ")[0])[1:])

    if options.verb in ("request", "explain"):
        assert hostops.params_for(options.operation, tuple(options.words)) is not None
    if options.verb == "request":
        assert options.wait == 60.0


def test_the_configuration_for_clients_is_json_and_names_the_server_that_is_there() -> None:
    [block] = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [server] = json.loads(block)["mcpServers"].values()

    assert (AGENT / Path(server["args"][0]).name).exists()


def test_the_page_says_where_each_value_of_the_compose_file_comes_from() -> None:
    needed = set(re.findall(r"\$\{([A-Z_]+)", (AGENT.parent / "docker-compose.yml").read_text()))
    told = set(re.findall(r"^\| `([A-Z_]+)` \| ", PAGE.read_text(), re.MULTILINE))

    assert told == needed


def test_the_page_goes_on_with_the_names_that_the_installer_uses() -> None:
    installer = (AGENT.parent / "install.sh").read_text()
    [group] = set(re.findall(r"\bgroup=([a-z][a-z-]+)", installer))
    [shared] = set(re.findall(r"^  shared=(/\S+)", installer, re.MULTILINE))
    shell = "".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL))

    named = re.findall(r"(?:--gid |--groups |groupadd --system |group |-g |chgrp -R |\bg:|group:)([a-z-]+)", shell)
    assert set(named) == {group}
    assert re.findall(r"^SHARED_DIR=(.*)$", shell, re.MULTILINE) == [shared]
    assert not re.search(r"\bagents\b", shell)
