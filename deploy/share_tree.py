"""`share_tree.py GROUP TREE`: as root, let a group read and write all in a tree, also what is made there later.

Whoever writes in the tree may be at work in it meanwhile, and between the look at a name and the change of it the
name can become a link to a file of the host. `chmod -R`, `find -exec chmod` and `setfacl -R` change names. Here all
is changed by a descriptor, which stays what it was when it was looked at.
"""

from __future__ import annotations

import grp
import os
import stat
import subprocess
import sys

_AT_ONCE = 200  # directories whose default ACL one setfacl sets; each is held open until then
_DIRECTORY = stat.S_IRGRP | stat.S_IWGRP | stat.S_IXGRP | stat.S_ISGID
_FILE = stat.S_IRGRP | stat.S_IWGRP
_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def share(tree: str, group: str) -> bool:
    """Give `tree` and all in it to `group`; return whether the file system has ACLs. Raise OSError, KeyError.

    The default ACL is what new files follow, whatever the umask of those who make them. `tree` itself gets it last:
    one who finds it there may take all to be done.
    """
    number = grp.getgrnam(group).gr_gid
    top: list[int] = []
    held: list[int] = []
    with_acls = True
    for _path, _directories, files, directory in os.fwalk(tree):
        os.fchown(directory, -1, number)
        os.fchmod(directory, stat.S_IMODE(os.fstat(directory).st_mode) | _DIRECTORY)
        for name in files:
            _give_file(name, directory, number)
        (held if top else top).append(os.dup(directory))
        if len(held) == _AT_ONCE:
            with_acls = _set_default(held, group) and with_acls
    with_acls = _set_default(held, group) and with_acls
    return _set_default(top, group) and with_acls


def _give_file(name: str, directory: int, group: int) -> None:
    """Give one file to the group if it is an ordinary one; what has gone meanwhile is passed over."""
    try:
        file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISREG(mode):
            itself = f"/proc/self/fd/{file}"  # of a descriptor that opens nothing, so no FIFO or device is opened
            os.chown(itself, -1, group)
            more = _FILE | (stat.S_IXGRP if mode & _EXECUTABLE else 0)
            os.chmod(itself, mode & 0o777 | more)
    finally:
        os.close(file)


def _set_default(held: list[int], group: str) -> bool:
    """Set the default ACL of the directories that are held, and let them go; return whether that could be done."""
    if not held:
        return True
    words = ["setfacl", "-m", f"default:group:{group}:rwX", "--", *(f"/proc/self/fd/{each}" for each in held)]
    try:
        return subprocess.run(words, pass_fds=held, check=False).returncode == 0
    finally:
        for each in held:
            os.close(each)
        held.clear()


if __name__ == "__main__":
    try:
        done = share(sys.argv[2], sys.argv[1])
    except (OSError, KeyError, RecursionError) as error:
        sys.exit(f"share_tree.py: {sys.argv[2]}: {error}")
    sys.exit(0 if done else 3)
