"""Making the two git directories of a repository, with configuration that the host wrote."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from executor.git.config_scrub import Setting, render
from executor.git.foreign_copy import directory, remove_tree
from executor.git.paths import RepositoryPaths

# What the local repository has as the address of each remote. The true one is in the transfer repository; without
# any, git would take the remote's name as a path and start the agent's own `origin/` of the work tree. The name
# never resolves (RFC 2606), and says why a `git push` by hand does not work.
INERT_URL = "https://only-ops-gateway-talks-to-remotes.invalid"
# Keys that this module writes into the local repository for people who use plain git in the work tree.
HOST_KEYS = ("core.repositoryformatversion", "core.bare", "core.worktree", "core.hookspath", "core.fsmonitor")


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote as it was agreed with the operator."""

    name: str
    url: str
    fetch: tuple[str, ...]


def prepare_root(paths: RepositoryPaths) -> None:
    """Make what lies beside the two git directories, for our user alone; what is there already stays."""
    paths.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths.root.chmod(0o700)
    for part in (paths.home, paths.tmp):
        part.mkdir(mode=0o700, exist_ok=True)
    write_private(paths.empty_config, b"")


def write_private(path: Path, content: bytes, *, mode: int = 0o600, durable: bool = False) -> None:
    """Write a file of ours, replacing what is there in one step; `durable` brings it to disk first."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    fresh.rename(path)


def write_program(path: Path, text: str) -> None:
    """Make `path` a script of ours that git starts; replaced in one step when it is another one."""
    content = text.encode()
    with contextlib.suppress(OSError):  # not there, or not ours: replaced below
        if path.read_bytes() == content:
            return
    write_private(path, content, mode=0o700)


def discard(path: Path) -> None:
    """Remove a directory tree of ours, if it is there."""
    if path.is_dir():
        with directory(path.parent) as parent:
            remove_tree(parent, path.name)


def make_git_dir(path: Path, settings: Iterable[Setting], head: bytes) -> None:
    """Make an empty git directory with this configuration and HEAD."""
    for part in ("", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info", "hooks"):
        (path / part).mkdir(mode=0o700)
    write_private(path / "config", render(settings).encode("utf-8", "surrogateescape"))
    write_private(path / "HEAD", head)


def local_settings(
    paths: RepositoryPaths, kept: Iterable[Setting], remotes: Iterable[Remote], object_format: str
) -> tuple[Setting, ...]:
    """Return the local repository's configuration: ours, then what is kept, then remotes without their addresses."""
    own = [
        *_format(object_format),
        Setting("core.bare", "false"),
        Setting("core.worktree", str(paths.work_tree)),
        Setting("core.hookspath", str(paths.local / "hooks")),
        Setting("core.fsmonitor", "false"),
    ]
    tracked = [setting for remote in remotes for setting in _remote(remote, f"{INERT_URL}/{remote.name}")]
    return (*own, *kept, *tracked)


def transfer_settings(remotes: Iterable[Remote], object_format: str) -> tuple[Setting, ...]:
    """Return the transfer repository's configuration, the only one that holds the remotes' addresses."""
    own = [*_format(object_format), Setting("core.bare", "true")]
    return (*own, *(setting for remote in remotes for setting in _remote(remote, remote.url)))


def _format(object_format: str) -> tuple[Setting, ...]:
    if object_format == "sha1":
        return (Setting("core.repositoryformatversion", "0"),)
    return (Setting("core.repositoryformatversion", "1"), Setting("extensions.objectformat", object_format))


def _remote(remote: Remote, url: str) -> list[Setting]:
    fetch = [Setting(f"remote.{remote.name}.fetch", spec) for spec in remote.fetch]
    return [Setting(f"remote.{remote.name}.url", url), *fetch]


def make_transfer(local: Path, transfer: Path, objects: Path, remotes: Iterable[Remote], object_format: str) -> None:
    """Make the transfer repository at `transfer` for the repository that is `local`.

    It borrows the objects at `objects` (where they will be) and knows where a shallow history was cut. What the
    remote has it learns from the remote: with tracking refs that an agent wrote it would remember what never was.
    """
    make_git_dir(transfer, transfer_settings(remotes, object_format), b"ref: refs/heads/main\n")
    write_private(transfer / "objects/info/alternates", os.fsencode(objects) + b"\n")
    shallow = local / "shallow"
    if shallow.exists():
        write_private(transfer / "shallow", shallow.read_bytes())
