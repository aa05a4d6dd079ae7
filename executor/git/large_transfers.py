"""Content of Git LFS, to and from the server that belongs to a remote; nothing where LFS is not allowed."""

from __future__ import annotations

from collections.abc import Iterable

from executor.errors import Failed
from executor.git.remote_address import RemoteAddress
from executor.git.repository import Git

# `git lfs push` begins with listing branches and tags, and takes it for an error that there are none.
_OUTGOING = "refs/heads/gateway-outgoing"
_SHOWN_CHARACTERS = 2000


def push_content(git: Git, remote: str, address: RemoteAddress, tips: Iterable[str | None]) -> None:
    """Store at the server what the commits up to `tips` name and `remote` lacks. Raises Failed("lfs_transfer")."""
    commits = _each_once(tips)
    if git.lfs and commits:
        git.transfer(["update-ref", _OUTGOING, commits[0]])
        try:
            _move(git, ["push", remote, *commits], address)
        finally:
            git.transfer(["update-ref", "-d", _OUTGOING])


def fetch_content(git: Git, remote: str, address: RemoteAddress, tips: Iterable[str | None]) -> None:
    """Get from the server what the files of the commits `tips` name. Raises Failed("lfs_transfer")."""
    commits = _each_once(tips)
    if git.lfs and commits:
        _move(git, ["fetch", remote, *commits], address)


def _each_once(tips: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(tip for tip in tips if tip is not None))


def _move(git: Git, words: list[str], address: RemoteAddress) -> None:
    done = git.transfer(["lfs", *words], address=address, large_files=True, check=False)
    if done.exit_code != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-_SHOWN_CHARACTERS:]
        raise Failed(
            "lfs_transfer",
            f"Large files could not be moved: {said}",
            "Where some are missing here, add them again; else try again, or ask an operator.",
        )
