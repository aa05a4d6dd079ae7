"""git in one adopted repository: which process may be started, on what, and whether the repository is safe to open.

Two host-owned git directories, neither of which an agent can write: `local.git` (HEAD, index, refs, objects) and
`transfer.git` (the remote's address, its tracking refs; the only one that meets the network). See git(1) SECURITY.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from executor.errors import Failed
from executor.git.access import RemoteAccess, http_configuration, write_ssh_program
from executor.git.command_dir import command_dir
from executor.git.failures import failure, timeout
from executor.git.large_files import (
    FORMAT,
    LOCAL_VARIABLES,
    knows_format,
    local_configuration,
    require_lfs,
    transfer_configuration,
    write_filter,
)
from executor.git.paths import RepositoryPaths
from executor.git.profiles import (
    local_profile,
    transfer_profile,
    with_filter,
    with_large_files,
    work_tree_profile,
)
from executor.git.remote_address import RemoteAddress
from executor.git.requirements import GIT_PROGRAM, require_confinement, require_version
from executor.git.safety import check_safe
from executor.git.taking_over import take_over
from executor.policy.model import Contact
from executor.sandbox.confinement import Profile
from executor.sandbox.environment import base_environment, git_environment
from executor.sandbox.process import Completed, ProcessRunner

__all__ = ["Deadlines", "Git", "RemoteAccess", "RepositoryPaths", "open_repository"]

OUTPUT_LIMIT = 256 * 1024  # bytes of a stream that people read: head and tail are kept
EXACT_LIMIT = (
    64 * 1024 * 1024
)  # bytes of a stream that is parsed: more is an error, never a silently short list (C22)

# On top of the sandbox's hardening.
_CONFIG: tuple[tuple[str, str], ...] = (
    ("core.logAllRefUpdates", "always"),  # undo reads reflogs
    ("mailmap.blob", "HEAD:.mailmap"),  # in place of the file in the work tree, which could be a FIFO
    ("advice.detachedHead", "false"),  # advice would name commands that an agent cannot run
    ("advice.addEmbeddedRepo", "false"),
    ("push.gpgSign", "false"),
    ("rebase.autoStash", "false"),  # snapshots of uncommitted work are ours to make, and to show
    ("rerere.enabled", "false"),
    ("merge.directoryRenames", "false"),  # else a merge writes, over ignored files too, where no commit has a file
    ("http.followRedirects", "false"),  # only the host's configuration says where to connect
)
_VARIABLES = {"GIT_OPTIONAL_LOCKS": "0"}  # a status must not take the index lock of whatever comes next


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long one git process may take, in seconds: on this host, and when it talks to a remote."""

    local: float = 120.0
    network: float = 300.0


