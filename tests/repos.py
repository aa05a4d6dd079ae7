"""Real repositories for the tests: a bare remote, a work tree with commits, and one that is adopted.

adopted = adopted_repository(tmp_path)          # work tree, local.git, transfer.git and a bare remote it knows
adopted.write("a.txt", "one\n")
adopted.plain("add", "a.txt")                   # plain git on the adopted repository, for setting a test up
git = adopted.open()                            # what the product uses
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from executor.git.repository import Deadlines, Git, RemoteAccess, RepositoryPaths, open_repository
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner

BRANCH = "main"
LOCAL_ACCESS = RemoteAccess(allow_local_remote=True)
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/nonexistent/gitconfig",
    "GIT_AUTHOR_NAME": "Test Person",
    "GIT_AUTHOR_EMAIL": "person@example.org",
    "GIT_COMMITTER_NAME": "Test Person",
    "GIT_COMMITTER_EMAIL": "person@example.org",
    "GIT_ALLOW_PROTOCOL": "file:ssh:http:https",
}


def plain_git(where: Path, *args: str, stdin: str | None = None, env: dict[str, str] | None = None) -> str:
    """Run git as a person would in `where` and return its output without the last newline."""
    done = subprocess.run(
        ["git", *args],
        cwd=where,
        env=_ENVIRONMENT | (env or {}),
        input=stdin,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"git {args} exited {done.returncode}: {done.stderr}")
    return done.stdout.removesuffix("\n")


def bare_remote(path: Path) -> Path:
    """Create an empty bare repository and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain_git(path.parent, "init", "-q", "--bare", "-b", BRANCH, str(path))
    return path


def work_tree(path: Path, *, commits: int = 1) -> Path:
    """Create an ordinary repository with `commits` commits on main, each a new version of `file.txt`."""
    path.mkdir(parents=True)
    plain_git(path, "init", "-q", "-b", BRANCH)
    for number in range(1, commits + 1):
        commit_file(path, "file.txt", f"{number}\n", f"Commit {number}")
    return path


def commit_file(tree: Path, name: str, content: str | bytes, message: str = "A commit") -> str:
    """Write a file in an ordinary repository, commit it, and return the commit's id."""
    target = tree / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    plain_git(tree, "add", "--", name)
    plain_git(tree, "commit", "-q", "-m", message)
    return plain_git(tree, "rev-parse", "HEAD")


def clone(remote: Path | str, path: Path, *options: str) -> Path:
    """Clone as a colleague would, and return the work tree."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain_git(path.parent, "clone", "-q", *options, str(remote), str(path))
    return path


def process_runner() -> ProcessRunner:
    """Return the runner that the product uses, confined as this kernel can."""
    return ProcessRunner(Confinement())


@dataclass(frozen=True)
class Adopted:
    """An adopted repository and the bare remote that it calls origin (None without one)."""

    paths: RepositoryPaths
    remote: Path | None

    @property
    def tree(self) -> Path:
        return self.paths.work_tree

    def open(
        self,
        access: RemoteAccess = LOCAL_ACCESS,
        runner: ProcessRunner | None = None,
        *,
        submodules: bool = False,
        lfs: bool = False,
        deadlines: Deadlines | None = None,
    ) -> Git:
        made = runner or process_runner()
        return open_repository(self.paths, made, access, submodules=submodules, lfs=lfs, deadlines=deadlines)

    def write(self, name: str, content: str | bytes) -> Path:
        target = self.tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def plain(self, *args: str, stdin: str | None = None) -> str:
        """Run plain git on the repository, without anything of the product."""
        return plain_git(self.tree, *args, stdin=stdin)

    def commit(self, name: str, content: str | bytes, message: str = "A commit") -> str:
        """Commit a file by plain git and return the commit's id."""
        return commit_file(self.tree, name, content, message)

    def ref(self, name: str) -> str | None:
        """Return the id that a full ref name has here, or None."""
        found = self.plain("for-each-ref", "--format=%(refname) %(objectname)", name)
        return dict(line.split(" ") for line in found.splitlines()).get(name)

    def remote_ref(self, name: str) -> str | None:
        """Return the id that a full ref name has at the remote, or None."""
        assert self.remote is not None
        found = plain_git(self.remote, "for-each-ref", "--format=%(refname) %(objectname)", name)
        return dict(line.split(" ") for line in found.splitlines()).get(name)


def adopted_repository(
    where: Path, *, commits: int = 1, pushed: bool = True, remote: bool = True, identity: bool = True
) -> Adopted:
    """Build an adopted repository under `where`: `tree`, `state/repos/project/…`, and `remotes/project.git`.

    With `pushed` the remote holds main and main follows it. With `identity` the repository has a name and an e-mail.
    """
    tree = work_tree(where / "tree", commits=commits)
    bare = bare_remote(where / "remotes" / "project.git") if remote else None
    if identity:
        plain_git(tree, "config", "user.name", "Agent Smith")
        plain_git(tree, "config", "user.email", "agent@example.org")
    if bare is not None:
        plain_git(tree, "remote", "add", "origin", str(bare))
        if pushed and commits:
            plain_git(tree, "push", "-q", "-u", "origin", BRANCH)
    return Adopted(take_over(where / "state" / "repos" / "project", tree, str(bare) if bare else None), bare)


def take_over(root: Path, tree: Path, url: str | None) -> RepositoryPaths:
    """Move the git directory of an ordinary repository to where an adopted one has it, and build the rest."""
    paths = RepositoryPaths("project", tree.resolve(), root)
    root.mkdir(parents=True, mode=0o700)
    (tree / ".git").rename(paths.local)
    (tree / ".git").write_text(f"gitdir: {paths.local}\n")
    for hook in (paths.local / "hooks").iterdir():
        hook.unlink()
    plain_git(root, "init", "-q", "--bare", "-b", BRANCH, str(paths.transfer))
    (paths.transfer / "objects" / "info" / "alternates").write_text(f"{paths.objects}\n")
    if url is not None:
        plain_git(paths.transfer, "config", "remote.origin.url", url)
        plain_git(paths.transfer, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    for line in plain_git(paths.local, "for-each-ref", "--format=create %(refname) %(objectname)",
                          "refs/remotes").splitlines():  # fmt: skip
        plain_git(paths.transfer, "update-ref", "--stdin", stdin=line + "\n")
    paths.home.mkdir()
    paths.tmp.mkdir()
    paths.empty_config.touch(mode=0o400)
    for directory, names, _ in os.walk(root):
        for name in (directory, *names):
            Path(directory, name).chmod(0o700)
    return paths
