"""git_cmd for pull: fetch, then an explicit forward move, merge or rebase; never git's own guess (C09)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from executor.errors import Failed
from executor.git.bringing_in import Coming
from executor.git.coming_files import standing_in_the_way
from executor.git.command_words import given, spelled
from executor.git.failures import failure
from executor.git.guards import Before, backed_out, refuse_coming, refuse_nested
from executor.git.lock_files import clear_stale_lock
from executor.git.questions import Head, ahead_behind, head, is_ancestor, is_shallow, resolve, upstream
from executor.git.refnames import HEADS
from executor.git.reports import listing, spoken, succeeded
from executor.git.repository import Git
from executor.git.run_transfers import fetch_as_told, follow, told
from executor.git.snapshot_directory import ignored_among, prepare
from executor.git.verification import verify
from executor.outcome import Outcome, State
from executor.policy.model import Command, Contact

# Options that say how to bring two sides together; without one a divergence is only named.
_SAYS_MERGE = frozenset({"--no-rebase", "--no-ff", "--ff", "--squash"})
# Options that are about the merge or rebase, as git knows them; the others were for fetching.
_PASSED = frozenset(
    {
        "--autostash", "--no-autostash", "--cleanup", "--commit", "--no-commit", "--log", "--no-log", "--signoff",
        "-s", "--strategy", "-X", "--strategy-option", "--squash", "--stat", "--no-stat", "-n", "--summary",
        "--no-verify", "--verify",
    }
)  # fmt: skip
_PASSED_TO_REBASE = frozenset({"--autostash", "--no-autostash", "-s", "--strategy", "-X", "--strategy-option"})


def pull(git: Git, command: Command) -> Outcome:
    """Fetch, then bring the current branch to what it follows.

    Raises Failed: `detached_head`, `no_upstream`, `non_fast_forward` with how far the sides are apart, `history_cut`
    (C23), `ignored_in_the_way`; Refused: `embedded_repository`, `submodule_in_the_way`. Nothing but tracking refs
    moved then.
    """
    note = clear_stale_lock(git)
    refuse_nested(git, command)
    at = head(git)
    branch, remote, source = _what(git, command, at)
    fetching = tuple(option for option in command.options if option[0] not in _PASSED)
    changes = fetch_as_told(git, remote, [source], replace(command, options=fetching))
    if "--set-upstream" in given(command):
        follow(git, remote, [source])
    target = resolve(git, f"refs/remotes/{remote}/{source.removeprefix(HEADS)}")
    if target is None:
        raise Failed("remote_ref_missing", f"{remote} has no branch {source}.", "git_cmd: ls-remote lists them.")
    note += told(changes)
    if "--dry-run" in given(command) or (at.commit is not None and is_ancestor(git, target, at.commit)):
        said = f"{branch} already has everything of {remote}/{source.removeprefix(HEADS)}.\n"
        return succeeded(note + said, verified={"effect": True, "branch": branch, "commit": at.commit})
    rebases = way_to_combine(command.options).startswith("rebase")
    coming = Coming(trees=(target,), ranges=(f"{target}..HEAD",) if rebases else (), merges=True)
    refuse_coming(git, coming)
    _check_ignored(git, coming, alone="rebase" if rebases else "merge")
    arguments = _step(git, command, at, target)
    with backed_out(git, allowed=git.submodules):
        done = git.local(arguments, contact=Contact.WRITE, check=False)
    verified = verify(git, command, Before(at, {source: target}))
    output = note + spoken(done)
    if done.exit_code != 0:
        problem = failure(arguments, done.exit_code, done.stderr + b"\n" + done.stdout)
        return Outcome(State.FAILED, done.exit_code, output, done.truncated, problem,
                       {**verified, "effect": False})  # fmt: skip
    return succeeded(output, verified=verified, truncated=done.truncated)


def _check_ignored(git: Git, coming: Coming, *, alone: str) -> None:
    """Raise Failed where ignored files would be written over: what comes is known only now, so they are not kept.

    `alone` is the command that does the rest by itself.
    """
    standing = standing_in_the_way(git, coming)
    prepare(git)
    lost = sorted(ignored_among(git, sorted(standing)))
    if lost:
        raise Failed(
            "ignored_in_the_way",
            "What the remote has was fetched, nothing more: files would come where ignored ones stand here:\n"
            + listing(lost),
            f"Do it by itself, which keeps these files first (git_cmd: {alone} @{{upstream}}), or move them away.",
        )


def _what(git: Git, command: Command, at: Head) -> tuple[str, str, str]:
    """Return (current branch, remote, branch of the remote) that a pull is about."""
    if at.branch is None:
        raise Failed(
            "detached_head", "HEAD is on no branch, so there is none to pull into.", "Switch to a branch first."
        )
    if len(command.operands) > 1:
        return at.branch, command.operands[0], command.operands[1]
    follows = upstream(git, at.branch)
    if follows is None or (command.operands and command.operands[0] != follows.remote):
        raise Failed(
            "no_upstream",
            f"{at.branch} follows no branch of a remote, so it is not known what to pull.",
            f"Name it (pull origin {at.branch}), or set it: branch --set-upstream-to=origin/{at.branch}",
        )
    return at.branch, follows.remote, follows.merge


def _step(git: Git, command: Command, at: Head, target: str) -> list[str]:
    """Return the git arguments that bring the branch to `target`."""
    names, way = given(command), way_to_combine(command.options)
    passed = [spelled(*option) for option in command.options if option[0] in _PASSED]
    forward = at.commit is None or is_ancestor(git, at.commit, target)
    if forward and not names & {"--no-ff", "--squash"}:
        return ["merge", "--ff-only", *(word for word in passed if "autostash" in word), target]
    if not forward and is_shallow(git):
        raise Failed(
            "history_cut",
            "This is a shallow clone: how the two sides belong together cannot be known.",
            "Fetch the rest of the history first: git_cmd: fetch --unshallow origin",
        )
    if way.startswith("rebase"):
        kept = [spelled(*option) for option in command.options if option[0] in _PASSED_TO_REBASE]
        return ["rebase", "--no-gpg-sign", *(["--rebase-merges"] if way == "rebase-merges" else []), *kept, target]
    if way == "merge":
        return ["merge", "--no-edit", "--no-gpg-sign", *(["--no-ff"] if "--no-ff" in names else []), *passed, target]
    counts = ahead_behind(git, "HEAD", target)
    detail = f": {counts[0]} ahead, {counts[1]} behind" if counts else ""
    raise Failed(
        "non_fast_forward",
        f"The branch and its remote side have diverged{detail}. What the remote has was fetched; nothing was merged.",
        "Say how: git_cmd: pull --rebase, or git_cmd: pull --no-rebase (a merge).",
    )


def way_to_combine(options: Sequence[tuple[str, str | None]]) -> str:
    """Return how a pull is told to bring two sides together: "rebase", "rebase-merges", "merge", or "" (not told)."""
    for name, value in reversed(options):
        if name in ("--rebase", "-r"):
            return {"false": "merge", "merges": "rebase-merges"}.get(value or "", "rebase")
        if name in _SAYS_MERGE:
            return "merge"
    return ""
