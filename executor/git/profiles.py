"""What a git process may touch: the confinement profile of each contact (pure, but for looking what exists)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from executor.git.access import NETWORK_FILES, SSH_PROGRAM, RemoteAccess
from executor.git.large_files import HTTPS_PORT, LFS_PROGRAM
from executor.git.paths import RepositoryPaths
from executor.git.remote_address import RemoteAddress
from executor.policy.model import Contact
from executor.sandbox.confinement import Profile

_SHELL = Path("/bin/sh")
_DNS_PORT = 53  # answers that do not fit a datagram


def local_profile(paths: RepositoryPaths, contact: Contact) -> Profile:
    """Return the profile of a process on the local repository, which may at most read the work tree.

    No sockets, no program but git.
    """
    read = (paths.home, paths.empty_config, *((paths.work_tree,) if contact is Contact.READ else ()))
    return Profile(contact=contact, read=read, write=(paths.local, paths.tmp), execute=())


def work_tree_profile(paths: RepositoryPaths, metadata: Path) -> Profile:
    """Return the profile of a process that writes the work tree: of the repository it may only read the objects.

    `metadata` is the directory in which the git directory that it was given lies.
    """
    tree = paths.work_tree
    read = (paths.home, paths.empty_config, paths.objects)
    return Profile(contact=Contact.WRITE, read=read, write=(metadata, tree), execute=(), links=(tree,))


def with_filter(profile: Profile, paths: RepositoryPaths) -> Profile:
    """Return a local `profile` in which git may start Git LFS as a filter, and that may read its store."""
    execute = (*profile.execute, LFS_PROGRAM, paths.lfs_filter)
    return replace(profile, read=(*profile.read, paths.lfs_filter, paths.lfs), execute=execute)


def with_large_files(profile: Profile, paths: RepositoryPaths) -> Profile:
    """Return a remote `profile` in which Git LFS moves content between its store and its server."""
    ports = tuple(dict.fromkeys((*profile.tcp_ports, HTTPS_PORT))) if profile.tcp_ports else ()
    execute = (*profile.execute, LFS_PROGRAM)
    return replace(profile, write=(*profile.write, paths.lfs), execute=execute, tcp_ports=ports)


def transfer_profile(
    paths: RepositoryPaths, access: RemoteAccess, address: RemoteAddress | None, *, objects: bool
) -> Profile:
    """Return the profile of a process on the transfer repository.

    The work tree is not visible in it. With an `address` the process may reach that address's port; with `objects`
    it may write to the local repository's object store.
    """
    read: list[Path] = [paths.home, paths.empty_config]
    write: list[Path] = [paths.transfer, paths.tmp]
    execute: list[Path] = []
    (write if objects else read).append(paths.objects)
    if address is None:
        return Profile(contact=Contact.REMOTE, read=tuple(read), write=tuple(write), execute=())
    if address.scheme == "file":
        # git starts the other side through the shell, in the same confinement, on the remote's own directory.
        write.append(Path(address.path))
        execute.append(_SHELL)
        return Profile(contact=Contact.REMOTE, read=tuple(read), write=tuple(write), execute=tuple(execute))
    read.extend(path for path in (*NETWORK_FILES, *access.files()) if path.exists())
    if address.scheme == "ssh":
        read.append(paths.ssh_program)
        execute += [SSH_PROGRAM, paths.ssh_program]
    return Profile(
        contact=Contact.REMOTE,
        read=tuple(read),
        write=tuple(write),
        execute=tuple(execute),
        tcp_ports=(address.port, _DNS_PORT),
        sockets=True,
    )
