"""git_add: stage literal paths, and say what is staged now."""

from __future__ import annotations

from collections.abc import Sequence

from executor.git.index_draft import draft_index
from executor.git.lock_files import clear_stale_lock
from executor.git.questions import split_z, staged
from executor.git.reports import listing, succeeded
from executor.git.repository import Git
from executor.outcome import Outcome
from executor.policy.model import Contact


def add(git: Git, paths: Sequence[str]) -> Outcome:
    """Stage `paths` (relative to the work tree, taken literally; "." is everything) and report what is staged.

    Raises Refused("embedded_repository"), and Failed with a named code; the index is then as it was.
    """
    note = clear_stale_lock(git)
    before = _tree(git)
    with draft_index(git) as draft:
        git.local(["--literal-pathspecs", "add", "--", *paths], contact=Contact.READ, index=draft)
    found = staged(git)
    changed = _tree(git) != before
    output = note + (
        "Staged for the next commit:\n" if found else "Nothing is staged: there is no change to commit.\n"
    )
    output += listing(f"{letter} {path}" for letter, path in found) + "\n" * bool(found)
    output += lfs_warning(git, [path for letter, path in found if letter != "D"])
    verified: dict[str, object] = {"effect": changed, "staged": len(found)}
    if not changed:
        verified["why"] = "the index already held exactly this"
    return succeeded(output, verified=verified)


def lfs_warning(git: Git, paths: Sequence[str]) -> str:
    """Return a warning when some of `paths` are marked for Git LFS, which is not run here (C20); else ""."""
    if not paths or git.lfs:
        return ""
    names = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    done = git.local(["check-attr", "--cached", "--stdin", "-z", "filter"], stdin=names, exact=True)
    fields = split_z(done.stdout)
    marked = [path for path, value in zip(fields[::3], fields[2::3], strict=True) if value == "lfs"]
    if not marked:
        return ""
    return (
        "Warning: these files are marked for Git LFS, which the gateway does not run; they are staged as they are "
        "(a pointer stays a pointer, a large file goes into the history whole):\n" + listing(marked, 20) + "\n"
    )


def _tree(git: Git) -> str | None:
    """Return the tree that the index holds, or None while conflicts keep it from being one."""
    done = git.local(["write-tree"], check=False)
    return done.stdout.decode().strip() if done.exit_code == 0 else None
