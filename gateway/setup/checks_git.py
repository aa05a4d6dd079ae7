"""Checks of git: the program, the kernel that confines it, and each repository."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

from executor.errors import Problem, Refused
from executor.git.questions import remotes
from executor.git.repository import GIT_PROGRAM, OLDEST_GIT, Git
from executor.git.transfer import ls_remote
from executor.repositories import Repositories
from executor.sandbox.confinement import Confinement
from executor.sandbox.environment import base_environment
from executor.sandbox.process import ProcessRunner
from gateway import wiring
from gateway.settings_model import Settings
from gateway.setup.check import Check, fail, ok, warn

_VERSION_SECONDS = 10.0
_MENDS = {
    "host_key_unknown": "name a file with the host's key in GATEWAY_KNOWN_HOSTS (ssh-keyscan HOST, and compare it)",
    "auth_failed": "name a key in GATEWAY_SSH_KEY, or a git-credentials file in GATEWAY_CREDENTIAL_FILE",
}


def program(_settings: Settings) -> Iterator[Check]:
    """git must be there and new enough for a tree that an agent writes."""
    oldest = ".".join(map(str, OLDEST_GIT))
    runner = ProcessRunner(Confinement())
    said = runner.run(
        (str(GIT_PROGRAM), "version"),
        env=base_environment(Path("/"), Path("/tmp")),  # noqa: S108 (git version writes nothing)
        cwd=Path("/"),
        profile=None,
        deadline=_VERSION_SECONDS,
    ).stdout.decode("ascii", "replace")
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
    """Each repository must be adopted, and its git directories the gateway's alone."""
    runner = ProcessRunner(Confinement(unsafe=settings.unsafe_run_without_confinement))
    known = Repositories(wiring.executor_config(settings), runner, threading.Event())
    for name in known.names:
        try:
            git = known.open(name)
        except Refused as refused:
            yield fail(f"repository {name}", refused.message, refused.hint)
        else:
            yield ok(f"repository {name}", f"{git.paths.work_tree} is adopted; its git is {git.paths.local}")
            yield _remote(git, name)


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
        return warn(title, f"{remote}: {problem.message}", _MENDS.get(problem.code, problem.hint))
    return ok(title, f"{remote} answers: {len(found)} branches and tags")
