"""git_cmd for remotes: showing them, pruning, and changing which there are.

The address of a remote stands in the transfer repository alone. The local repository knows only the names and which
tracking refs belong to them; in place of the address it has one that leads nowhere.
"""

from __future__ import annotations

from executor.errors import Failed, Refused
from executor.git.command_words import given
from executor.git.git_dirs import INERT_URL
from executor.git.questions import config_value, refs, remotes, resolve
from executor.git.refnames import HEADS
from executor.git.remote_address import mask_userinfo, parse_remote
from executor.git.reports import listing, succeeded
from executor.git.repository import Git
from executor.git.run_transfers import fetch_as_told, named_remote, told
from executor.git.transfer import address_of, default_branch, ls_remote, update_refs
from executor.git.transfer_plan import RefChange
from executor.outcome import Outcome
from executor.policy.model import Command

_DRY = frozenset({"-n", "--dry-run"})


def show_known(git: Git, command: Command) -> Outcome:
    """Tell what is known without asking any remote: names, and addresses masked."""
    known = remotes(git)
    for name in command.operands:
        if name not in known:
            raise Failed("no_remote", f"There is no remote named {name!r}.", "git_check lists them.")
    masked = {name: mask_userinfo(url) for name, url in sorted(known.items())}
    match command.subcommand:
        case "remote get-url":
            output = f"{masked[command.operands[0]]}\n"
        case "remote show" if command.operands:
            output = "".join(_as_fetched(git, name, masked[name]) for name in command.operands)
        case "remote" if given(command):
            output = "".join(f"{name}\t{url} ({way})\n" for name, url in masked.items() for way in ("fetch", "push"))
        case _:
            output = "".join(f"{name}\n" for name in masked)
    return succeeded(output)


def _as_fetched(git: Git, remote: str, url: str) -> str:
    prefix = f"refs/remotes/{remote}/"
    tracked = [ref.removeprefix(prefix) for ref in sorted(refs(git, prefix)) if ref != f"{prefix}HEAD"]
    return f"remote {remote}\n  URL: {url}\n  branches as last fetched:\n{listing(tracked)}\n"


def show(git: Git, command: Command) -> Outcome:
    """Tell a remote's address (masked) and how its branches relate to the tracking refs."""
    remote = named_remote(git, command)
    address = address_of(git, remote)
    theirs = _branches(ls_remote(git, remote))
    ours = refs(git, f"refs/remotes/{remote}/")
    tracked = {name.removeprefix(f"refs/remotes/{remote}/"): commit for name, commit in ours.items()}
    lines = [f"{name} {_state(tracked.get(name), commit)}" for name, commit in sorted(theirs.items())]
    lines += [f"{name} stale (gone at the remote)" for name in sorted(set(tracked) - set(theirs) - {"HEAD"})]
    text = f"remote {remote}\n  URL: {address.masked}\n  branches:\n"
    return succeeded(text + listing(f"  {line}" for line in lines) + "\n")


def _state(tracked: str | None, commit: str) -> str:
    if tracked is None:
        return "new (not fetched yet)"
    return "tracked" if tracked == commit else "tracked, behind the remote"


def _branches(theirs: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(HEADS): commit for name, commit in theirs.items() if name.startswith(HEADS)}


def prune(git: Git, command: Command) -> Outcome:
    """Drop tracking refs whose branch is gone at the remote; with `--dry-run` only say which."""
    dry = bool(given(command) & _DRY)
    stale = [change for remote in command.operands for change in _stale(git, remote)]
    if not dry:
        for change in stale:
            git.transfer(["update-ref", "-d", change.ref])
        update_refs(git, stale, "prune")
    return succeeded(told(stale), verified={"effect": not dry, "pruned": len(stale)})


def _stale(git: Git, remote: str) -> list[RefChange]:
    theirs, prefix = _branches(ls_remote(git, remote)), f"refs/remotes/{remote}/"
    tracked = sorted(refs(git, prefix).items())
    names = ((ref, commit, ref.removeprefix(prefix)) for ref, commit in tracked)
    return [RefChange(ref, commit, None) for ref, commit, name in names if name != "HEAD" and name not in theirs]


def update(git: Git, command: Command) -> Outcome:
    """Fetch from the named remotes, or from all."""
    changes = [
        change
        for remote in command.operands or sorted(remotes(git))
        for change in fetch_as_told(git, remote, (), command)
    ]
    return succeeded(told(changes), verified={"effect": True, "moved": len(changes)})


def configure(git: Git, command: Command) -> Outcome:
    """Add, change, rename or remove a remote, in both git directories, and read it back."""
    verb = command.subcommand.removeprefix("remote ").replace("rm", "remove")
    name, *rest = command.operands
    known = remotes(git)
    if verb == "add" and name in known:
        raise Failed(
            "already_exists", f"There is a remote named {name!r} already.", f"remote set-url {name} URL changes it."
        )
    if verb != "add" and name not in known:
        raise Failed("no_remote", f"There is no remote named {name!r}.", "git_check lists them.")
    if verb in ("add", "set-url"):
        return _set_address(git, command, verb, name, rest[0])
    if verb == "set-head":
        return _set_head(git, command, name, rest)
    for run in (git.transfer, git.local):
        run(["remote", verb, "--", name, *rest])
    now = remotes(git)
    return succeeded(_list(now), verified={"effect": name not in now and all(r in now for r in rest)})


def _set_head(git: Git, command: Command, remote: str, branch: list[str]) -> Outcome:
    """Set, or forget, which branch of a remote is its default one; with `--auto` the remote is asked."""
    ref, names = f"refs/remotes/{remote}/HEAD", given(command)
    if names & {"-d", "--delete"}:
        git.local(["symbolic-ref", "--delete", ref])
        return succeeded(f"{remote}/HEAD is forgotten.\n", verified={"effect": True})
    target = branch[0] if branch else default_branch(git, remote)
    if resolve(git, f"refs/remotes/{remote}/{target}") is None:
        raise Failed("remote_ref_missing", f"{remote}/{target} was not fetched.", f"git_cmd: fetch {remote}")
    git.local(["symbolic-ref", ref, f"refs/remotes/{remote}/{target}"])
    return succeeded(f"{remote}/HEAD is now {remote}/{target}.\n", verified={"effect": True})


def _set_address(git: Git, command: Command, verb: str, name: str, url: str) -> Outcome:
    access = git.access
    address = parse_remote(url, allow_local=access.allow_local_remote, allow_plain_http=access.allow_plain_http)
    if mask_userinfo(url) != url:
        raise Refused(
            "remote_url", "A password in an address would be shown and stored.", "Give the address without it."
        )
    git.transfer(["remote", verb, "--", name, address.url])
    if config_value(git, f"remote.{name}.url") is None:
        git.local(["remote", "add", "--", name, f"{INERT_URL}/{name}"])
    now = remotes(git)
    return succeeded(_list(now), verified={"effect": now.get(name) == url, "remote": name})


def _list(known: dict[str, str]) -> str:
    if not known:
        return "No remote is configured.\n"
    return "".join(f"{name}\t{mask_userinfo(url)}\n" for name, url in sorted(known.items()))
