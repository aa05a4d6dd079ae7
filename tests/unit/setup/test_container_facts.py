"""What a container must not see or be, judged from what the engine says."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from gateway.setup.container_facts import container_of, judge

STATE, SHARED, SOCKET = PurePath("/state"), PurePath("/srv/shared"), PurePath("/run/docker.sock")
LOCAL = STATE / "repos" / "shop" / "local.git"


def said(*mounts: tuple[str, bool], **host: Any) -> dict[str, Any]:
    return {
        "Name": "/agent",
        "Mounts": [{"Source": source, "RW": writable} for source, writable in mounts],
        "HostConfig": host,
    }


def findings(what: dict[str, Any]) -> list[str]:
    found = judge([container_of(what)], state=STATE, shared=SHARED, git_directories=[LOCAL], docker_socket=SOCKET)
    assert all(each.container == "agent" and each.mend for each in found)
    return [each.what for each in found]


@pytest.mark.parametrize(
    "what",
    [
        said(),
        said(("/srv/shared", True), (str(LOCAL), False)),
        said((str(LOCAL / "refs"), False)),
        said(("/run/docker.sock", True)),  # not the agent's: somebody else's business
        said(("/elsewhere", True), Privileged=True),
        said(("/srv/shared", True), CapAdd=["CAP_CHOWN"], PidMode="", NetworkMode="none"),
    ],
)
def test_what_an_agent_needs_and_what_others_do_is_well(what: dict[str, Any]) -> None:
    assert findings(what) == []


@pytest.mark.parametrize(
    ("what", "part"),
    [
        (said(("/state", False)), "sees /state"),
        (said(("/", False)), "sees /"),
        (said(("/state/gateway.db", False)), "sees /state/gateway.db"),
        (said((str(LOCAL), True)), "code execution"),
        (said(("/srv/shared", True), ("/run/docker.sock", False)), "Docker socket"),
        (said(("/srv", True), ("/run", True)), "Docker socket"),
        (said(("/srv/shared", True), Privileged=True), "privileged"),
        (said(("/srv/shared", True), PidMode="host"), "pid namespace"),
        (said(("/srv/shared/sub", True), NetworkMode="host"), "network namespace"),
        (said(("/srv/shared", True), CapAdd=["CAP_SYS_ADMIN", "NET_RAW"]), "SYS_ADMIN"),
        (said(("/srv/shared", True), CapAdd=["all"]), "ALL"),
    ],
)
def test_what_lets_an_agent_out_or_shows_the_state_is_found(what: dict[str, Any], part: str) -> None:
    assert any(part in each for each in findings(what))


def test_an_answer_without_what_is_asked_for_is_no_reason_to_fail() -> None:
    assert findings({"Name": "/agent", "Mounts": None, "HostConfig": None}) == []
