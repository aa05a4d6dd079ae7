"""The world that the corpus is played in: a shared directory with the work tree in it, a remote, an operator's home,
and a canary directory that only the host should see.

A world is built once, adopted once, and kept as two templates; `WorldMaker.fresh` puts one of them back at the very
same path, so that the absolute paths in an adopted repository stay true.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repos import bare_remote, plain_git, process_runner

from executor.git.access import RemoteAccess
from executor.git.adoption import adopt, plan_adoption
from executor.git.git_dirs import INERT_URL
from executor.git.paths import RepositoryPaths

SECRET = "CANARY-SECRET-7f3a9c"
PRIVATE = "PRIVATE-4e1d0b-of-another-repository"
SECRETS = (SECRET, PRIVATE)
REPOSITORY = "repo"
SETUP_SECONDS = 60.0
_PERSON = {
    "GIT_AUTHOR_NAME": "Host Operator",
    "GIT_AUTHOR_EMAIL": "operator@example.com",
    "GIT_COMMITTER_NAME": "Host Operator",
    "GIT_COMMITTER_EMAIL": "operator@example.com",
}
_FIRST = {
    "README.md": "# Project\n\nIt says hello.\n",
    "src/app.py": 'def main():\n    print("hello")\n',
    "docs/guide.md": "# Guide\n\nRun it.\n",
    "tests/test_app.py": "def test_main():\n    assert True\n",
    "file with spaces.txt": "a name with spaces\n",
    ".gitignore": "*.log\n__pycache__/\n",
}


@dataclass(frozen=True)
class World:
    """Where everything lies; `port` is a loopback port on which somebody notes each connection."""

    root: Path
    port: int

    @property
    def shared(self) -> Path:
        return self.root / "shared"

    @property
    def work(self) -> Path:
        return self.shared / REPOSITORY

    @property
    def canary(self) -> Path:
        return self.root / "canary"

    @property
    def remote(self) -> Path:
        return self.root / "remote.git"

    @property
    def home(self) -> Path:
        """The operator's."""
        return self.root / "home"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def paths(self) -> RepositoryPaths:
        return RepositoryPaths(REPOSITORY, self.work, self.state / "repos" / REPOSITORY)

    @property
    def access(self) -> RemoteAccess:
        return RemoteAccess(credential_file=self.home / ".git-credentials", allow_local_remote=True)

    def names(self) -> dict[str, str]:
        """Return what the corpus calls things: `$NAME` in a set-up, `@NAME@` in a flag."""
        return {
            "WORK": str(self.work),
            "SHARED": str(self.shared),
            "CANARY": str(self.canary),
            "SECRET": str(self.canary / "secret.txt"),
            "VICTIM": str(self.canary / "victim.txt"),
            "OTHERREPO": str(self.canary / "otherrepo"),
            "REMOTE": str(self.remote),
            "PORT": str(self.port),
        }

    def fill(self, text: str) -> str:
        for name, value in self.names().items():
            text = text.replace(f"@{name}@", value)
        return text

    def write(self, name: str, text: str) -> Path:
        target = self.work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def git(self, *args: str) -> str:
        """Run plain git in the work tree as the fixture's author."""
        return plain_git(self.work, *args, env=_PERSON)

    def adopt(self) -> None:
        """Adopt the repository as an operator does who agrees to whatever is planned. Raises Problem."""
        runner = process_runner()
        try:
            self.state.mkdir(mode=0o700, exist_ok=True)
            plan = plan_adoption(self.paths, runner, shared_dir=self.shared, allow_local_remote=True)
            adopt(plan, runner)
        finally:
            runner.confinement.close()

    @contextmanager
    def agent(self, script: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a POSIX shell script in the work tree, as the agent; what it leaves running ends with the block."""
        # The local repository holds no address that leads anywhere; the agent's own git may know the remote.
        knows = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{self.remote}.insteadOf",
                 "GIT_CONFIG_VALUE_0": f"{INERT_URL}/origin"}  # fmt: skip
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **_PERSON, **knows}
        quiet = subprocess.DEVNULL
        with subprocess.Popen(
            ["/bin/sh", "-c", script],
            cwd=self.work,
            env=environment | self.names(),
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        ) as shell:
            try:
                shell.wait(SETUP_SECONDS)
                yield shell
            finally:
                end_group(shell.pid)

    def replace_git_dir(self, pristine: Path) -> None:
        """Put a git directory of the agent's own in the place of the gitfile."""
        (self.work / ".git").unlink()
        shutil.copytree(pristine, self.work / ".git", symlinks=True)


def end_group(group: int) -> None:
    """End what is left of a process group, and wait for it."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
    while True:
        try:
            os.waitpid(-group, 0)
        except ChildProcessError:
            return


def build(world: World) -> World:
    """Build the fixture of the corpus, not adopted yet, at `world.root` (which does not exist)."""
    world.shared.mkdir(parents=True)
    bare_remote(world.remote)
    plain_git(world.shared, "init", "-q", "-b", "main", REPOSITORY)
    for name, value in (("user.name", "Host Operator"), ("user.email", "operator@example.com")):
        world.git("config", name, value)  # the operator's own configuration is nothing to the gateway
    _history(world)
    world.write("src/app.py", 'def main():\n    print("hello, again")\n')
    world.write("notes.txt", "to do: everything\n")
    _home(world)
    _canary(world)
    for repository in (world.work, world.remote, world.canary / "otherrepo"):
        _slim(repository)
    return world


def _history(world: World) -> None:
    for name, text in _FIRST.items():
        world.write(name, text)
    _commit(world, "Initial import")
    world.git("tag", "-a", "-m", "Version 1.0", "v1.0")
    world.write("src/app.py", 'def main():\n    print("hello")\n\n\nmain()\n')
    _commit(world, "Update app")
    world.git("remote", "add", "origin", str(world.remote))
    for branch, name in (("dev", "src/dev.py"), ("feature/login", "src/login.py")):
        world.git("checkout", "-q", "-b", branch, "main")
        world.write(name, f"# on {branch}\n")
        _commit(world, f"Begin {branch}")
        world.git("push", "-q", "-u", "origin", branch)
        world.git("checkout", "-q", "main")
    world.write("docs/guide.md", "# Guide\n\nRun it, then read what it says.\n")
    world.write("README.md", "# Project\n\nIt says hello. See docs/guide.md.\n")
    _commit(world, "Extend the docs")
    world.git("tag", "-a", "-m", "Version 1.1", "v1.1")
    world.git("push", "-q", "-u", "origin", "main")
    world.git("remote", "set-head", "origin", "main")
    world.write("README.md", "# Project\n\nIt says hello, in progress.\n")
    world.git("stash", "push", "-q", "-m", "wip: readme")


def _commit(world: World, message: str) -> None:
    world.git("add", "-A")
    world.git("commit", "-q", "-m", message)


def _home(world: World) -> None:
    world.home.mkdir(mode=0o700)
    store = world.home / ".git-credentials"
    store.write_text(f"http://operator:{SECRET}@127.0.0.1:{world.port}\n")
    (world.home / ".gitconfig").write_text(
        "[user]\n\tname = Host Operator\n\temail = operator@example.com\n"
        f"[http]\n\textraHeader = Authorization: Bearer {SECRET}\n"
        f"[credential]\n\thelper = store --file {store}\n"
    )
    for path in (store, world.home / ".gitconfig"):
        path.chmod(0o600)


def _canary(world: World) -> None:
    world.canary.mkdir(mode=0o755)
    (world.canary / "secret.txt").write_text(f"{SECRET}\n")
    (world.canary / "victim.txt").write_text("nobody writes here\n")
    other = world.canary / "otherrepo"
    plain_git(world.canary, "init", "-q", "-b", "main", str(other))
    (other / "private.txt").write_text(f"{PRIVATE}\n")
    plain_git(other, "add", "private.txt")
    plain_git(other, "commit", "-q", "-m", f"Add what is private: {PRIVATE}")


def _slim(repository: Path) -> None:
    """Leave few files behind, for the world is copied hundreds of times: objects in one pack, no sample hooks."""
    plain_git(repository, "repack", "-a", "-d", "-q")
    git_dir = repository / ".git" if (repository / ".git").is_dir() else repository
    for sample in (git_dir / "hooks").iterdir():
        sample.unlink()


class WorldMaker:
    """Given an empty directory, build the world once and hand out fresh copies, one at a time."""

    def __init__(self, where: Path, port: int) -> None:
        self.world = World(where / "world", port)
        self._plain, self._adopted = where / "plain", where / "adopted"
        build(self.world)
        _copy(self.world.root, self._plain)
        self.world.adopt()
        self.world.root.rename(self._adopted)

    @property
    def pristine_git_dir(self) -> Path:
        """The git directory as it was before the adoption."""
        return self._plain / "shared" / REPOSITORY / ".git"

    def fresh(self, *, adopted: bool) -> World:
        """Put the world back as it was built, or as it was adopted, and return it."""
        self.discard()
        _copy(self._adopted if adopted else self._plain, self.world.root)
        return self.world

    def discard(self) -> None:
        if self.world.root.exists():
            mend_attributes(self.world.root)
            shutil.rmtree(self.world.root)


def mend_attributes(root: Path) -> None:
    """Take away what an agent's `chattr +i` has set, where the file system knows such a thing."""
    for name in ("shared", "shared/git_status.flag"):
        if (root / name).exists():
            subprocess.run(["chattr", "-i", root / name], check=False, stderr=subprocess.DEVNULL)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source, target], check=True)
