"""Who besides the host's own users could write a place: by its mode, its access list, or because it is theirs."""

from __future__ import annotations

import grp
import os
import pwd
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executor.laravel.places import Place

_ACCESS_LIST = "system.posix_acl_access"
_USER, _GROUP, _MASK = 0x02, 0x08, 0x10  # tags of its entries (acl_ea.h in the kernel): a named user, a named group
_WRITES = 0o2
_HEAD, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")  # version; tag, permissions, id


@dataclass(frozen=True, slots=True)
class Users:
    """Uids: `own` are those that may write (root, the gateway's, the application's owner), `agents` the agent's."""

    own: frozenset[int]
    agents: frozenset[int]


def users(application: Path, agent_dirs: tuple[Path, ...]) -> Users:
    """Return who is who. Whoever a directory of the agent belongs to is the agent, unless it is root or we are."""
    we = {0, os.geteuid()}
    agents = {place.stat().st_uid for place in agent_dirs if place.exists()} - we
    return Users(frozenset(we | {application.stat().st_uid} - agents), frozenset(agents))


def why_writable(place: Place, users: Users) -> str | None:
    """Return in words how somebody else could write a place or put another one there, None where nobody could."""
    path, facts = place.path, place.facts
    if facts.st_uid in users.agents:
        return f"{path} belongs to {_user(facts.st_uid)}, to whom directories of the agent belong as well"
    if place.shared and facts.st_uid not in users.own:
        return f"{path} belongs to {_user(facts.st_uid)} and lies where others may put things"
    if place.is_link or place.is_sticky:
        return None  # what is in a sticky directory can only be replaced by its owner, and that is looked at next
    if facts.st_mode & stat.S_IWOTH:
        return f"{path} can be written by everybody"
    if not facts.st_mode & stat.S_IWGRP:
        return None  # with an access list this is its mask: nobody that it names can write either
    if not _alone(facts.st_gid, facts.st_uid):
        return f"{path} can be written by the group {_group(facts.st_gid)}"
    return next((f"{path} can be written by {who} (setfacl)" for who in _named(path, users)), None)


def _named(path: Path, users: Users) -> Iterator[str]:
    """Yield the users and groups that an access list names and lets write."""
    try:
        told = os.getxattr(path, _ACCESS_LIST)
    except OSError:
        return  # it has none, or its file system knows none
    entries = list(_ENTRY.iter_unpack(told[_HEAD.size :]))
    mask = next((allowed for tag, allowed, _ in entries if tag == _MASK), _WRITES)
    for tag, allowed, who in entries:
        if not allowed & mask & _WRITES:
            continue
        if tag == _USER and who not in users.own:
            yield _user(who)
        if tag == _GROUP and who not in (0, os.getegid()):
            yield f"the group {_group(who)}"


def _alone(gid: int, uid: int) -> bool:
    """Whether a group is only its owner's: root's, the gateway's user's, or a private one with nobody else in it."""
    if gid == 0 or gid == os.getegid():
        return True
    try:
        return pwd.getpwuid(uid).pw_gid == gid and not grp.getgrgid(gid).gr_mem
    except KeyError:
        return False


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
