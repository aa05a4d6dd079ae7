"""The same as hostops.py for agents that speak the Model Context Protocol: one tool for each operation, over stdio.

    HOSTOPS_SHARED=/shared python hostops_mcp.py        # needs the package `mcp`, 2.3 or newer, and hostops.py beside

Each answer says in words what happened, what it means and what to do next, and the same as data. `isError` is set
when the request ended and what was wanted is not so. A request that is still open when the time to wait is over is
no error: it stands, and the tool `wait` goes on waiting for it. While a tool waits it reports progress.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import anyio.to_thread
from hostops import STALE, HostOps, HostOpsError, Result
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

LOOK = 2.0  # s between two reports of progress
HOST = HostOps()
SERVER = MCPServer(
    "ops-gateway",
    title="Operations on the host",
    version="1",
    instructions=(
        "The host runs git with its credentials, and a few other operations, for you. Some run at once, some are put "
        "to a human operator: give a plain `reason`. Read `capabilities` first. `denied` is final: do not ask for "
        "the same in another way. `expired` and `undeliverable` are not a no. While a request is open, use `wait`; a "
        "second request does not make an operator faster. Take back with `cancel` what you no longer need."
    ),
)


class Answer(BaseModel):
    """An answer as data; `result` is the request's result as docs/protocol.md describes it, but for its output."""

    id: str | None = None
    outcome: str = Field(description="succeeded, failed, refused, denied, expired, …, or waiting: not ended yet")
    meaning: str
    next: str = Field(description="what to do now; empty: go on")
    result: dict[str, Any] | None = None


Answered = Annotated[CallToolResult, Answer]
Repo = Annotated[str, Field(description="a repository other than the default one (see capabilities)")]
Reason = Annotated[str, Field(max_length=2000, description="why, in plain words, for the operator who may decide")]
Wait = Annotated[
    float, Field(ge=0, le=3600, description="seconds to wait for the end; the request stands after them")
]
Id = Annotated[str, Field(description="the id that an earlier answer named")]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
SETS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
PUBLISHES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
ANYTHING = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)


@SERVER.tool(annotations=READS)
async def git_status(ctx: Context, repo: Repo = "", wait: Wait = 45) -> Answered:
    """Say what is changed, staged and untracked in the work tree, and how the branch stands to its upstream."""
    return await _asked(ctx, "git_status", {}, wait, repo=repo)


@SERVER.tool(annotations=SETS)
async def git_add(
    ctx: Context,
    paths: Annotated[list[str], Field(description='literal paths inside the work tree; ["."] is everything')],
    repo: Repo = "",
    reason: Reason = "",
    wait: Wait = 45,
) -> Answered:
    """Stage files."""
    return await _asked(ctx, "git_add", {"paths": paths}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=ADDS)
async def git_commit(
    ctx: Context,
    message: Annotated[str, Field(description="the commit message, taken as it is; may have several lines")],
    repo: Repo = "",
    reason: Reason = "",
    wait: Wait = 45,
) -> Answered:
    """Commit what is staged."""
    return await _asked(ctx, "git_commit", {"message": message}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=PUBLISHES)
async def git_push(
    ctx: Context,
    branch: Annotated[str, Field(description="one branch; empty is the default one")] = "",
    repo: Repo = "",
    reason: Reason = "",
    wait: Wait = 45,
) -> Answered:
    """Push one branch to its remote, forward only, and prove that it arrived."""
    return await _asked(ctx, "git_push", {"branch": branch} if branch else {}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=READS)
async def git_check(ctx: Context, repo: Repo = "", wait: Wait = 45) -> Answered:
    """Say how the repository is set up: identity, remotes, branch, upstream, an unfinished merge or rebase."""
    return await _asked(ctx, "git_check", {}, wait, repo=repo)


@SERVER.tool(annotations=SETS)
async def git_set_config(
    ctx: Context, name: str, email: str, repo: Repo = "", reason: Reason = "", wait: Wait = 45
) -> Answered:
    """Set who commits are made by."""
    return await _asked(ctx, "git_set_config", {"name": name, "email": email}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=ANYTHING)
async def git_cmd(
    ctx: Context,
    argv: Annotated[
        list[str], Field(description='one git command, word by word, such as ["log", "--oneline", "-5"]')
    ],
    repo: Repo = "",
    reason: Reason = "",
    wait: Wait = 45,
) -> Answered:
    """Run one git command. What only reads runs, other allowed ones are put to an operator, the rest is refused."""
    return await _asked(ctx, "git_cmd", {"argv": argv}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=ANYTHING)
