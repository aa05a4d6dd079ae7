"""Where the parts of an adopted repository lie on the host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RepositoryPaths:
    """Where an adopted repository is. `root` is STATE_DIR/repos/NAME, readable and writable by the gateway alone."""

    name: str
    work_tree: Path
    root: Path

    @property
    def local(self) -> Path:
        return self.root / "local.git"

    @property
    def transfer(self) -> Path:
        return self.root / "transfer.git"

    @property
    def objects(self) -> Path:
        return self.local / "objects"

    @property
    def lfs(self) -> Path:
        """The store of Git LFS, where the host's owner allows that."""
        return self.local / "lfs"

    @property
    def lfs_filter(self) -> Path:
        return self.root / "lfs-filter"

    @property
    def home(self) -> Path:
        """An empty directory: HOME, and the work tree of commands that have no business with the real one."""
        return self.root / "home"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def empty_config(self) -> Path:
        """An empty file for GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM. `/dev/null` there can be destroyed by git."""
        return self.root / "empty.gitconfig"

    @property
    def ssh_program(self) -> Path:
        return self.root / "ssh"

    @property
    def commands(self) -> Path:
        """Holds the git directory of a command on the work tree while it runs (see `executor.git.command_dir`)."""
        return self.tmp / "commands"
