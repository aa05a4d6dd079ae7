"""The env file that `init` writes, read by Docker itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from docker_engine import IMAGE, DockerEngine
from dotenv import dotenv_values

from gateway.setup.env_text import merged, problem

pytestmark = pytest.mark.needs("docker-engine")

VALUES = (
    "plain",
    "two words",
    "a=b;c",
    "a#b",
    "100%",
    "*",
    "{x}",
    "(a)",
    "<b>&",
    "täst",
    "~/x",
    "[1,2]",
    "a:b@c/d?e",
)


def test_e07_docker_and_dotenv_read_what_was_meant(docker: DockerEngine, tmp_path: Path) -> None:
    values = {f"GATEWAY_V{number}": value for number, value in enumerate(VALUES)}
    assert [value for value in VALUES if problem(value)] == []
    file = tmp_path / "written.env"
    file.write_text(merged("# A comment.\nGATEWAY_X=1\n", values, {"GATEWAY_V0": "One."}))

    said = docker("run", "--rm", "--network", "none", "--env-file", str(file), IMAGE, "env").stdout

    read = dict(line.split("=", 1) for line in said.splitlines() if line.startswith("GATEWAY_"))
    assert read == dict(dotenv_values(file)) == {"GATEWAY_X": "1", **values}
