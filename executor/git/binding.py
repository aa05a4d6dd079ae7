"""Resolve what an approval depends on to object ids (git-security: approval binds to bytes; C11: full ref names)."""

from __future__ import annotations

import hashlib
import re

from executor.errors import Failed, Problem
from executor.git.drift import Binding, drift
from executor.git.guards import ALL_TREE
from executor.git.head_use import builds_on_head
from executor.git.inner_files import INDEX_BYTES, copy_inner
from executor.git.push_plan import NEW, OLD
from executor.git.pushing import local_commit, remote_of
from executor.git.questions import (
    head,
    in_progress,
    index_gitlinks,
    index_tree,
    remotes,
    resolve,
    text,
    upstream,
)
from executor.git.recovery_model import RecoveryPlan
from executor.git.recovery_steps import planned
from executor.git.refnames import HEADS, TAGS
from executor.git.remote_address import mask_userinfo
from executor.git.repository import Git
from executor.git.run_push import intent_of, pushed_object
from executor.git.transfer import ls_remote
from executor.policy.model import AddParams, Command, CommitParams, Contact, Decision, Operation, PushParams, Request

__all__ = ["NEW", "OLD", "Binding", "bind", "drift"]

_STASH_ENTRIES = 100
# Options whose value is a commit, or a branch that is moved or followed.
_NAMES_COMMIT = frozenset(
    {"--onto", "--source", "--fixup", "--squash", "--reuse-message", "--set-upstream-to", "--create",
     "--force-create", "-C", "-B", "-b", "-c", "-u"}
)  # fmt: skip
_SHORT_SOURCE = ("restore", "-s")  # the same as --source there; a strategy or a format elsewhere
_FOLLOWS_UPSTREAM = frozenset({"merge", "rebase", "pull"})
_ABOUT_REMOTES = frozenset(
    {"fetch", "pull", "ls_remote", "remote_config", "remote_show", "remote_update", "remote_prune"}
)
_PREFIXES = (HEADS, TAGS, "refs/remotes/")
_DOTS = re.compile(r"\.{2,3}(?![^{}]*\})")  # between the ends of a range, not in ^{/some..text}
_STANDS_FOR_SEVERAL = re.compile(r"\^(?:@|!|-\d*)$")
_ALL = frozenset({"-a", "--all"})
_FILES = "the content of files is taken as it is when this runs"
_THEIR_SIDE = "what the remote holds is taken as it is when this runs"


