"""Git LFS, where the host's owner allows it: which program runs, with which settings, and what it moves when.

git starts a filter that has arguments through a shell, and there is none. So `filter.lfs.process` names a file whose
first line is a program and its argument, as `GIT_SSH` does. Addresses come from the host alone: `.lfsconfig` lies in
the tree, and what git's own configuration says goes before it (git-lfs-config(5)). Local work has no network, so what
is not here stays a pointer; objects travel with a fetch or a push. See docs/decisions/0012.
"""

from __future__ import annotations

from pathlib import Path

from executor.errors import Refused
from executor.git.git_dirs import write_program
from executor.git.inner_files import SMALL, read_inner
from executor.git.paths import RepositoryPaths
from executor.git.remote_address import RemoteAddress

LFS_PROGRAM = Path("/usr/bin/git-lfs")
HTTPS_PORT = 443  # where an LFS server's answers may send the content
_FILTER = f"#!{LFS_PROGRAM} filter-process\n"
_NOWHERE = "https://only-ops-gateway-talks-to-remotes.invalid/lfs"
# Written once by the host: git-lfs would write it into a configuration that it is not to touch.
FORMAT = ("lfs.repositoryformatversion", "0")
_COMMON = (
    ("filter.lfs.required", "true"),  # a filter that fails must fail the command, not store the file as it is
    ("lfs.locksverify", "false"),
    ("lfs.transfer.maxretries", "1"),
)
# What is missing is left a pointer; without it every command that meets one would fail.
LOCAL_VARIABLES = {"GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1"}


def require_lfs(name: str) -> None:
    """Raise Refused("lfs_missing") where the program is not installed."""
    if not LFS_PROGRAM.exists():
        raise Refused(
            "lfs_missing",
            f"{name!r} may use Git LFS, and there is no {LFS_PROGRAM}.",
            "Install it (Debian: apt install git-lfs), or do not allow LFS for this repository.",
        )


def write_filter(path: Path) -> None:
    """Make `path` the file that git starts as the filter."""
    write_program(path, _FILTER)


def knows_format(git_dir: Path) -> bool:
    """Whether the configuration of this git directory says what git-lfs would write there."""
    return b"[lfs]" in (read_inner(git_dir, "config", SMALL) or b"")


def local_configuration(paths: RepositoryPaths) -> tuple[tuple[str, str], ...]:
    """Return the settings of git on the local repository: the filter, and nowhere to connect to."""
    return (*_COMMON, ("filter.lfs.process", str(paths.lfs_filter)), ("lfs.url", _NOWHERE), ("lfs.pushurl", _NOWHERE))


def transfer_configuration(paths: RepositoryPaths, address: RemoteAddress) -> tuple[tuple[str, str], ...]:
    """Return the settings of git lfs on the transfer repository, for the server that belongs to `address`."""
    url = address.url
    if address.scheme in ("http", "https"):  # git-lfs's own rule for a remote without a setting
        url = f"{url.removesuffix('/').removesuffix('.git')}.git/info/lfs"
    elif address.scheme == "file":
        url = Path(address.path).as_uri()
    return (*_COMMON, ("lfs.storage", str(paths.lfs)), ("lfs.url", url), ("lfs.pushurl", url))
