"""`ops-gateway adopt`, `release`, `recover`, `undo`: what an operator does to a repository on the host itself.

Each is audited before it is done and with how it ended, and none runs beside the gateway in the same repository.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from executor.errors import Refused
from executor.git.adoption import adopt, plan_adoption
from executor.git.recovery_model import CannotRecover, NothingToDo
from executor.git.recovery_steps import planned, recover
from executor.git.release import release
from executor.git.taking_back import take_back, told, ways_back
from executor.git.undo import undo
from executor.git.undo_push import PushedRef, ResetRemote, pushed_refs
from executor.host_operations import undone_in
from executor.outcome import Outcome, State
from executor.record import requests
from executor.record.display import visible
from executor.record.redaction import redact
from executor.repositories import Repositories
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from gateway import settings as configuration
from gateway import wiring
from gateway.approvals.acts import audited
from gateway.cli import own_user
from gateway.commands.terminal import agreed
from gateway.settings_model import Settings


@dataclass(frozen=True, slots=True)
class _Work:
    """What every verb works with; `name` is the repository's."""

    settings: Settings
    options: argparse.Namespace
    runner: ProcessRunner
    repositories: Repositories
    name: str


def arguments(verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    if verb == "undo":
        parser.add_argument("id", help="the request whose changes are to be taken back")
        parser.add_argument("--force", action="store_true", help="also where something else here changed it since")
        parser.add_argument("--yes", action="store_true", help="take a published push back without asking")
        parser.set_defaults(plan=False)
    parser.add_argument("repo", nargs="?", default="", help="a repository's name or path (default: the default one)")
    if verb == "adopt":
        parser.add_argument(
            "--remote", action="append", default=[], metavar="NAME=URL", help="a remote, in place of what it says"
        )
    if verb in ("adopt", "recover"):
        parser.add_argument("--plan", action="store_true", help="show what would be done, and do nothing")
        parser.add_argument("--yes", action="store_true", help="do it without asking")


def run(options: argparse.Namespace) -> int:
    """Do what the verb says. Return 1 when it was not done, or did not reach its end."""
    settings = configuration.load()
    with closing(Confinement(unsafe=settings.unsafe_run_without_confinement)) as confinement:
        runner = ProcessRunner(confinement)
        repositories = Repositories(wiring.executor_config(settings), runner, threading.Event())
        work = _Work(settings, options, runner, repositories, named(settings, options.repo))
        verbs: dict[str, Callable[[_Work], int]] = {
            "adopt": _adopt, "release": _release, "recover": _recover, "undo": _undo,
        }  # fmt: skip
        return verbs[options.verb](work)


def named(settings: Settings, wanted: str) -> str:
    """Given a repository's name or path ("" is the default one), return its name; raise Refused if there is none."""
    if not wanted:
        return settings.served[0].name
    for repository in settings.served:
        if wanted == repository.name or Path(wanted).resolve() == repository.path.resolve():
            return repository.name
    known = ", ".join(repository.name for repository in settings.served)
    raise Refused("unknown_repository", "there is no such repository here", f"configured are: {known}")


def _adopt(work: _Work) -> int:
    work.settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    plan = plan_adoption(
        work.repositories.paths(work.name),
        work.runner,
        shared_dir=work.settings.shared_dir,
        remotes=_remotes(work.options.remote),
        allow_local_remote=work.settings.unsafe_allow_local_remotes,
        submodules=work.repositories.allows_submodules(work.name),
    )
    if plan.adopted and work.options.remote:
        raise Refused(
            "already_adopted",
            f"{work.name} is adopted already; its remotes are not changed by adopting again",
            "ops-gateway release, then adopt with --remote; or approve a git_cmd: remote set-url origin URL",
        )
    _show(plan.lines())
    if not _agreed(work.options, "Adopt it?"):
        return int(not work.options.plan)
    with _audited(work, "adopt", plan.lines()) as told:
        told.extend(adopt(plan, work.runner).lines())
    _show(told)
    return 0


def _release(work: _Work) -> int:
    with _audited(work, "release") as told:
        told.extend(release(work.repositories.paths(work.name), work.runner).lines())
    _show(told)
    return 0


def _recover(work: _Work) -> int:
    diagnosis, decided = planned(work.repositories.open(work.name))
    _show(diagnosis.findings)
    if isinstance(decided, CannotRecover):
        raise Refused(decided.code, decided.reason, decided.hint)
    if isinstance(decided, NothingToDo):
        _show([decided.reason])
        return 0
    steps = [f"{number}. {step.title}: {step.does}" for number, step in enumerate(decided.steps, start=1)]
    plan = [*steps, *(f"It leaves behind: {left}" for left in decided.leaves)]
    _show(plan)
    if not _agreed(work.options, "Do it?"):
        return int(not work.options.plan)
    request_id = f"recover.{secrets.token_hex(4)}"  # with a dot, so that no request can have it
    with _audited(work, "recover", plan, request_id) as told, work.repositories.held(work.name) as git:
        if planned(git)[1] != decided:
            raise Refused("changed_meanwhile", "the repository has changed since the plan was made", "plan again")
        outcome = recover(git, request_id, on_step=lambda title, state, _detail: _show([f"{state}: {title}"]))
        told.extend(_outcome_lines(outcome))
    _show([*told, f"To take it back: ops-gateway undo {request_id} {work.name}"])
    return int(outcome.state is not State.SUCCEEDED)


def _undo(work: _Work) -> int:
    request_id, force = work.options.id, work.options.force
    with wiring.record(work.settings) as store, store.reading() as reading:
        row = requests.get(reading, request_id)
    if row is not None:  # it knows better than whoever names no repository
        work = replace(work, name=undone_in(request_id, row.operation, row.repo))
    published = pushed_refs((row.result or {}).get("verified", {})) if row else ()
    if row and published:
        return _undo_push(work, published)
    with _audited(work, "undo", [f"force: {force}"], request_id) as told:
        with work.repositories.held(work.name) as git:
            outcome = undo(git, request_id, force=force)
        told.extend(_outcome_lines(outcome))
    _show(told)
    return int(outcome.state is not State.SUCCEEDED)


def _undo_push(work: _Work, published: Sequence[PushedRef]) -> int:
    """Take back what was published while nobody built on it; else say how commits can be made that do."""
    git = work.repositories.open(work.name)
    ways = ways_back(git, published)
    plan = told(git, ways)
    _show(plan)
    if not any(isinstance(way, ResetRemote) for way in ways):
        return 1
    if not _agreed(work.options, "Take it back?"):
        return 1
    with _audited(work, "undo", plan, work.options.id) as lines:
        with work.repositories.held(work.name) as git:
            outcome = take_back(git, ways)
        lines.extend(_outcome_lines(outcome))
    _show(lines)
    return int(outcome.state is not State.SUCCEEDED)


def _outcome_lines(outcome: Outcome) -> list[str]:
    error = str(outcome.error).splitlines() if outcome.error is not None else []
    return [*outcome.output.splitlines(), *error, f"It has {outcome.state}."]


def _remotes(given: Iterable[str]) -> Mapping[str, str]:
    found = {}
    for each in given:
        name, equals, url = each.partition("=")
        if not (name and equals and url):
            raise Refused("usage", "--remote takes NAME=URL", "--remote origin=git@github.com:acme/shop.git")
        found[name] = url
    return found


def _show(lines: Iterable[str]) -> None:
    """Print lines, each as one: a name with a line end in it must not pose as two of ours."""
    for line in lines:
        print(visible(redact(line)))


def _agreed(options: argparse.Namespace, question: str) -> bool:
    """Return whether to do it: not with `--plan`, at once with `--yes`, else as a person at a terminal says."""
    if options.plan or options.yes:
        return not options.plan
    if not sys.stdin.isatty():
        raise Refused("not_confirmed", "nobody can be asked here", "what it would do stands above; add --yes")
    return agreed(question)


@contextmanager
def _audited(work: _Work, verb: str, plan: Iterable[str] = (), request_id: str = "") -> Iterator[list[str]]:
    """Audit it beside a gateway that may be running; yield the list to tell in how it ended."""
    with (
        wiring.record(work.settings) as store,
        audited(store, verb, repo=work.name, by=own_user(), request_id=request_id, plan=plan) as told,
    ):
        yield told
