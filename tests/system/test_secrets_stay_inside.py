"""No secret that the host is trusted with, or that an agent stumbles over, comes out at any door (C21, A25, G01)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import until
from served_host import LAST_STATES, TOKEN, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

LEAKED = "glpat-" + "Zx9Yw8Vu7Ts6Rq5Po4"[:20]  # another one, in the work tree, a message and the remote's words
PASSWORD = "correct-horse-battery"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host whose every part has a secret in it, after a day of work at the most talkative log level."""
    with served_host(tmp_path_factory.mktemp("secrets")) as host:
        hook = host.bare() / "hooks" / "post-receive"
        hook.write_text(f"#!/bin/sh\necho deployed with https://deploy:{PASSWORD}@example.org and {LEAKED}\n")
        hook.chmod(0o755)
        host.git("config", "user.name", f"Agent {LEAKED}")
        host.git("remote", "add", "backup", f"https://agent:{TOKEN}@localhost:{host.remote.port}/shop.git")
        with host.running(GATEWAY_LOG_LEVEL="DEBUG"):
            a_day_of_work(host)
        with host.running(GATEWAY_LOG_LEVEL="DEBUG"):
            pass  # a start says things too
        yield host


def a_day_of_work(host: ServedHost) -> None:
    (host.tree() / "settings.ini").write_text(f"token = {LEAKED}\n")
    host.ask("git_add.add.flag", "settings.ini")
    host.ask("git_commit.commit.flag", f"Use {LEAKED} and https://me:{PASSWORD}@example.org/x")
    for number, command in enumerate(
        ("log -p", "show", "remote -v", "remote show origin", "config --get remote.origin.url", "cat-file -p HEAD",
         f"log --grep {LEAKED}", f"log --author={LEAKED}", f"ls-remote https://x:{TOKEN}@localhost/shop.git")
    ):  # fmt: skip
        host.raise_flag(f"git_cmd.read-{number}.flag", command)
        host.in_state(f"read-{number}", "awaiting_approval", *LAST_STATES)
    body = {"operation": "git_push", "params": {"branch": "main"}, "reason": f"the token is {LEAKED}"}
    host.raise_flag("push.request.json", json.dumps(body))
    waiting = host.in_state("push", "awaiting_approval", *LAST_STATES)
    assert waiting["state"] == "awaiting_approval"  # it would publish a secret, so operators are asked
    (host.root / "pending.txt").write_text(host.ok("pending") + host.ok("pending", "--json"))
    host.ok("approve", "push", "--reason", f"I know about {LEAKED}")
    pushed = host.in_state("push", *LAST_STATES)
    assert pushed["state"] == "succeeded", pushed["error"]
    host.raise_flag("git_cmd.denied.flag", "git tag v1")
    host.in_state("denied", "awaiting_approval")
    host.ok("deny", "denied", "--reason", f"not with {LEAKED}")
    host.in_state("denied", "denied")
    host.ask("git_status.status.flag")
    host.ask("git_check.check.flag")
    until(lambda: "request.succeeded" in host.told("check"), "the end of the day in commands.log")


def secret_in(text: str) -> list[str]:
    return [secret for secret in (TOKEN, LEAKED, PASSWORD) if secret in text]


def test_c21_nothing_that_the_agent_can_read_holds_a_secret(host: ServedHost) -> None:
    read = {path: path.read_text() for path in host.shared.rglob("*") if path.is_file()}
    assert len(read) > 20
    assert {path.name: secret_in(text) for path, text in read.items() if secret_in(text)} == {}


def test_g01_nothing_that_is_logged_holds_a_secret(host: ServedHost) -> None:
    for program in host.programs:
        assert "READY" in program.log
        assert secret_in(program.log) == []


def test_no_audit_event_holds_a_secret_and_the_masked_log_still_verifies(host: ServedHost) -> None:
    export = host.root / "export.jsonl"
    host.ok("audit", "export", str(export))
    assert len(export.read_text().splitlines()) > 30
    assert secret_in(export.read_text() + host.ok("audit", "show", "--limit", "1000")) == []
    assert "whole" in host.ok("audit", "verify")


def test_c21_nothing_that_operators_decide_by_holds_a_secret(host: ServedHost) -> None:
    told = [host.ok("why", name) + host.ok("why", name, "--json") for name in ("push", "commit", "read-0", "denied")]
    told.append((host.root / "pending.txt").read_text())
    assert "git_push" in told[-1]
    assert [secret_in(text) for text in told] == [[]] * len(told)


def test_nothing_that_tells_how_the_host_is_holds_a_secret(host: ServedHost) -> None:
    told = [host.cli("status").stdout, host.cli("status", "--json").stdout, host.cli("doctor").stdout]
    assert all(told)
    assert [secret_in(text) for text in told] == [[]] * len(told)


def test_what_is_masked_is_shown_as_masked_and_the_rest_as_it_is(host: ServedHost) -> None:
    output = host.result("read-0")["output"]
    assert "***" in output
    assert "settings.ini" in output


def test_the_secrets_themselves_are_where_their_owners_put_them(host: ServedHost) -> None:
    """Masking is for what goes out: a commit is kept and pushed as it was made."""
    assert LEAKED in host.git("log", "-1", "--format=%B")
    assert host.tip() == host.git("rev-parse", "HEAD")
    assert TOKEN in Path(host.settings["GATEWAY_CREDENTIAL_FILE"]).read_text()
