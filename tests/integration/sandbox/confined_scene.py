"""A repository as the gateway has it: metadata of the host, a work tree that anyone writes, git in confinement."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.policy.model import Contact
from executor.sandbox.confinement import Confinement, Profile, Support
from executor.sandbox.environment import base_environment, git_environment
from executor.sandbox.process import Completed, ProcessRunner

GIT = "/usr/bin/git"
IDENTITY = (("user.name", "Test Person"), ("user.email", "person@example.org"))


@dataclass(frozen=True)
class Scene:
    """`root` holds state (local.git, home, tmp, an empty configuration), `tree`, and the forbidden `outside`."""

    root: Path
    runner: ProcessRunner

    @property
    def tree(self) -> Path:
        return self.root / "tree"

    @property
    def git_dir(self) -> Path:
        return self.root / "state/local.git"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def canary(self) -> Path:
        """A host file whose text must never come to light."""
        return self.outside / "secret"

    def profile(self, contact: Contact, *, execute: Sequence[Path] = (), ports: Sequence[int] = ()) -> Profile:
        state = self.root / "state"
        read = (state / "home", state / "empty.gitconfig", *((self.tree,) if contact is Contact.READ else ()))
        write = (self.git_dir, state / "tmp", *((self.tree,) if contact is Contact.WRITE else ()))
        sockets = contact is Contact.REMOTE
        links = (self.tree,) if contact is Contact.WRITE else ()
        return Profile(contact, read, write, tuple(execute), tcp_ports=tuple(ports), sockets=sockets, links=links)

    def git(
        self,
        *args: str,
        contact: Contact = Contact.WRITE,
        config: Sequence[tuple[str, str]] = (),
        stdin: bytes = b"",
        deadline: float = 30.0,
        profile: Profile | None = None,
        **extra: str,
    ) -> Completed:
        """Run git as the gateway does: hardened environment, host-owned metadata, the profile of `contact`."""
        state = self.root / "state"
        without_tree = contact in (Contact.NONE, Contact.REMOTE)
        where = state / "home" if without_tree else self.tree
        environment = git_environment(
            base_environment(state / "home", state / "tmp"),
            git_dir=self.git_dir,
            work_tree=where,
            empty_config=state / "empty.gitconfig",
            config=(*IDENTITY, ("core.bare", "false"), *config),
            extra=extra,
        )
        return self.runner.run(
            (GIT, *args),
            env=environment,
            cwd=where,
            profile=profile or self.profile(contact),
            stdin=stdin,
            deadline=deadline,
        )

    def ok(self, *args: str, contact: Contact = Contact.WRITE, **rest: object) -> str:
        """Run git and return its output; it must succeed and must not have been denied anything."""
        done = self.git(*args, contact=contact, **rest)  # type: ignore[arg-type]
        assert done.exit_code == 0, (args, done)
        assert b"ermission denied" not in done.stderr, (args, done)
        return done.stdout.decode().removesuffix("\n")


def build_scene(root: Path, *, support: Support | None = None, unsafe: bool = False) -> Scene:
    """Build a scene in `root` with one commit, confined as this kernel can, or as `support` says that it can."""
    for name in ("state/home", "state/tmp", "tree", "outside"):
        (root / name).mkdir(parents=True)
    (root / "state/empty.gitconfig").touch()
    scene = Scene(root, ProcessRunner(Confinement(support, unsafe=unsafe)))
    subprocess.run(
        [GIT, "init", "-q", "--bare", "-b", "main", scene.git_dir], check=True, env={"PATH": "/usr/bin:/bin"}
    )
    scene.canary.write_text("TOP-SECRET-CANARY\n")
    (scene.tree / "file.txt").write_text("one\n")
    scene.ok("add", ".", contact=Contact.READ)
    scene.ok("commit", "-q", "-m", "First")
    return scene


def unconfined_git(where: Path, *args: str) -> str:
    """Run plain git, as the agent does in its container."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "Agent", f"GIT_{who}_EMAIL": "agent@example.org"}
    done = subprocess.run([GIT, *args], cwd=where, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Return whether `condition` came to hold within `seconds`."""
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


def processes_of(mark: str) -> list[int]:
    """Return the processes, zombies left out, whose command line contains `mark`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                    found.append(int(name))
            except OSError:
                continue
    return found


def agent(code: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start Python `code` as the hostile agent; it prints a line when it is ready, and the caller ends it."""
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def scratch_directory() -> tempfile.TemporaryDirectory[str]:
    """Return a directory that other users can enter (pytest's own is closed to them)."""
    directory = tempfile.TemporaryDirectory(dir="/tmp", prefix="gateway-test-")
    os.chmod(directory.name, 0o755)
    return directory
