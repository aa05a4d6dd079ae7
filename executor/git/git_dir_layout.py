"""What of a git directory that an agent wrote is carried over, and in which form (pure).

See gitrepository-layout(5). An allow-list by path; each carried file is also checked by its content, so that no
byte arrives that is not a ref, an object or plain text. Everything else is dropped and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

_OID = r"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_OID_ONLY = re.compile(_OID)
_PACKED_LINE = re.compile(rf"({_OID}) (\S+)")
_REFLOG_LINE = re.compile(rf"{_OID} {_OID} [^\n\t\x00]*> \d{{1,19}} [+-]\d{{4}}(?:\t[^\n\x00]*)?")
_LOOSE = re.compile(r"objects/[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})")
_PACK = re.compile(rf"objects/pack/pack-{_OID}\.pack")
# What belongs to whoever uses the repository. Other refs are for programs: refs/rescue is the gateway's own.
_CARRIED_REF = re.compile(r"refs/(?:heads|tags|remotes|notes)/.+|refs/stash", re.DOTALL)
_REMOTE_HEAD = re.compile(r"(refs/remotes/[^/]+/)HEAD")
_FORBIDDEN_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")  # git-check-ref-format(1)


class Treatment(StrEnum):
    HEAD = "HEAD"
    REF = "ref"
    PACKED_REFS = "packed refs"
    REFLOG = "reflog"
    SHALLOW = "shallow"
    INDEX = "index"
    TEXT = "text"  # ignore patterns
    OBJECT = "object"
    PACK = "pack"
    CONFIG = "config"
    DERIVED = "derived"  # made again by git, or means nothing to it
    DROP = "drop"


_BY_NAME = {
    "HEAD": Treatment.HEAD,
    "ORIG_HEAD": Treatment.REF,
    "packed-refs": Treatment.PACKED_REFS,
    "shallow": Treatment.SHALLOW,
    "index": Treatment.INDEX,
    "info/exclude": Treatment.TEXT,
    "info/sparse-checkout": Treatment.TEXT,
    "config": Treatment.CONFIG,
    "config.worktree": Treatment.CONFIG,
}
_DERIVED = re.compile(
    r"description|COMMIT_EDITMSG|FETCH_HEAD|AUTO_MERGE|REBASE_HEAD|gc\.(?:log|pid)|info/refs|hooks/[a-z-]+\.sample"
    r"|objects/info/(?:packs|commit-graph)|objects/info/commit-graphs/.*"
    r"|objects/pack/(?:pack-[0-9a-f]+\.(?:idx|rev|bitmap|mtimes|keep)|multi-pack-index.*)"
)
_DROPPED = tuple(
    (re.compile(pattern), why)
    for pattern, why in (
        (r"hooks/.*", "a hook would run on the host"),
        (r"commondir", "sends git to another repository"),
        (r"objects/info/(?:http-)?alternates", "lends objects from elsewhere on the host"),
        (r"info/grafts|refs/replace/.*|shallow\.lock", "shows another history than the one that is there"),
        (r"info/attributes", "names programs for files (filter, diff, merge)"),
        (r"modules/.*", "a git directory of a submodule"),
        (r"lfs/.*", "Git LFS content; LFS has to be set up on the host"),
        (r".*\.lock", "a lock that was left behind"),
        (r"objects/.*/tmp_.*|objects/tmp_.*", "an unfinished object"),
        (r"objects/.*", "no object file by its name"),
        (r"refs/.*|logs/.*", "no branch, tag, tracking branch, note or stash by its name"),
    )
)
_IN_PROGRESS = {
    "rebase-merge": ("rebase", "git rebase --abort"),
    "rebase-apply": ("rebase or am", "git rebase --abort, or git am --abort"),
    "MERGE_HEAD": ("merge", "git merge --abort"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "git cherry-pick --abort"),
    "REVERT_HEAD": ("revert", "git revert --abort"),
    "sequencer": ("cherry-pick or revert", "git cherry-pick --abort, or git revert --abort"),
    "BISECT_LOG": ("bisect", "git bisect reset"),
    "BISECT_START": ("bisect", "git bisect reset"),
}


def treatment(path: str) -> tuple[Treatment, str]:
    """Return how the regular file `path` (relative to the git directory) is treated, and for DROP why."""
    if path in _BY_NAME:
        return _BY_NAME[path], ""
    if _LOOSE.fullmatch(path):
        return Treatment.OBJECT, ""
    if _PACK.fullmatch(path):
        return Treatment.PACK, ""
    if _DERIVED.fullmatch(path):
        return Treatment.DERIVED, ""
    if is_carried_ref(path):
        return Treatment.REF, ""
    if path == "logs/HEAD" or (path.startswith("logs/") and is_carried_ref(path.removeprefix("logs/"))):
        return Treatment.REFLOG, ""
    for pattern, why in _DROPPED:
        if pattern.fullmatch(path):
            return Treatment.DROP, why
    return Treatment.DROP, "not part of what is carried over"


def operation_in_progress(names: Iterable[str]) -> tuple[str, str] | None:
    """Given the names at the top of a git directory, return the unfinished operation and what ends it.

    `REBASE_HEAD` alone is no sign: it survives a finished rebase (C13).
    """
    return next((_IN_PROGRESS[name] for name in sorted(names) if name in _IN_PROGRESS), None)


def is_ref_name(name: str) -> bool:
    """Say whether `name` is a full ref name (`refs/…`) that git-check-ref-format(1) accepts."""
    if not name.startswith("refs/") or len(name) > 1000 or _FORBIDDEN_IN_REF.search(name):
        return False
    parts = name.split("/")
    if name.endswith(".") or name == "refs/@" or not name.isprintable():
        return False
    return len(parts) > 1 and all(p and not p.startswith((".", "-")) and not p.endswith(".lock") for p in parts)


def is_carried_ref(name: str) -> bool:
    """Say whether the full ref `name` is carried over: branches, tags, tracking branches, notes and the stash."""
    return is_ref_name(name) and _CARRIED_REF.fullmatch(name) is not None


def clean_ref(content: bytes, name: str) -> bytes | None:
    """Return the content of the ref file `name` in git's own form, or None when it is none that is carried over.

    Only HEAD and a remote's HEAD may be symbolic, pointing to a branch of their own. Any other alias would follow
    what is committed later: as a tracking branch it would claim that the remote has it already.
    """
    text = content[:2000].decode("utf-8", "surrogateescape").strip()
    if _OID_ONLY.fullmatch(text):
        return text.encode() + b"\n"
    target = text.removeprefix("ref:").strip()
    within = _REMOTE_HEAD.fullmatch(name)
    allowed = "refs/heads/" if name == "HEAD" else within[1] if within else None
    if text.startswith("ref:") and is_ref_name(target) and allowed and target.startswith(allowed) and target != name:
        return f"ref: {target}\n".encode()
    return None


def clean_packed_refs(content: bytes) -> tuple[bytes, int, tuple[str, ...]]:
    """Return packed-refs with what is carried over, how many lines are no packed ref, and which refs were left out.

    Header and peeled ids are claims about the objects; git works them out itself where they are missing.
    """
    kept: list[str] = []
    left_out: list[str] = []
    bad = 0
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        if not line or line.startswith(("#", "^")):
            continue
        found = _PACKED_LINE.fullmatch(line)
        if found is None or not is_ref_name(found[2]):
            bad += 1
        elif is_carried_ref(found[2]):
            kept.append(line)
        else:
            left_out.append(found[2])
    return "".join(f"{line}\n" for line in kept).encode(), bad, tuple(left_out)


def clean_reflog(content: bytes) -> tuple[bytes, int]:
    """Return a reflog with its well-formed lines only, and how many lines were left out."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    kept = [line for line in lines if _REFLOG_LINE.fullmatch(line)]
    bad = sum(1 for line in lines if line) - len(kept)
    return "".join(f"{line}\n" for line in kept).encode("utf-8", "surrogateescape"), bad


def clean_shallow(content: bytes) -> bytes | None:
    """Return the list of shallow commits, or None when a line is no object id."""
    lines = content.decode("ascii", "replace").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    if not all(_OID_ONLY.fullmatch(line) for line in lines):
        return None
    return "".join(f"{line}\n" for line in lines).encode()


def clean_text(content: bytes) -> bytes | None:
    """Return ignore patterns as they are, or None when they are not text."""
    return None if b"\x00" in content else content