async def git_recover(ctx: Context, repo: Repo = "", reason: Reason = "", wait: Wait = 45) -> Answered:
    """Ask for a way back from a detached HEAD, a lost upstream or a stale lock; nothing is lost by it."""
    return await _asked(ctx, "git_recover", {}, wait, repo=repo, reason=reason)


@SERVER.tool(annotations=PUBLISHES)
async def restart_queue(
    ctx: Context,
    queue: Annotated[str, Field(description="a configured queue; empty is all of them")] = "",
    reason: Reason = "",
    wait: Wait = 45,
) -> Answered:
    """Restart the application's queue workers, and see that they came back."""
    return await _asked(ctx, "restart_queue", {"queue": queue} if queue else {}, wait, reason=reason)


@SERVER.tool(annotations=READS)
async def health_check(ctx: Context, wait: Wait = 45) -> Answered:
    """Say how the host's containers, workers and disks are."""
    return await _asked(ctx, "health_check", {}, wait)


@SERVER.tool(annotations=READS)
async def explain(
    operation: Annotated[str, Field(description="git_push, git_cmd, …")],
    params: Annotated[
        dict[str, Any], Field(description="what that operation's own tool takes, without repo, reason and wait")
    ],
    repo: Repo = "",
) -> Answered:
    """Say what would happen: run at once, be put to operators, or be refused. Nothing is run, nobody is asked."""
    return await _answer(HOST.request, operation, params=params, repo=repo, dry_run=True, wait=30.0)


@SERVER.tool(annotations=READS)
async def wait(ctx: Context, id: Id, seconds: Wait = 45) -> Answered:
    """Wait for the end of a request that is still open."""
    return await _followed(ctx, partial(HOST.result, id), seconds)


@SERVER.tool(annotations=SETS)
async def cancel(id: Id) -> Answered:
    """Take back a request that has not begun; one that runs or has ended is not changed."""
    return await _answer(HOST.cancel, id)


@SERVER.tool(annotations=READS)
async def capabilities() -> Annotated[CallToolResult, dict[str, Any]]:
    """Say what this host offers, what of it needs a human, whether operators froze it, and whether it is alive."""
    try:
        found = await anyio.to_thread.run_sync(HOST.capabilities)
    except HostOpsError as error:
        return _failure(error)
    found["alive"] = found.pop("age") <= STALE
    text = "\n".join(f"{name}: {value}" for name, value in found.items())
    return CallToolResult(content=[TextContent(text=text)], structured_content=found)


async def _asked(ctx: Context, operation: str, params: dict[str, Any], wait: float, **more: Any) -> CallToolResult:
    return await _followed(ctx, partial(HOST.request, operation, params=params, **more), wait)


async def _followed(ctx: Context, begin: Callable[[], Result], seconds: float) -> CallToolResult:
    """Ask, or look, then wait for the end in steps, so that the client hears of it and may give up at any moment."""
    end = time.monotonic() + seconds
    try:
        found = await anyio.to_thread.run_sync(begin)
        while not found.final and (left := end - time.monotonic()) > 0:
            await ctx.report_progress(seconds - left, seconds, found.meaning)
            found = await anyio.to_thread.run_sync(HOST.wait, found.id, min(left, LOOK))
    except HostOpsError as error:
        return _failure(error)
    return _told(found, is_error=found.final and not found.ok)


async def _answer(call: Callable[..., Result], *words: Any, **more: Any) -> CallToolResult:
    """What answers a question is no error, whatever the answer is."""
    try:
        found = await anyio.to_thread.run_sync(partial(call, *words, **more))
    except HostOpsError as error:
        return _failure(error)
    return _told(found, is_error=False)


def _told(found: Result, *, is_error: bool) -> CallToolResult:
    result = {name: value for name, value in found.data.items() if name != "output"}  # that is in the words already
    data = Answer(id=found.id, outcome=found.outcome, meaning=found.meaning, next=found.next, result=result or None)
    content = [TextContent(text=found.text())]
    return CallToolResult(content=content, structured_content=data.model_dump(), is_error=is_error)


def _failure(error: HostOpsError) -> CallToolResult:
    data = Answer(outcome=error.outcome, meaning=f"{error.meaning} {error}", next=error.next)
    return CallToolResult(
        content=[TextContent(text=error.text())], structured_content=data.model_dump(), is_error=True
    )


if __name__ == "__main__":
    SERVER.run()
