"""A host for system tests: a remote behind HTTPS and a token, adopted repositories, the gateway as a real process.

    with served_host(tmp_path) as host:
        with host.running():
            host.raise_flag("git_status.a1.flag")
            host.in_state("a1", "succeeded")

Nothing of the program is imported here: what the tests see of it is files, exit codes and what it prints.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from other_account import become
from programs import Gateway, end, speaking_of, until
from remotes import HttpRemote, http_remote
from repos import BRANCH, bare_remote, plain_git, work_tree

LAST_STATES = (
    "succeeded", "failed", "timed_out", "interrupted", "refused", "denied", "expired", "undeliverable", "withdrawn",
)  # fmt: skip
ALTERED = str(Path(__file__).with_name("altered_gateway.py"))
HURRIED = (ALTERED, "hurried", "run")  # a gateway that does twice a second what it else does once a minute
TOKEN = "ghp_" + "aB3dE6gH9j" * 4  # what the remote asks for; it must never be seen anywhere


class ServedHost:
    """Directories and settings of one host, and what agent, operator and remote do there."""

    def __init__(self, root: Path, remote: HttpRemote, account: int | None = None) -> None:
        self.root, self.remote, self.account = root, remote, account
        self.shared, self.state = root / "shared", root / "state"
        self.settings = {
            "GATEWAY_SHARED_DIR": str(self.shared),
            "GATEWAY_STATE_DIR": str(self.state),
            "GATEWAY_HOST_NAME": "test-host",
            "GATEWAY_CREDENTIAL_FILE": str(root / "credentials"),
            "GATEWAY_CA_FILE": str(remote.authority),
        }
        self.programs: list[Gateway] = []

    # --- setting up ------------------------------------------------------------------------------------------

    def build(self, *names: str) -> None:
        """Make and adopt a repository for each name, the default one first; its main is pushed and followed."""
        self.shared.mkdir(mode=0o777, exist_ok=True)
        self.state.mkdir(mode=0o700, exist_ok=True)
        credentials = self.root / "credentials"
        credentials.write_text(f"https://agent:{TOKEN}@localhost:{self.remote.port}\n")
        credentials.chmod(0o600)
        for name in names:
            bare = bare_remote(self.bare(name))
            plain_git(bare, "config", "http.receivepack", "true")
            plain_git(bare, "config", "core.logAllRefUpdates", "true")
            tree = work_tree(self.tree(name))
            plain_git(tree, "remote", "add", "origin", str(bare))
            plain_git(tree, "push", "-q", "-u", "origin", BRANCH)
            plain_git(tree, "remote", "set-url", "origin", self.remote.url(f"{name}.git"))
            plain_git(tree, "config", "user.name", "Agent Smith")
            plain_git(tree, "config", "user.email", "agent@example.org")
        self.settings["GATEWAY_REPO_DIR"] = str(self.tree(names[0]))
        if len(names) > 1:
            config = self.root / "gateway.toml"
            config.write_text("".join(self._table(name) for name in names[1:]))
            self.settings["GATEWAY_CONFIG_FILE"] = str(config)
        if self.account is not None:
            owned = [self.shared, self.state, credentials, *map(self.tree, names)]
            subprocess.run(["chown", "-R", str(self.account), *map(str, owned)], check=True)
        for name in names:
            self.ok("adopt", name, "--yes")

    def _table(self, name: str) -> str:
        files = {"credential_file": "GATEWAY_CREDENTIAL_FILE", "ca_file": "GATEWAY_CA_FILE"}
        more = "".join(f'{key} = "{self.settings[setting]}"\n' for key, setting in files.items())
        return f'[[repositories]]\nname = "{name}"\npath = "{self.tree(name)}"\n{more}\n'

    def tree(self, name: str = "shop") -> Path:
        return self.root / name

    def bare(self, name: str = "shop") -> Path:
        return self.remote.repositories / f"{name}.git"

    # --- what a person does with plain git -------------------------------------------------------------------

    def git(self, *args: str, name: str = "shop") -> str:
        return plain_git(self.tree(name), *args)

    def commits(self, name: str = "shop") -> int:
        """How many commits main has."""
        return int(self.git("rev-list", "--count", BRANCH, name=name))

    def pushes(self, name: str = "shop") -> int:
        """How often main was moved at the remote."""
        log = self.bare(name) / "logs" / "refs" / "heads" / BRANCH
        return len(log.read_text().splitlines())

    def tip(self, ref: str = BRANCH, name: str = "shop") -> str:
        return plain_git(self.bare(name), "rev-parse", ref)

    def commit(self, text: str, message: str = "Agent's work", name: str = "shop") -> str:
        """Commit a new version of file.txt, and return its id."""
        (self.tree(name) / "file.txt").write_text(text)
        self.git("commit", "-q", "-a", "-m", message, name=name)
        return self.git("rev-parse", "HEAD", name=name)

    # --- what the agent does ---------------------------------------------------------------------------------

    def raise_flag(self, name: str, body: str = "", owner: int | None = None) -> None:
        """Write a flag as a careful agent does: under another name, then renamed."""
        draft = self.shared / f"{name}.draft"
        draft.write_text(body)
        if owner is not None:
            os.chown(draft, owner, owner)
        draft.rename(self.shared / name)

    def ask(self, name: str, body: str = "", owner: int | None = None) -> dict[str, Any]:
        """Raise a flag (`OP.ID.flag`, `ID.request.json`) and wait for its last result."""
        self.raise_flag(name, body, owner)
        return self.in_state(name.removesuffix(".flag").removesuffix(".request.json").split(".")[-1], *LAST_STATES)

    def shell(self, line: str) -> None:
        """Let the agent's own shell do something in the shared directory."""
        subprocess.run(["/bin/sh", "-euc", line], cwd=self.shared, env={"PATH": "/usr/bin:/bin"}, check=True)

    def flagged(self, operation: str, line: str) -> dict[str, Any]:
        """Raise a flag without an id by a line of shell; wait for the last result of the request that it became."""
        before = self.result(operation).get("id")
        self.shell(line)

        def answered() -> dict[str, Any] | None:
            found = self.result(operation)
            return found if found.get("id") != before and found.get("state") in LAST_STATES else None

        found: dict[str, Any] = until(answered, f"an answer to {line!r}; {self.result(operation)}")
        return found

    def result(self, request_id: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.shared / "results" / f"{request_id}.json").read_text())
        except FileNotFoundError:
            return {}
        return found

    def in_state(self, request_id: str, *states: str) -> dict[str, Any]:
        """Wait until the result of a request says one of `states`, and return it."""
        found: dict[str, Any] = until(
            lambda: (seen := self.result(request_id)).get("state") in states and seen,
            f"{request_id} in {states}; it is {self.result(request_id)}",
        )
        return found

    def told(self, request_id: str) -> list[str]:
        """The kinds of events that `commands.log` tells of a request, oldest first. It follows the answers."""
        lines = [line.split() for line in (self.shared / "commands.log").read_text().splitlines()]
        return [words[3] for words in lines if len(words) > 3 and words[2] == request_id]

    def left_claimed(self) -> list[str]:
        return [name for name in os.listdir(self.shared) if name.startswith(".claim.")]

    def taken(self, name: str) -> None:
        """Wait until a flag has been taken away."""
        until(lambda: not (self.shared / name).exists(), f"{name} taken")

    # --- what the operator does ------------------------------------------------------------------------------

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.root), "LC_ALL": "C.UTF-8", **self.settings, **more}

    def argv(self, *words: str) -> list[str]:
        """The interpreter with these words, as the account that the host is served by."""
        return [*(become(self.account) if self.account is not None else ()), sys.executable, *words]

    def cli(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv("-m", "gateway", *words),
            cwd=self.root,
            env=self.environment(**settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def ok(self, *words: str, **settings: str) -> str:
        """Run a verb that must succeed, and return what it prints."""
        done = self.cli(*words, **settings)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def asked(self, request_id: str, command: str) -> dict[str, Any]:
        """Raise a git_cmd flag that has to be asked about; return its result once it waits, or has ended."""
        self.raise_flag(f"git_cmd.{request_id}.flag", command)
        return self.in_state(request_id, "awaiting_approval", *LAST_STATES)

    def digest(self, request_id: str) -> str:
        """The digest that `pending` shows for a request."""
        found = re.search(rf"approve {request_id} --digest ([0-9a-f]+)", self.ok("pending", request_id))
        assert found
        return found[1]

    def events(self, request_id: str = "") -> list[dict[str, Any]]:
        """The audit events of a request (or all of them), oldest first."""
        lines = self.ok("audit", "show", "--json", "--limit", "100000").splitlines()
        events = [json.loads(line) for line in lines]
        return [event for event in events if not request_id or event["request_id"] == request_id]

    def kinds(self, request_id: str) -> list[str]:
        return [str(event["kind"]) for event in self.events(request_id)]

    # --- the gateway -----------------------------------------------------------------------------------------

    def start(self, *argv: str, **settings: str) -> Gateway:
        """Start `argv` (by default `python -m gateway run`) with this host's settings, and do not wait."""
        program = Gateway(self.argv(*(argv or ("-m", "gateway", "run"))), self.environment(**settings), self.root)
        self.programs.append(program)
        return program

    @contextmanager
    def running(self, *argv: str, **settings: str) -> Iterator[Gateway]:
        """A gateway that is ready, and that is killed at the end of the block unless it has ended by then."""
        gateway = self.start(*argv, **settings)
        try:
            gateway.says("READY")
            yield gateway
        finally:
            end(gateway)

    def gits(self) -> list[int]:
        """The processes that work in this host's state directory, but for the gateways themselves."""
        gateways = {program.process.pid for program in self.programs}
        return [pid for pid in speaking_of(f"{self.state}/repos/") if pid not in gateways]

    def clean_up(self) -> None:
        """Kill whatever was started here and is still alive."""
        for program in self.programs:
            end(program)
        for pid in self.gits():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def served_host(root: Path, *names: str, account: int | None = None) -> Iterator[ServedHost]:
    """A host under `root` that serves a repository for each name (by default one, `shop`); nothing runs yet.

    With `account`, a uid, the program runs as that one.
    """
    with http_remote(root / "remotes", credentials=("agent", TOKEN), tls=root / "tls") as remote:
        host = ServedHost(root, remote, account)
        try:
            host.build(*(names or ("shop",)))
            yield host
        finally:
            host.clean_up()
