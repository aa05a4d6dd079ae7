"""What can be asked about submodules, where they are allowed; no question starts git inside of one."""

from __future__ import annotations

from pathlib import Path

from executor.git.questions import GITLINK_MODE, split_z
from executor.git.repository import Git
from executor.policy.model import Contact


def declared_submodules(git: Git, index: Path | None = None) -> frozenset[str]:
    """Return the paths that the `.gitmodules` of the index names."""
    listing = ["config", "--blob", ":.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"]
    done = git.local(listing, index=index, check=False, exact=True)
    return frozenset(field.split("\n", 1)[1] for field in split_z(done.stdout) if "\n" in field)


def submodule_drift(git: Git) -> tuple[str, ...]:
    """Return the submodules that are at another commit than the index has (C24). Starts nothing inside of them."""
    listing = ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"]
    fields = split_z(git.local(listing, contact=Contact.READ, exact=True).stdout)
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return tuple(path for meta, path in pairs if meta[1:7] == GITLINK_MODE)
