"""What commands would take up (merge, rebase, cherry-pick, revert) or record (add, commit), in lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from executor.git.added_lines import added_lines
from executor.git.command_words import given
from executor.git.preview_words import commit_lines, file_lines, named_commit, revision, uncommitted
from executor.git.push_facts import commit_facts
from executor.git.questions import index_tree, resolve, text
from executor.git.repository import Git
from executor.git.risk_facts import ChangedPath, risks_of_paths
from executor.git.secrets import secrets_in
from executor.git.tree_changes import empty_tree, tree_changes, tree_patch
from executor.policy.model import AddParams, Command, Operation, Request, RiskClass

_ALL = frozenset({"-a", "--all"})


def involved_lines(git: Git, command: Command) -> tuple[str, ...]:
    """Return in lines which commits `command` takes up or writes anew. Raises Failed."""
    return tuple(_involved(git, command))


def staged_lines(git: Git, request: Request, command: Command | None) -> tuple[str, ...]:
    """Return in lines what `request` would stage or commit, and what stands out in it. Raises Failed."""
    if isinstance(request.params, AddParams):
        return tuple(_added(git, request.params.paths, literal=True))
    if request.operation is Operation.GIT_COMMIT:
        return tuple(_index_lines(git))
    if command is None or command.risk is RiskClass.READ:
        return ()
    if command.subcommand == "add":
        tracked_only = bool(given(command) & {"-u", "--update"})
        paths = command.paths or (() if given(command) & {"-A", "--all", "-u", "--update"} else (".",))
        return tuple(_added(git, paths, untracked=not tracked_only))
    if command.subcommand == "commit":
        if command.paths or given(command) & _ALL:
            return tuple(file_lines("Uncommitted changes", uncommitted(git, command.paths)))
        return tuple(_index_lines(git))
    return ()


def _involved(git: Git, command: Command) -> Iterator[str]:
    words = [revision(word) for word in command.operands]
    match command.subcommand:
        case "merge" if not given(command) & {"--abort", "--continue", "--quit"}:
            yield from _merged(git, words or ["@{upstream}"])
        case "cherry-pick" | "revert" if words:
            walk = [] if any(".." in word for word in words) else ["--no-walk=unsorted"]
            found, total = commit_facts(git, [*walk, *words])
            yield from commit_lines(
                "Applies again" if command.subcommand == "cherry-pick" else "Reverts", found, total
            )
        case "rebase" if not given(command) & {"--abort", "--continue", "--skip", "--quit"}:
            root = "--root" in given(command)
            upstream = [] if root else (words[:1] or ["@{upstream}"])
            branch = words[-1] if len(words) > (0 if root else 1) else "HEAD"
            found, total = commit_facts(git, [branch, *(["--not", *upstream] if upstream else [])])
            yield from commit_lines("Writes anew", found, total)
        case "commit" if "--amend" in given(command):
            found, _ = commit_facts(git, ["--no-walk", "HEAD"])
            yield from commit_lines("Replaces", found, 1)


def _merged(git: Git, words: list[str]) -> Iterator[str]:
    found, total = commit_facts(git, [*words, "--not", "HEAD"])
    yield from commit_lines("Brings in", found, total)
    base = git.local(["merge-base", "HEAD", words[0]], check=False, exact=True)
    target = named_commit(git, words[0])
    if len(words) == 1 and base.exit_code == 0 and target is not None:
        yield from _change_lines(tree_changes(git, text(base.stdout).strip(), target))


def _added(git: Git, paths: tuple[str, ...], *, untracked: bool = True, literal: bool = False) -> Iterator[str]:
    changed = uncommitted(git, paths, untracked=untracked, literal=literal)
    yield from file_lines("Stages", [one for one in changed if one[1] != " "])


def _index_lines(git: Git) -> Iterator[str]:
    """Say what the index holds that HEAD does not, as a commit would record it."""
    tree = index_tree(git)
    before = resolve(git, "HEAD", "tree") or empty_tree(git)
    patch = tree_patch(git, before, tree, "--unified=0")
    yield from (f"! secret? {found.words()}" for found in secrets_in(added_lines(patch)))
    yield from _change_lines(tree_changes(git, before, tree), risks=True)


def _change_lines(changes: tuple[ChangedPath, ...], *, risks: bool = False) -> Iterator[str]:
    for risk in risks_of_paths(changes) if risks else ():
        yield f"{risk.severity}: {risk.words}: {', '.join(risk.paths)}"
    yield from file_lines("Changes files", [_file(change) for change in changes])


def _file(change: ChangedPath) -> str:
    counts = "binary" if change.binary else f"+{change.added} -{change.deleted}"
    name = change.path if change.old_path is None else f"{change.old_path} => {change.path}"
    return f"{change.status}  {name} ({counts})"
