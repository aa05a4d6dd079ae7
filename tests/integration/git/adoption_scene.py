"""A work tree with everything worth keeping, a host with something worth stealing, and looking at both."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from repos import bare_remote, commit_file, plain_git, process_runner, work_tree

from executor.git.adoption import AdoptionReport, adopt, plan_adoption
from executor.git.paths import RepositoryPaths
from executor.git.release import release
from executor.sandbox.process import ProcessRunner

SECRET = "CANARY-SECRET-7f3a9c"


@dataclass(frozen=True)
class Scene:
    """`tree` is the agent's; `canary` is a directory of the host that must neither change nor be read."""

    tree: Path
    canary: Path
    remote: Path
    paths: RepositoryPaths
    runner: ProcessRunner

    @property
    def git_dir(self) -> Path:
        return self.tree / ".git"

    def plain(self, *args: str) -> str:
        """Run git in the work tree as a person would."""
        return plain_git(self.tree, *args)

    def adopt(self, **options: object) -> AdoptionReport:
        plan = plan_adoption(self.paths, self.runner, allow_local_remote=True, **options)  # type: ignore[arg-type]
        return adopt(plan, self.runner)

    def release(self) -> AdoptionReport:
        return release(self.paths, self.runner)

    def script(self, script: str) -> None:
        """Run a shell script in the work tree as the agent would; it knows $CANARY, $WORK and $REMOTE."""
        names = {"CANARY": self.canary, "WORK": self.tree, "REMOTE": self.remote}
        people = {k: v for k, v in os.environ.items() if k.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **people, **{k: str(v) for k, v in names.items()}}
        subprocess.run(["/bin/sh", "-euc", script], cwd=self.tree, env=env, check=True, timeout=30)

    def canary_digest(self) -> str:
        return tree_digest(self.canary)

    def leaks(self) -> list[Path]:
        """Return the files of the adopted repository in which the secret can be read, objects unpacked."""
        found = []
        for path in (self.paths.local, self.paths.transfer):
            for directory, _, names in os.walk(path):
                files = [Path(directory, name) for name in names]
                found += [file for file in files if SECRET.encode() in file.read_bytes()]
        if self.paths.local.exists():
            everything = ["cat-file", "--batch", "--batch-all-objects", "--unordered"]
            if SECRET in plain_git(self.paths.local, *everything):
                found.append(self.paths.objects)
        return found

    def leftovers(self) -> list[str]:
        """Return what adoption left in the work tree or unfinished in the state directory."""
        names = [name for name in os.listdir(self.tree) if name.startswith(".git.")]
        state = ("incoming", "adoption.journal", "released-transfer.git")
        return names + [name for name in state if (self.paths.root / name).exists()]

    def everything(self) -> dict[str, str]:
        """Return what a person would miss: refs, HEAD, reflogs, stash, index, status, and the files."""
        return {
            "refs": self.plain("for-each-ref"),
            "head": self.plain("rev-parse", "--symbolic-full-name", "HEAD"),
            "reflog": self.plain("reflog", "show", "--all"),
            "stash": self.plain("stash", "list"),
            "stashed": self.plain("stash", "show", "-p", "stash@{1}"),
            "index": self.plain("ls-files", "--stage", "-v"),
            "status": self.plain("status", "--porcelain=v2", "--branch"),
            "files": tree_digest(self.tree),
        }


def tree_digest(root: Path) -> str:
    """Return a digest of names, kinds and contents below `root`, but for what is named `.git`."""
    digest = hashlib.sha256()
    for directory, directories, names in os.walk(root):
        if Path(directory) == root and root.name == "tree":
            directories[:] = [name for name in directories if not name.startswith(".git")]
            names = [name for name in names if not name.startswith(".git")]
        directories.sort()
        for name in sorted(names):
            path = Path(directory, name)
            digest.update(os.fsencode(path.relative_to(root)) + b"\0")
            digest.update(os.readlink(path).encode() if path.is_symlink() else path.read_bytes())
    return digest.hexdigest()


def build_scene(where: Path) -> Scene:
    """Build commits, branches, tags, two stash entries, staged and unstaged work, a remote; and the canary."""
    tree = work_tree(where / "tree", commits=3)
    commit_file(tree, "src/app.py", "print(1)\n")
    remote = bare_remote(where / "remotes" / "project.git")
    plain_git(tree, "config", "user.name", "Agent Smith")
    plain_git(tree, "config", "user.email", "agent@example.org")
    plain_git(tree, "remote", "add", "origin", str(remote))
    plain_git(tree, "push", "-q", "-u", "origin", "main")
    plain_git(tree, "branch", "feature/login", "HEAD~1")
    plain_git(tree, "tag", "v1.0", "HEAD~2")
    plain_git(tree, "tag", "-a", "-m", "one", "v1.1")
    for number in (1, 2):
        (tree / "file.txt").write_text(f"stashed {number}\n")
        plain_git(tree, "stash", "push", "-q", "-m", f"stash {number}")
    plain_git(tree, "pack-refs", "--all")
    plain_git(tree, "repack", "-q", "-a", "-d")
    commit_file(tree, 'täst "q".txt', "odd name\n")
    (tree / "file.txt").write_text("staged\n")
    plain_git(tree, "add", "file.txt")
    (tree / "file.txt").write_text("unstaged\n")
    (tree / "notes.txt").write_text("untracked\n")
    return Scene(
        tree=tree,
        canary=_canary(where / "canary"),
        remote=remote,
        paths=RepositoryPaths("project", tree, where / "state" / "repos" / "project"),
        runner=process_runner(),
    )


def _canary(path: Path) -> Path:
    path.mkdir()
    (path / "secret.txt").write_text(f"{SECRET}\n")
    (path / "victim.txt").write_text("victim\n")
    other = work_tree(path / "otherrepo")
    commit_file(other, "private.txt", f"{SECRET}\n")
    return path
