"""A host that is set up, for tests that break one thing of it: settings in an env file, everything of one account.

The account is an unprivileged uid where the test is run by root.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from other_account import become
from repos import plain_git, work_tree

SECONDS = 120


class SetUpHost:
    """Directories, an env file, and what a person types there."""

    def __init__(self, root: Path, account: int | None = None) -> None:
        self.root, self.account = root, account
        self.shared, self.state, self.tree = root / "shared", root / "state", root / "shop"
        self.env_file = root / ".env"
        self.environment: dict[str, str] = {}  # besides what every process has
        work_tree(self.tree)
        plain_git(self.tree, "config", "user.name", "Agent Smith")
        plain_git(self.tree, "config", "user.email", "agent@example.org")
        self.shared.mkdir()
        self.shared.chmod(0o2770)
        self.state.mkdir(mode=0o700)
        self.write_settings(
            SHARED_DIR=str(self.shared), REPO_DIR=str(self.tree), STATE_DIR=str(self.state), HOST_NAME="test-host"
        )
        self.give(root)

    @property
    def group(self) -> int:
        try:
            return os.getegid() if self.account is None else pwd.getpwuid(self.account).pw_gid
        except KeyError:
            return self.account or 0

    def give(self, path: Path) -> None:
        """Make the account the owner of `path` and what is below it."""
        if self.account is not None:
            subprocess.run(["chown", "-R", f"{self.account}:{self.group}", str(path)], check=True)

    def write_settings(self, **settings: str) -> None:
        """Set these in the env file, in place of those of the same name."""
        lines = self.env_file.read_text().splitlines() if self.env_file.exists() else []
        lines = [line for line in lines if line.partition("=")[0].removeprefix("GATEWAY_") not in settings]
        lines += [f"GATEWAY_{name}={value}" for name, value in settings.items()]
        self.env_file.write_text("".join(f"{line}\n" for line in lines))
        self.env_file.chmod(0o600)

    def adopt(self, *more: str) -> None:
        self.ok("adopt", "--yes", *more)

    def argv(self, *words: str) -> list[str]:
        """The interpreter with these words, as the account."""
        return [*self._become(), sys.executable, *words]

    def _become(self) -> list[str]:
        return become(self.account, self.group) if self.account is not None else []

    def process_environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.root), "LC_ALL": "C.UTF-8", **self.environment}

    def cli(
        self, *words: str, before: Sequence[str] = (), where: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, *self.argv("-m", "gateway", *words)],
            cwd=where or self.root,
            env=self.process_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def ok(self, *words: str) -> str:
        done = self.cli(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def doctor(self, *, before: Sequence[str] = (), where: Path | None = None) -> dict[str, dict[str, str]]:
        """Return each check by its name (the worst, where several have it), having seen that the exit code fits."""
        done = self.cli("doctor", "--json", before=before, where=where)
        assert done.stdout, done.stderr
        checks: list[dict[str, str]] = json.loads(done.stdout)
        assert done.returncode == int(any(check["state"] == "fail" for check in checks))
        assert all(check["mend"] for check in checks if check["state"] != "ok"), "a mend for everything"
        badness = ["ok", "warn", "fail"]
        return {check["name"]: check for check in sorted(checks, key=lambda each: badness.index(each["state"]))}

    def paste(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as it is shown: with sudo as root, without as the account; `ops-gateway` is this program."""
        program = shlex.join([sys.executable, "-m", "gateway"])
        as_root = command.startswith("sudo ")
        line = re.sub(r"^ops-gateway\b", program, command.removeprefix("sudo "))
        account = [] if as_root else self._become()
        done = subprocess.run(
            [*account, "/bin/sh", "-c", line],
            cwd=self.root,
            env=self.process_environment() | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done


def states(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return what is not good, by name."""
    return {name: check["state"] for name, check in checks.items() if check["state"] != "ok"}


def unprivileged() -> int | None:
    """The uid that a host is given to, None where we are not root: it has a name, or ssh would not start."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