class _Gathering:
    """Collects what is bound; a label that comes twice keeps its first value."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self.things: dict[str, str | None] = {}
        self.ids: dict[str, str] = {}
        self.unbound: dict[str, None] = {}

    def thing(self, label: str, value: str | None) -> None:
        self.things.setdefault(label, value)

    def name(self, name: str, value: str | None) -> None:
        """Bind something that the runner can resolve again by the same name."""
        self.thing(name, value)
        if value is not None:
            self.ids.setdefault(name, value)


def bind(git: Git, request: Request, decision: Decision) -> Binding:
    """Return everything that the effect of a decided request depends on, as it is now.

    Asks the remote where a push is concerned. Raises Failed where it cannot be looked at (an unreachable remote, a
    branch that is not there): what cannot be shown cannot be approved.
    """
    found = _Gathering(git)
    command = getattr(decision, "command", None)
    if builds_on_head(request, command):
        at = head(git)
        found.thing("HEAD is on", HEADS + at.branch if at.branch is not None else "no branch")
        found.name("HEAD", at.commit)
        found.thing("in progress", in_progress(git))
    if command is not None:
        _bind_command(found, command)
    else:
        _bind_typed(found, request, decision.argv)
    return Binding(
        git.paths.name,
        str(request.operation),
        decision.argv,
        tuple(found.things.items()),
        found.ids,
        tuple(found.unbound),
    )


def _bind_typed(found: _Gathering, request: Request, argv: tuple[str, ...]) -> None:
    match request.params:
        case CommitParams():
            found.ids.clear()  # this one is checked by the names that its action knows
            tree = _index_tree(found)
            if tree is not None:
                found.ids["tree"] = tree
        case AddParams():
            _index_tree(found)
            found.unbound[_FILES] = None
        case PushParams(branch=named):
            branch = named or (argv[1] if len(argv) > 1 else None) or head(found.git).branch
            if branch is None:
                raise Failed("detached_head", "HEAD is on no branch, so there is none to push.", "Name the branch.")
            _bind_push(found, branch)
        case _ if request.operation is Operation.GIT_RECOVER:
            _bind_recovery(found)


def _bind_push(found: _Gathering, branch: str) -> None:
    new, remote, ref = local_commit(found.git, branch), remote_of(found.git, branch), HEADS + branch
    _bind_address(found, remote)
    _bind_move(found, remote, ref, ls_remote(found.git, remote, [ref]).get(ref), new)


def _bind_move(found: _Gathering, remote: str, ref: str, old: str | None, new: str | None) -> None:
    """Bind what a push moves: `ref` at `remote`, from `old` to `new` (None: there is none)."""
    found.thing(f"{ref} at {remote}", old)
    found.thing(f"what goes to {ref}", new)
    found.ids[OLD + ref], found.ids[NEW + ref] = old or "", new or ""


def _bind_recovery(found: _Gathering) -> None:
    _, decided = planned(found.git)
    if isinstance(decided, RecoveryPlan):
        for number, step in enumerate(decided.steps, 1):
            found.thing(f"step {number}", f"{step.title} ({', '.join(step.names)})" if step.names else step.title)
        found.thing(HEADS + decided.target, resolve(found.git, HEADS + decided.target))
        _index_tree(found)
        found.unbound["uncommitted work is kept as it is when this runs"] = None


def _bind_command(found: _Gathering, command: Command) -> None:
    if command.runner == "push":
        _bind_push_command(found, command)
        return
    if command.runner in _ABOUT_REMOTES:
        for remote in sorted(remotes(found.git)):
            _bind_address(found, remote)
        for destination in (word.partition(":")[2] for word in command.operands[1:]):
            if destination and command.runner in ("fetch", "pull"):
                _bind_operand(found, destination)
        if command.runner != "remote_config":
            found.unbound[_THEIR_SIDE] = None
    elif command.runner in ("local", "commit", "add", "set_upstream"):
        for word in command.operands:
            _bind_revision(found, word)
        if command.subcommand in ("checkout", "switch") and len(command.operands) == 1:
            _bind_guess(found, command.operands[0])
    for option, value in command.options:
        if value and (option in _NAMES_COMMIT or (command.subcommand, option) == _SHORT_SOURCE):
            _bind_revision(found, value.rpartition(":")[2], only=True)  # --fixup=amend:COMMIT
    if command.subcommand in _FOLLOWS_UPSTREAM:
        _bind_upstream(found)
    if command.subcommand.split(" ")[0] == "stash":
        _bind_stash(found)
    _bind_index(found, command)


def _bind_revision(found: _Gathering, word: str, *, only: bool = False) -> None:
    """Bind what a revision argument names: an object, both ends of a range, or several (`dev^!`, `dev^@`)."""
    for end in _ends(word):
        if _STANDS_FOR_SEVERAL.search(end):
            done = found.git.local(["rev-parse", "--revs-only", end], check=False, exact=True)
            found.thing(end, text(done.stdout).strip().replace("\n", " ") or None)
        else:
            _bind_operand(found, end, only=only)


def _bind_operand(found: _Gathering, word: str, *, only: bool = False) -> None:
    """Bind what a word names: branches and tags by their full names, and any other object that git takes it for.

    git looks elsewhere first: a branch `ORIG_HEAD` or `stash` is not what these words mean (gitrevisions(7)).
    A word that names nothing is bound too, unless `only` what there is counts: something may appear under it.
    """
    named = {prefix + word: resolve(found.git, prefix + word, "object") for prefix in _PREFIXES}
    refs_found = {ref: object_id for ref, object_id in named.items() if object_id is not None}
    for ref, object_id in refs_found.items():
        found.name(ref, object_id)
    value = resolve(found.git, word, "object")
    if value not in refs_found.values() and (value is not None or not (only or refs_found)):
        found.name(word, value)


def _bind_guess(found: _Gathering, word: str) -> None:
    """Bind the remote branch from which `git checkout NAME` makes NAME where there is none (git-checkout(1))."""
    if resolve(found.git, HEADS + word) is not None:
        return
    for remote in sorted(remotes(found.git)):
        ref = f"refs/remotes/{remote}/{word}"
        found.name(ref, resolve(found.git, ref))


def _ends(word: str) -> list[str]:
    """Return the revisions of an argument: both ends of a range, what `^` excludes, the branch that `-` means."""
    if word == "-":
        return ["@{-1}"]
    return [end or "HEAD" for end in _DOTS.split(word.removeprefix("^"))]


def _bind_upstream(found: _Gathering) -> None:
    branch = head(found.git).branch
    follows = upstream(found.git, branch) if branch is not None else None
    if follows is None:
        found.thing("upstream", None)
        return
    found.thing("upstream", f"{follows.merge} at {follows.remote}")
    if follows.ref is not None:
        found.name(follows.ref, follows.commit)


def _bind_stash(found: _Gathering) -> None:
    if resolve(found.git, "refs/stash") is None:
        found.thing("stash", None)
        return
    listing = ["log", "--walk-reflogs", "--format=%H", f"--max-count={_STASH_ENTRIES}", "refs/stash", "--"]
    entries = text(found.git.local(listing, exact=True).stdout).split()
    for number, commit in enumerate(entries):
        found.name(f"stash@{{{number}}}", commit)


def _bind_index(found: _Gathering, command: Command) -> None:
    """Bind what is staged; and for `commit -a` what would be staged then."""
    if command.runner == "local" and command.contact is Contact.NONE:
        return
    _index_tree(found)
    if command.runner == "commit":
        if command.paths:
            found.unbound[_FILES] = None
        elif any(name in _ALL for name, _ in command.options):
            _bind_all_changes(found)
    elif command.contact in (Contact.READ, Contact.WRITE):
        found.unbound[_FILES] = None


def _bind_all_changes(found: _Gathering) -> None:
    git = found.git
    if index_gitlinks(git) and not git.submodules:
        found.unbound[_FILES] = None  # it will be refused; git must not look into nested repositories for this
        return
    draft = git.paths.tmp / "index.binding"
    draft.unlink(missing_ok=True)  # of a killed process
    try:
        copy_inner(git.paths.local, "index", draft, INDEX_BYTES)
        git.local(["add", "--update", "--", ":/"], contact=Contact.READ, index=draft)
        found.name(ALL_TREE, index_tree(git, draft))
    except (FileNotFoundError, Problem):
        found.unbound[_FILES] = None
    finally:
        draft.unlink(missing_ok=True)


def _index_tree(found: _Gathering) -> str | None:
    try:
        tree = index_tree(found.git)
    except Failed as failed:
        if failed.code != "conflicts":
            raise
        listing = found.git.local(["ls-files", "--stage", "-z"], exact=True).stdout
        found.thing("what is staged, with conflicts", hashlib.sha256(listing).hexdigest())
        return None
    found.thing("what is staged", tree)
    return tree


def _bind_push_command(found: _Gathering, command: Command) -> None:
    intent = intent_of(found.git, command)
    _bind_address(found, intent.remote)
    for one in intent.wanted:
        old, new = intent.theirs.get(one.destination), pushed_object(found.git, one)
        _bind_move(found, intent.remote, one.destination, old, new)


def _bind_address(found: _Gathering, remote: str) -> None:
    """Bind where a remote is, without the password that its address may hold."""
    url = remotes(found.git).get(remote)
    found.thing(f"address of {remote}", mask_userinfo(url) if url is not None else None)
