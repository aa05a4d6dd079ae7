"""Checks of git: the program, the kernel that confines it, and each repository and its remote."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

from executor.errors import Problem, Refused
from executor.git.questions import identity, remotes
from executor.git.repository import Git
from executor.git.requirements import GIT_PROGRAM, OLDEST_GIT
from executor.git.transfer import address_of, ls_remote
from executor.repositories import Repositories
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from gateway import wiring
from gateway.settings_model import Settings
from gateway.setup import host_programs, mends
from gateway.setup.check import Check, fail, ok, warn
from gateway.setup.exposure import foreign_entries
from gateway.setup.host_keys import host_key_mend

_LOOKED_AT = 20_000  # files of a git directory
_ON_THE_HOST = "un on the host: "  # how hints for the agent's reader begin, `Run` or `run`


def program(_settings: Settings) -> Iterator[Check]:
    """git must be there and new enough for a tree that an agent writes."""
    oldest = ".".join(map(str, OLDEST_GIT))
    said = host_programs.ask(GIT_PROGRAM, "version").stdout.decode("ascii", "replace")
    found = re.match(r"git version (\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
        yield fail("git", f"{GIT_PROGRAM}: {said.strip()}", f"install git {oldest} or newer")
    else:
        yield ok("git", said.strip())


def confinement(settings: Settings) -> Iterator[Check]:
    """Without the kernel's help the work tree is a race that no check wins."""
    unsafe = settings.unsafe_run_without_confinement
    report = Confinement(unsafe=unsafe).report()
    if not report.confined:
        say = warn if unsafe else fail
        yield say("confinement", report.summary, "use a kernel with Landlock (5.13 or newer, `landlock` in lsm=)")
    elif report.missing:
        yield ok("confinement", f"{report.summary}; a newer kernel would add: {', '.join(report.missing)}")
    else:
        yield ok("confinement", report.summary)


def repositories(settings: Settings) -> Iterator[Check]:
    """Each repository must be adopted, its git directories the gateway's alone, its remote there and known."""
    runner = ProcessRunner(Confinement(unsafe=settings.unsafe_run_without_confinement))
    known = Repositories(wiring.executor_config(settings), runner, threading.Event())
    for name in known.names:
        title = f"repository {name}"
        foreign = foreign_entries(known.paths(name).root, _LOOKED_AT)
        try:
            git = known.open(name)
        except Refused as refused:
            yield _closed(title, refused)
            continue
        if foreign:
            yield _written_by_others(title, known.paths(name).root, foreign)
        else:
            yield ok(title, f"{git.paths.work_tree} is adopted; its git is {git.paths.local}, the gateway's alone")
        yield _identity(git, settings.shared_dir, name)
        yield _remote(git, name)


def _closed(title: str, refused: Refused) -> Check:
    words, found, command = refused.hint.partition(_ON_THE_HOST)
    if not found:
        return fail(title, refused.message, refused.hint)
    program, *rest = command.split(" ")
    line = command if program == "ops-gateway" else mends.as_root(program, *rest)
    return fail(title, refused.message, f"{words}run on the host: {command}".removeprefix("R"), line)


def _written_by_others(title: str, root: Path, foreign: list[Path]) -> Check:
    what = f"{len(foreign)} files in its git directory can be written by others, {foreign[0]} first"
    mend = "see that nobody tampered with it, and mount it read-only into containers; then make it the gateway's"
    line = f"chown -R {mends.account()} {root} && chmod -R go-w {root}"
    return fail(title, what, mend, mends.as_root("sh", "-c", line))


def _identity(git: Git, shared: Path, name: str) -> Check:
    title = f"identity in {name}"
    found = identity(git)
    if found is not None:
        return ok(title, f"commits are made as {found.name} <{found.email}>")
    flag = shared / "git_set_config.flag"
    advice = "the agent sets them itself, as you can for it"
    return ok(title, "no name and e-mail to commit with yet", advice, f"echo 'Agent | agent@example.org' > {flag}")


def _remote(git: Git, name: str) -> Check:
    """Whether the remote that pushes go to is there and answers to what this host has for it."""
    title = f"remote of {name}"
    known = remotes(git)
    if not known:
        mend = f"ops-gateway release {name}, then: ops-gateway adopt {name} --remote origin=URL"
        return warn(title, "there is none, so nothing can be pushed or fetched", mend)
    remote = "origin" if "origin" in known else sorted(known)[0]
    try:
        found = ls_remote(git, remote)
    except Problem as problem:
        return _unanswered(git, title, remote, problem)
    return ok(title, f"{remote} answers: {len(found)} branches and tags")


def _unanswered(git: Git, title: str, remote: str, problem: Problem) -> Check:
    what = f"{remote}: {problem.message}"
    match problem.code:
        case "host_key_unknown":
            return fail(title, what, *host_key_mend(address_of(git, remote), git.access.known_hosts))
        case "auth_failed":
            return fail(title, what, _auth_mend())
        case "remote_not_found":
            return fail(title, what, "correct its address, or what the key may see: git_check shows the address")
        case _:
            return warn(title, what, problem.hint)


def _auth_mend() -> str:
    if mends.CREDENTIALS.is_dir():
        place = f"{mends.CREDENTIALS}/SSH_KEY (install -o {mends.account()} -m 600 KEY {mends.CREDENTIALS}/SSH_KEY)"
        return f"put its key at {place}, or git-credentials at CREDENTIAL_FILE there; then restart the service"
    return "name a key in GATEWAY_SSH_KEY, or a git-credentials file in GATEWAY_CREDENTIAL_FILE"
