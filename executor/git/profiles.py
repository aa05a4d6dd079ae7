"""What a git process may touch: the confinement profile of each contact (pure, but for looking what exists)."""

from __future__ import annotations

from pathlib import Path

from executor.git.access import NETWORK_FILES, SSH_PROGRAM, RemoteAccess
from executor.git.paths import RepositoryPaths
from executor.git.remote_address import RemoteAddress
from executor.policy.model import Contact
from executor.sandbox.confinement import Profile

_SHELL = Path("/bin/sh")
_DNS_PORT = 53  # answers that do not fit a datagram


def local_profile(paths: RepositoryPaths, contact: Contact) -> Profile:
    """Return the profile of a process on the local repository: no sockets, no program but git."""
    read: tuple[Path, ...] = (paths.home, paths.empty_config)
    write: tuple[Path, ...] = (paths.local, paths.tmp)
    if contact is Contact.READ:
        read += (paths.work_tree,)
    links: tuple[Path, ...] = ()
    if contact is Contact.WRITE:
        links = (paths.work_tree,)
    return Profile(contact=contact, read=read, write=(*write, *links), execute=(), links=links)


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