class Git:
    """Starts git in one repository. Made by `open_repository`, which checks it first.

    `cancel`, when set, ends the running process. `submodules` says that the owner of the host allows this
    repository to have gitlinks: git then looks into the nested repositories, which only the confinement makes safe.
    `lfs` says that git may start Git LFS for the files that `.gitattributes` marks for it.
    """

    def __init__(
        self,
        paths: RepositoryPaths,
        runner: ProcessRunner,
        access: RemoteAccess | None = None,
        cancel: threading.Event | None = None,
        *,
        submodules: bool = False,
        lfs: bool = False,
        deadlines: Deadlines | None = None,
    ) -> None:
        self.paths = paths
        self.submodules = submodules
        self.lfs = lfs
        self.deadlines = deadlines or Deadlines()
        self.access = access or RemoteAccess()
        self._runner = runner
        self._cancel = cancel
        self._base = base_environment(paths.home, paths.tmp)

    def local(
        self,
        args: Sequence[str],
        *,
        contact: Contact = Contact.NONE,
        stdin: bytes = b"",
        deadline: float | None = None,
        exact: bool = False,
        index: Path | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        """Run `git args` on the local repository and return how it ended.

        `contact` says whether the work tree is there at all, to read or to write. `exact` is for output that is
        parsed. `index` is another index file, in `paths.tmp` or the git directory. `deadline` is in seconds, the
        repository's own unless given. Raises TimedOut when it passes, and with `check` Failed (with a code of
        `failures`) for a non-zero exit code.

        What writes the work tree gets a git directory of its own, from which all or nothing is taken over (see
        `command_dir`; Failed("git_dir_tampered"), Failed("index_locked")); unless `env` names one with `GIT_DIR`.
        """
        extra = {**_VARIABLES, **(env or {})}
        if index is not None:
            extra["GIT_INDEX_FILE"] = str(index)
        seconds = self.deadlines.local if deadline is None else deadline
        if contact is not Contact.WRITE:
            work_tree = self.paths.home if contact is Contact.NONE else self.paths.work_tree
            environment = self._environment(self.paths.local, work_tree, extra)
            profile = self._filtered(local_profile(self.paths, contact))
            done = self._run(args, environment, work_tree, profile, stdin, seconds, exact)
        elif "GIT_DIR" in extra:
            environment = self._environment(Path(extra["GIT_DIR"]), self.paths.work_tree, extra)
            profile = work_tree_profile(self.paths, Path(extra["GIT_DIR"]))
            done = self._run(args, environment, self.paths.work_tree, profile, stdin, seconds, exact)
        else:
            done = self._on_work_tree(args, extra, stdin, seconds, exact)
        if check and done.exit_code != 0:
            raise failure(args, done.exit_code, done.stderr)
        return done

    def _on_work_tree(
        self, args: Sequence[str], extra: dict[str, str], stdin: bytes, deadline: float, exact: bool
    ) -> Completed:
        """Run what may write the work tree in a git directory of its own, then take over what it made there."""
        with command_dir(self.paths, args) as made:
            extra |= {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.paths.objects), "TMPDIR": str(made.tmp)}
            environment = self._environment(made.git_dir, self.paths.work_tree, extra)
            profile = self._filtered(work_tree_profile(self.paths, self.paths.commands))
            done = self._run(args, environment, self.paths.work_tree, profile, stdin, deadline, exact)
            take_over(made, self.paths.local, args, lambda words, fed: self.local(words, stdin=fed), lfs=self.lfs)
        named, real = (str(each).encode() for each in (made.git_dir, self.paths.local))
        return replace(done, stdout=done.stdout.replace(named, real), stderr=done.stderr.replace(named, real))

    def _environment(self, git_dir: Path, work_tree: Path, extra: Mapping[str, str]) -> dict[str, str]:
        large = local_configuration(self.paths) if self.lfs else ()
        return git_environment(
            self._base,
            git_dir=git_dir,
            empty_config=self.paths.empty_config,
            work_tree=work_tree,
            config=(*_CONFIG, ("core.bare", "false"), *large),
            extra={**extra, **LOCAL_VARIABLES} if self.lfs else extra,
        )

    def _filtered(self, profile: Profile) -> Profile:
        return with_filter(profile, self.paths) if self.lfs else profile

    def transfer(
        self,
        args: Sequence[str],
        *,
        address: RemoteAddress | None = None,
        objects: bool = False,
        large_files: bool = False,
        stdin: bytes = b"",
        deadline: float | None = None,
        exact: bool = False,
        check: bool = True,
    ) -> Completed:
        """Run `git args` on the transfer repository, where no work tree is visible, and return how it ended.

        Without an `address` there is no network, and the deadline is the one of local work. With `objects` new
        objects go into the local repository's store; with `large_files` Git LFS may be started, and uses its store
        there. Raises as `local` does.
        """
        config = (*_CONFIG, ("core.bare", "true"))
        extra = dict(_VARIABLES)
        if objects:
            extra["GIT_OBJECT_DIRECTORY"] = str(self.paths.objects)
        if address is not None:
            extra["GIT_ALLOW_PROTOCOL"] = address.scheme
            config += http_configuration(self.access, address)
            if address.scheme == "ssh":
                write_ssh_program(self.paths.ssh_program, self.access)
                extra |= {"GIT_SSH": str(self.paths.ssh_program), "GIT_SSH_VARIANT": "ssh"}
            config += transfer_configuration(self.paths, address) if large_files else ()
        environment = git_environment(
            self._base,
            git_dir=self.paths.transfer,
            work_tree=None,
            empty_config=self.paths.empty_config,
            config=config,
            extra=extra,
        )
        profile = transfer_profile(self.paths, self.access, address, objects=objects)
        if large_files:
            profile = with_large_files(profile, self.paths)
        usual = self.deadlines.local if address is None else self.deadlines.network
        seconds = usual if deadline is None else deadline
        done = self._run(args, environment, self.paths.transfer, profile, stdin, seconds, exact)
        if check and done.exit_code != 0:
            raise failure(args, done.exit_code, done.stderr)
        return done

    def _run(
        self,
        args: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        profile: Profile,
        stdin: bytes,
        deadline: float,
        exact: bool,
    ) -> Completed:
        """Run git, in a profile, and return how it ended. Raises TimedOut, and Failed("cancelled")."""
        done = self._runner.run(
            (str(GIT_PROGRAM), *args),
            env=environment,
            cwd=cwd,
            profile=profile,
            stdin=stdin,
            deadline=deadline,
            output_limit=EXACT_LIMIT if exact else OUTPUT_LIMIT,
            exact=exact,
            cancel=self._cancel,
        )
        if done.timed_out:
            raise timeout(args, deadline, remote=bool(profile.tcp_ports))
        if done.cancelled:
            raise Failed("cancelled", "The command was ended because the gateway stops.", "Ask again in a minute.")
        return done


def open_repository(
    paths: RepositoryPaths,
    runner: ProcessRunner,
    access: RemoteAccess | None = None,
    cancel: threading.Event | None = None,
    *,
    shared_dir: Path | None = None,
    submodules: bool = False,
    lfs: bool = False,
    deadlines: Deadlines | None = None,
) -> Git:
    """Return git for the repository at `paths`, having looked that it is safe to start it there.

    Raises Refused: `not_adopted`, `git_dir_writable` (by the agent: by mode, or because it lies in the work tree or
    in `shared_dir`), `repo_ownership` (C01), `work_tree_missing`, `work_tree_replaced`, `submodules_unconfined`,
    `lfs_unconfined`, `lfs_missing`, `git_version`.
    Starts no process but the first time, when it asks git for its version.
    """
    check_safe(paths, shared_dir)
    if submodules:
        require_confinement(runner, paths.name, "submodules_unconfined", "submodules")
    if lfs:
        require_confinement(runner, paths.name, "lfs_unconfined", "Git LFS")
        require_lfs(paths.name)
        write_filter(paths.lfs_filter)
        paths.lfs.mkdir(mode=0o700, exist_ok=True)
    git = Git(paths, runner, access, cancel, submodules=submodules, lfs=lfs, deadlines=deadlines)
    require_version(git)
    for directory, run in ((paths.local, git.local), (paths.transfer, git.transfer)) if lfs else ():
        if not knows_format(directory):
            run(["config", *FORMAT])
    return git
