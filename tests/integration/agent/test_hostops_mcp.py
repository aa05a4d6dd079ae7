"""The same over the Model Context Protocol: a real server process, both generations of client, a real gateway."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import hostops
import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from programs import until
from served_host import ServedHost

from executor.policy.model import Operation

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

SERVER = Path(hostops.__file__).with_name("hostops_mcp.py")
PATIENCE = 120.0  # s
Call = Callable[..., Awaitable[Any]]


def served(shared: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[str(SERVER)], env={"HOSTOPS_SHARED": str(shared)})


@asynccontextmanager
async def handshaking(shared: Path) -> AsyncIterator[ClientSession]:
    """A client of the older protocol, which begins with `initialize`."""
    async with stdio_client(served(shared)) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def discovering(shared: Path) -> AsyncIterator[Client]:
    """A client of the newer protocol, which needs no handshake."""
    async with Client(served(shared), mode="2026-07-28") as client:
        yield client


@pytest.fixture(params=[handshaking, discovering], ids=["2025-11-25", "2026-07-28"])
def tools(
    request: pytest.FixtureRequest, host: ServedHost
) -> Callable[[Sequence[tuple[str, dict[str, Any]]]], list[Any]]:
    """Calls tools one after the other in one connection, and returns their results."""

    def calls(wanted: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        async def run() -> list[Any]:
            with anyio.fail_after(PATIENCE):
                async with request.param(host.shared) as client:
                    return [await client.call_tool(name, arguments) for name, arguments in wanted]

        return anyio.run(run)

    return calls


def test_a_change_goes_from_edit_to_push(host: ServedHost, tools: Any, request: pytest.FixtureRequest) -> None:
    name = f"{request.node.callspec.id}.txt"
    (host.tree() / name).write_text("by tools\n")
    results = tools(
        [
            ("git_add", {"paths": [name]}),
            ("git_commit", {"message": f"Add {name}"}),
            ("git_push", {"branch": "main", "reason": "it is done"}),
            ("git_cmd", {"argv": ["log", "--oneline", "-1"]}),
        ]
    )

    assert [result.structured_content["outcome"] for result in results] == ["succeeded"] * 4
    assert not any(result.is_error for result in results)
    assert "effect=True" in results[2].content[0].text
    assert f"Add {name}" in results[3].content[0].text
    assert host.tip() == host.git("rev-parse", "main")


def test_a_refusal_is_an_error_that_says_what_would_be_allowed(tools: Any) -> None:
    [refused] = tools([("git_cmd", {"argv": ["log", "--output=/etc/passwd"]})])

    assert refused.is_error
    assert refused.structured_content["outcome"] == "refused"
    assert refused.structured_content["result"]["error"]["code"] in refused.content[0].text
    assert "next: " in refused.content[0].text


def test_a_question_stays_open_without_an_error_and_its_denial_is_one(
    host: ServedHost, tools: Any, request: pytest.FixtureRequest
) -> None:
    tag = f"v-mcp-{request.node.callspec.id}"
    [asked] = tools([("git_cmd", {"argv": ["tag", tag], "wait": 0, "reason": "a release"})])
    assert (asked.is_error, asked.structured_content["outcome"]) == (False, "waiting")
    own = asked.structured_content["id"]
    host.in_state(own, "awaiting_approval")
    assert "a release" in host.ok("pending", own)
    host.ok("deny", own, "--reason", "not before Monday")

    [denied] = tools([("wait", {"id": own})])
    assert (denied.is_error, denied.structured_content["outcome"]) == (True, "denied")
    assert "not before Monday" in denied.content[0].text
    assert "do not ask for it again" in denied.structured_content["next"]
    assert tag not in host.git("tag").split()


def test_what_is_no_longer_needed_is_taken_back(host: ServedHost, tools: Any) -> None:
    [asked] = tools([("git_cmd", {"argv": ["tag", "v-unneeded"], "wait": 0})])
    own = asked.structured_content["id"]
    host.in_state(own, "awaiting_approval")

    [cancelled] = tools([("cancel", {"id": own})])
    assert (cancelled.is_error, cancelled.structured_content["outcome"]) == (False, "withdrawn")


def test_questions_about_the_host_are_answered_and_are_no_errors(host: ServedHost, tools: Any) -> None:
    offered, run, refuse = tools(
        [
            ("capabilities", {}),
            ("explain", {"operation": "git_push", "params": {"branch": "main"}}),
            ("explain", {"operation": "git_cmd", "params": {"argv": ["daemon"]}}),
        ]
    )

    assert offered.structured_content["alive"] is True
    assert set(offered.structured_content["operations"]) == set(Operation)
    assert (run.is_error, run.structured_content["result"]["decision"]["answer"]) == (False, "run")
    assert (refuse.is_error, refuse.structured_content["outcome"]) == (False, "refused")


def test_arguments_of_another_shape_ask_for_nothing(host: ServedHost, tools: Any) -> None:
    [wrong, unknown] = tools([("git_add", {"paths": "everything"}), ("wait", {"id": "../../etc/passwd"})])

    assert wrong.is_error
    assert unknown.structured_content["outcome"] == "usage"


def test_where_no_gateway_runs_every_tool_says_so_at_once(tmp_path: Path) -> None:
    async def ask() -> Any:
        async with discovering(tmp_path) as client:
            return await client.call_tool("git_push", {})

    away = anyio.run(ask)
    assert (away.is_error, away.structured_content["outcome"]) == (True, "gateway_away")
    assert list(tmp_path.iterdir()) == []


def test_there_is_a_tool_for_each_operation_and_what_reads_says_so(tmp_path: Path) -> None:
    async def look() -> Any:
        async with handshaking(tmp_path) as session:
            return (await session.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(look)}
    assert set(tools) == {*Operation, "wait", "explain", "cancel", "capabilities"}
    reading = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reading == {"git_status", "git_check", "health_check", "wait", "explain", "capabilities"}
    assert tools["git_cmd"].annotations.destructive_hint is True
    assert all(tool.description and tool.output_schema for tool in tools.values())


def test_waiting_is_told_as_progress(host: ServedHost) -> None:
    heard: list[str | None] = []

    async def progress(_done: float, _total: float | None, message: str | None) -> None:
        heard.append(message)

    async def ask() -> Any:
        async with handshaking(host.shared) as session:
            arguments = {"argv": ["tag", "v-progress"], "wait": 3}
            return await session.call_tool("git_cmd", arguments, progress_callback=progress)

    own = anyio.run(ask).structured_content["id"]
    assert "It waits for an operator's decision." in heard
    host.ok("deny", own, "--reason", "done with it")
    until(lambda: host.result(own)["state"] == "denied", "its end")
