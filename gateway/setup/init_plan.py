"""What `init` is about to do, found without changing anything, and shown before it is done."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from executor.errors import Refused
from executor.git.adoption_plan import plan_adoption
from executor.repositories import Repositories
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from gateway import wiring
from gateway.settings_model import Settings
from gateway.settings_sources import variable
from gateway.setup import mends
from gateway.setup.settings_file import SettingsFile

SHARED_MODE = 0o2770  # the gateway and the group that it has in common with the agent
SECRETS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


@dataclass(frozen=True, slots=True)
class Adoption:
    """One repository: what adopting it would do, or why that cannot be. With `done` there is nothing to do."""

    name: str
    lines: tuple[str, ...]
    done: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class InitPlan:
    """All of it. `changes` are settings whose value is new; `directories` are to be made, with their modes."""

    file: SettingsFile
    text: str
    changes: Mapping[str, str]
    directories: tuple[tuple[Path, int], ...]
    adoptions: tuple[Adoption, ...]

    @property
    def nothing_to_do(self) -> bool:
        return not self.changes and not self.directories and all(each.done for each in self.adoptions)

    def lines(self) -> Iterator[str]:
        """Yield it in plain words, no secret in them. It quotes foreign names: make them visible to show it."""
        if self.changes:
            yield f"Write {self.file.path} (mode 0600; what else stands there stays):"
            for name, value in self.changes.items():
                yield f"  {variable(name)}" + (" (not shown)" if name in SECRETS else f"={value}")
        for path, mode in self.directories:
            yield f"Make the directory {path} (mode {mode:04o})"
        for each in self.adoptions:
            if each.refused:
                yield f"Not adopt {each.name}, for now: {each.lines[0]}"
                yield from (f"  {line}" for line in each.lines[1:])
            else:
                yield from each.lines


def plan_init(
    file: SettingsFile, text: str, settings: Settings, remotes: Mapping[str, str], changes: Mapping[str, str]
) -> InitPlan:
    """Return what is to be done for `settings`, which are what they will be with `text` in the file.

    `remotes` (name -> URL) are for the default repository. Raise Refused, with the command that root has to run,
    where a directory is missing that this user cannot make.
    """
    directories = []
    for path, mode in ((settings.shared_dir, SHARED_MODE), (settings.state_dir, 0o700)):
        if not path.exists():
            if not mends.can_make(path):
                command = mends.make_directory(path, f"{mode:o}")
                raise Refused("no_directory", f"{path} is not there, and {mends.account()} cannot make it", command)
            directories.append((path, mode))
    runner = ProcessRunner(Confinement(unsafe=settings.unsafe_run_without_confinement))
    known = Repositories(wiring.executor_config(settings), runner, threading.Event())
    adoptions = tuple(
        _adoption(known, runner, settings, name, remotes if name == known.names[0] else {}) for name in known.names
    )
    return InitPlan(file, text, changes, tuple(directories), adoptions)


def _adoption(
    known: Repositories, runner: ProcessRunner, settings: Settings, name: str, remotes: Mapping[str, str]
) -> Adoption:
    try:
        plan = plan_adoption(
            known.paths(name),
            runner,
            shared_dir=settings.shared_dir,
            remotes=remotes,
            allow_local_remote=settings.unsafe_allow_local_remotes,
            submodules=known.allows_submodules(name),
        )
        if plan.adopted:
            known.open(name)  # or it is to be put right, which takes adopting again
            return Adoption(name, plan.lines(), done=True)
    except Refused as refused:
        return Adoption(name, (refused.message, refused.hint), refused=True)
    except OSError as error:
        return Adoption(name, (f"{error.filename}: {error.strerror}",), refused=True)
    return Adoption(name, plan.lines())
