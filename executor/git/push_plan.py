"""What a push command asks for, ref by ref (pure): sources, destinations, what may be forced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from executor.errors import Failed
from executor.git.refnames import HEADS, TAGS

# How the ids of a push are named where an approval binds them: what a ref becomes, and what it is at the remote now.
NEW, OLD = "new:", "remote:"
_HEAD = ("HEAD", "@")
_DELETE = frozenset({"-d", "--delete"})
_FORCE = frozenset({"-f", "--force"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """One ref to move at the remote: to what `source` names here (None deletes it), to the full ref `destination`."""

    source: str | None
    destination: str
    force: bool = False
    leased: bool = False  # only if the remote still has what was last fetched, or `expected`
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What naming needs to know: full ref names here and at the remote, and the current branch."""

    ours: frozenset[str]
    theirs: frozenset[str]
    current: str | None


def plan_push(refspecs: Sequence[str], options: Sequence[tuple[str, str | None]], known: Known) -> tuple[Wanted, ...]:
    """Return the refs to move, given refspecs and options as the grammar read them.

    Without refspecs it is the current branch, and with `--tags` all tags in addition. Raises Failed:
    `detached_head`, `no_such_branch`, `ambiguous_name`.
    """
    given = {name for name, _ in options}
    leases = {ref: expect for ref, expect in map(_lease, options) if ref is not None}
    specs = list(refspecs)
    if not specs and "--tags" not in given:
        specs = [_current(known)]
    wanted = [_deletion(spec, known) if given & _DELETE else _refspec(spec, known) for spec in specs]
    if "--tags" in given:
        wanted += [Wanted(ref, ref) for ref in sorted(known.ours) if ref.startswith(TAGS)]
    force = bool(given & _FORCE)
    return tuple(_with_lease(one, force=force, leases=leases) for one in wanted)


def _current(known: Known) -> str:
    if known.current is None:
        raise Failed("detached_head", "HEAD is on no branch, so there is none to push.", "Name the branch.")
    return HEADS + known.current


def _refspec(spec: str, known: Known) -> Wanted:
    force, body = spec.startswith("+"), spec.removeprefix("+")
    source, colon, destination = body.partition(":")
    if colon and not source:
        return _deletion(destination, known)
    full = _source(source, known)
    if not colon:
        if source in _HEAD:
            _current(known)  # without a branch there is no name for it at the remote
        if full is None:
            raise Failed(
                "no_such_branch", f"There is no branch or tag named {source!r} here.", "Name one, or SOURCE:BRANCH."
            )
        return Wanted(full, full, force)
    if not destination.startswith("refs/"):
        destination = (TAGS if full is not None and full.startswith(TAGS) else HEADS) + destination
    return Wanted(full or source, destination, force)


def _source(name: str, known: Known) -> str | None:
    """Return the full ref that a short name stands for here; None where it is none (a commit, HEAD on no branch)."""
    if name in _HEAD:
        return HEADS + known.current if known.current is not None else None
    found = [ref for ref in (name, HEADS + name, TAGS + name) if ref in known.ours and ref.startswith("refs/")]
    if len(found) > 1:
        raise Failed(
            "ambiguous_name", f"{name!r} is both a branch and a tag here.", f"Write {HEADS}{name} or {TAGS}{name}."
        )  # C11
    return found[0] if found else None


def _deletion(name: str, known: Known) -> Wanted:
    found = [ref for ref in (name, HEADS + name, TAGS + name) if ref in known.theirs]
    if len(found) != 1:
        why = "both a branch and a tag" if found else "neither a branch nor a tag"
        raise Failed(
            "ambiguous_name" if found else "remote_ref_missing",
            f"{name!r} is {why} at the remote.",
            "git_cmd: ls-remote lists them.",
        )
    return Wanted(None, found[0])


def _lease(option: tuple[str, str | None]) -> tuple[str | None, str | None]:
    """Return (name or "" for all, expected id or None) of a `--force-with-lease`, or (None, None)."""
    name, value = option
    if name != "--force-with-lease":
        return None, None
    ref, _, expect = (value or "").partition(":")
    return ref, expect or None


def _with_lease(one: Wanted, *, force: bool, leases: Mapping[str, str | None]) -> Wanted:
    short = one.destination.removeprefix(HEADS)
    for name in (short, one.destination, ""):
        if name in leases:
            return Wanted(one.source, one.destination, True, True, leases[name])
    return Wanted(one.source, one.destination, one.force or force)


def check_bound_move(bound: Mapping[str, str], ref: str, old: str | None, new: str | None) -> None:
    """Raise Failed unless moving `ref` from `old` to `new` is what `bound` says ("" for no object; pure).

    `branch_moved`: it is another commit here by now. `remote_changed`: the remote has another one by now. Where
    nothing is bound, everything agrees; where something is, a ref that is not named in it does not.
    """
    if not bound:
        return
    if bound.get(NEW + ref) != (new or ""):
        raise Failed(
            "branch_moved", f"What would go to {ref} is not what was approved; nothing was pushed.", "Ask again."
        )
    if bound.get(OLD + ref) != (old or ""):
        raise Failed(
            "remote_changed",
            f"The remote's {ref} is not where it was when this was approved; nothing was pushed.",
            "Fetch, look at what came, and ask again.",
        )
