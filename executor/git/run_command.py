"""git_cmd: runs a command that the grammar has judged, in the way its row of the table names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from executor.errors import Failed, Problem
from executor.git import run_config, run_pull, run_push, run_remotes, run_transfers
from executor.git.failures import failure
from executor.git.guards import ALL_TREE, Before, backed_out, check_bound, look_before, refuse_links, refuse_nested
from executor.git.index_draft import draft_index
from executor.git.lock_files import clear_stale_lock
from executor.git.questions import index_tree, staged
from executor.git.reports import fallen, listing, spoken, succeeded
from executor.git.repository import Git
from executor.git.requirements import git_version
from executor.git.scripts import without_shell
from executor.git.verification import verify
from executor.outcome import Outcome, State
from executor.policy.model import Command, Contact, RiskClass
from executor.sandbox.process import Completed

_ALL = frozenset({"-a", "--all"})
_ANSWERS_NO = 1  # exit code with which git answers "no" or "different" (grep, diff --exit-code, merge-base …)


def run_command(git: Git, command: Command, bound: Mapping[str, str] | None = None) -> Outcome:
    """Run a judged command and return its outcome.

    `bound` holds the object ids that an approval was given for (see `executor.git.binding`); where one is no longer
    what it was, nothing runs. Every expected difficulty is in the outcome.
    """
    try:
        check_bound(git, bound or {})
        if command.runner == "push":
            return run_push.push_command(git, command, bound or {})
        if command.runner == "commit":
            return _commit(git, command, (bound or {}).get(ALL_TREE))
        return _RUNNERS[command.runner](git, command)
    except Problem as problem:
        return fallen(problem)


def arguments(git: Git, command: Command) -> list[str]:
    """Return the words for git: the sub-command, the host's own options, then what was judged."""
    name = command.subcommand.split()
    return without_shell([*name, *command.inject, *command.argv[1 + len(name) :]], git_version(git))


def _local(git: Git, command: Command) -> Outcome:
    """Anything that needs no more than one git on the local repository."""
    if command.risk is RiskClass.READ:
        refuse_nested(git, command)
        return _report(git, command, _start(git, command), None)
    refuse_nested(git, command)
    refuse_links(git, command)
    before = look_before(git, command)
    if command.contact is Contact.NONE:
        return _report(git, command, _start(git, command), before)
    note = clear_stale_lock(git)
    with backed_out(git, allowed=git.submodules):
        done = _start(git, command)
    return _report(git, command, done, before, note)


def _add(git: Git, command: Command) -> Outcome:
    """Staging, in a copy of the index that is looked at before it counts."""
    note = clear_stale_lock(git)
    with draft_index(git) as draft:
        done = git.local(arguments(git, command), contact=Contact.READ, index=draft)
    found = staged(git)
    output = note + spoken(done)
    output += "Staged for the next commit:\n" + listing(f"{letter} {path}" for letter, path in found) + "\n"
    return succeeded(output, verified={"effect": True, "staged": len(found)})


def _commit(git: Git, command: Command, all_tree: str | None) -> Outcome:
    """A commit by git itself, for what plumbing does not offer (-a, --amend, paths): watched over like any other.

    Given `all_tree`, the tree that an approval of `-a` was given for, the files are staged first and git commits the
    index: what they become in between is not looked at.
    """
    note = clear_stale_lock(git)
    refuse_nested(git, command)
    before = look_before(git, command)
    with backed_out(git):
        if all_tree is not None:
            _stage_all(git, all_tree)
        words = arguments(git, command) if all_tree is None else _without_all(command)
        done = git.local(words, contact=command.contact, check=False)
    said = spoken(done)
    if done.exit_code == _ANSWERS_NO and not conflicts_in(said):
        raise Failed(
            "nothing_to_commit", f"There is nothing to commit. git said: {said}", "Stage something first."
        )  # C10
    return _report(git, command, done, before, note)


def _stage_all(git: Git, wanted: str) -> None:
    """Stage every change of the tracked files; raise Failed("index_changed") unless that makes the tree `wanted`."""
    with draft_index(git) as draft:
        git.local(["add", "--update", "--", ":/"], contact=Contact.READ, index=draft)
        if index_tree(git, draft) != wanted:
            raise Failed("index_changed", "The files are not what was approved; nothing was committed.", "Ask again.")


def _without_all(command: Command) -> list[str]:
    """Return the words of a `commit -a` without that option; it takes no paths, so there are only options."""
    words = ["commit", *command.inject]
    for name, value in command.options:
        if name not in _ALL:
            words.append(name if value is None else f"{name}={value}" if name.startswith("--") else name + value)
    return words


def _start(git: Git, command: Command) -> Completed:
    return git.local(arguments(git, command), contact=command.contact, check=False)


def _report(git: Git, command: Command, done: Completed, before: Before | None, note: str = "") -> Outcome:
    output = note + _mapped(git, spoken(done))
    answered = done.exit_code == _ANSWERS_NO and not done.stderr.strip() and command.risk is RiskClass.READ
    verified = verify(git, command, before) if before is not None else {}
    if done.exit_code == 0 or answered:
        return Outcome(State.SUCCEEDED, done.exit_code, output, done.truncated, None, verified)
    problem = failure(command.argv[1:], done.exit_code, done.stderr + b"\n" + done.stdout)
    return Outcome(State.FAILED, done.exit_code, output, done.truncated, problem,
                   {**verified, "effect": False})  # fmt: skip


def conflicts_in(said: str) -> bool:
    return "unmerged" in said or "CONFLICT" in said


def _mapped(git: Git, output: str) -> str:
    """Name the work tree where git names the empty one that it ran in, and `.git` where it names the host's."""
    tree = str(git.paths.work_tree)
    return output.replace(str(git.paths.home), tree).replace(str(git.paths.local), f"{tree}/.git")


_RUNNERS: Mapping[str, Callable[[Git, Command], Outcome]] = {
    "local": _local,
    "set_upstream": _local,
    "config_get": run_config.get,
    "set_identity": run_config.set_identity,
    "add": _add,
    "fetch": run_transfers.fetch_command,
    "pull": run_pull.pull,
    "ls_remote": run_transfers.ls_remote_command,
    "remote_list": run_remotes.show_known,
    "remote_show": run_remotes.show,
    "remote_prune": run_remotes.prune,
    "remote_update": run_remotes.update,
    "remote_config": run_remotes.configure,
}
