"""`ops-gateway adopt`, `release`, `undo`: what an operator does to a repository on the host itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from executor.errors import Problem, Refused
from executor.outcome import State
from executor.record.display import visible
from executor.record.redaction import redact
from gateway import settings as configuration
from gateway import wiring
from gateway.cli import own_user
from gateway.settings_model import RepositorySettings, Settings

if TYPE_CHECKING:
    from executor.git.repository import RepositoryPaths
    from executor.sandbox.process import ProcessRunner


def arguments(verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    if verb == "undo":
        parser.add_argument("id", help="the request whose changes are to be taken back")
        parser.add_argument("--force", action="store_true", help="also where something else changed it since")
    parser.add_argument("repo", nargs="?", default="", help="a repository's name or path (default: the default one)")
    if verb == "adopt":
        parser.add_argument(
            "--remote", action="append", default=[], metavar="NAME=URL", help="a remote, in place of what it says"
        )
        parser.add_argument("--plan", action="store_true", help="show what would be done, and do nothing")
        parser.add_argument("--yes", action="store_true", help="do it without asking")


def run(options: argparse.Namespace) -> int:
    """Do what the verb says and record who did it. Return the exit code."""
    from executor.sandbox.confinement import Confinement
    from executor.sandbox.process import ProcessRunner

    settings = configuration.load()
    repository = chosen(settings, options.repo)
    with closing(Confinement(unsafe=settings.unsafe_run_without_confinement)) as confinement:
        runner = ProcessRunner(confinement)
        paths = _paths(settings, repository)
        if options.verb == "adopt":
            return _adopt(settings, paths, runner, options)
        if options.verb == "release":
            return _release(settings, paths, runner)
        return _undo(settings, paths, runner, options)


def chosen(settings: Settings, wanted: str) -> RepositorySettings:
    """Given a name or a path, return the configured repository; raise Refused if there is none such."""
    if not wanted:
        return settings.served[0]
    for repository in settings.served:
        if wanted == repository.name or Path(wanted).resolve() == repository.path.resolve():
            return repository
    names = ", ".join(repository.name for repository in settings.served)
    raise Refused("unknown_repository", "there is no such repository here", f"configured are: {names}")


def _paths(settings: Settings, repository: RepositorySettings) -> RepositoryPaths:
    from executor.git.paths import RepositoryPaths

    return RepositoryPaths(repository.name, repository.path, settings.state_dir / "repos" / repository.name)


def _adopt(settings: Settings, paths: RepositoryPaths, runner: ProcessRunner, options: argparse.Namespace) -> int:
    from executor.git.adoption import adopt, plan_adoption

    settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    plan = plan_adoption(paths, runner, shared_dir=settings.shared_dir, remotes=_remotes(options.remote))
    _show(plan.lines())
    if options.plan:
        return 0
    if not options.yes and not _confirmed("Adopt it?"):
        print("Nothing was changed.")
        return 1
    with _audited(settings, "adopt", paths.name, plan.lines()) as told:
        told.extend(adopt(plan, runner).lines())
    _show(told)
    return 0


def _release(settings: Settings, paths: RepositoryPaths, runner: ProcessRunner) -> int:
    from executor.git.release import release

    with _audited(settings, "release", paths.name) as told:
        told.extend(release(paths, runner).lines())
    _show(told)
    return 0


def _undo(settings: Settings, paths: RepositoryPaths, runner: ProcessRunner, options: argparse.Namespace) -> int:
    from executor.git.gitfile import repository_lock
    from executor.git.repository import open_repository
    from executor.git.undo import undo

    with _audited(settings, "undo", paths.name, [f"force: {options.force}"], options.id) as told:
        with repository_lock(paths):
            git = open_repository(paths, runner, shared_dir=settings.shared_dir)
            outcome = undo(git, options.id, force=options.force)
        told.extend([f"{outcome.state}:", outcome.output.rstrip()])
    _show(told)
    return int(outcome.state is not State.SUCCEEDED)


def _remotes(given: Iterable[str]) -> Mapping[str, str]:
    found = {}
    for each in given:
        name, equals, url = each.partition("=")
        if not (name and equals and url):
            raise Refused("usage", "--remote takes NAME=URL", "--remote origin=git@github.com:acme/shop.git")
        found[name] = url
    return found


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        print(visible(redact(line), multiline=True))


def _confirmed(question: str) -> bool:
    """Ask a person; where nobody can answer (no terminal) the answer is no."""
    if not sys.stdin.isatty():
        raise Refused("not_confirmed", "nobody can be asked here", "look at --plan, then add --yes")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


@contextmanager
def _audited(
    settings: Settings, verb: str, repo: str, plan: Iterable[str] = (), request_id: str = ""
) -> Iterator[list[str]]:
    """Audit what an operator does, before it is done and with how it ended; yield the list to tell that in.

    Where the audit log cannot be written nothing is done.
    """
    with wiring.record(settings) as store:
        who = {"repo": repo, "by": own_user()}
        with store.transaction() as tx:
            tx.append(f"operator.{verb}", request_id, {**who, "plan": list(plan)})
        told: list[str] = []
        try:
            yield told
        except Problem as problem:
            with store.transaction() as tx:
                tx.append(f"operator.{verb}.failed", request_id, {**who, "error": str(problem)})
            raise
        with store.transaction() as tx:
            tx.append(f"operator.{verb}.done", request_id, {**who, "told": told})
