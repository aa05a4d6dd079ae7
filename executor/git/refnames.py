"""The names of branches and tags: git-check-ref-format(1) in pure Python, and a little stricter."""

from __future__ import annotations

import re

from executor.errors import Refused
from executor.git.text import disguise, hidden_character

HEADS, TAGS = "refs/heads/", "refs/tags/"  # where branches and tags are, by their full names
NAME_LIMIT = 1000  # bytes of a whole name
COMPONENT_LIMIT = 250  # bytes between slashes: a file name, and git appends ".lock"
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")
_RELEASE = re.compile(r"v?\d+(?:\.\d+)+(?:[-.+]?[0-9A-Za-z][0-9A-Za-z.+-]*)?", re.ASCII)


def ref_name_problem(name: str) -> str | None:
    """Return why `name` cannot be the short name of a branch or tag, or None.

    Beyond git's own rules: no leading `-` or `+`, not `HEAD`, nothing hidden or disguised, short enough for a file.
    """
    if not name:
        return "it is empty"
    if hidden_character(name) is not None:
        return "it holds characters that cannot be seen"
    if len(name.encode()) > NAME_LIMIT:
        return f"it is longer than {NAME_LIMIT} bytes"
    if name.startswith(("-", "+")):
        return "it begins with '-' or '+', like an option or a forced push"
    if name in {"@", "HEAD"}:
        return "git uses this name itself"
    if bad := _FORBIDDEN.search(name):
        return f"{bad[0]!r} cannot stand in a name"
    if ".." in name or "@{" in name or name.endswith("."):
        return "'..', '@{' and a dot at the end cannot stand in a name"
    return next((why for why in map(_component_problem, name.split("/")) if why), None) or disguise(name)


def _component_problem(component: str) -> str | None:
    if not component:
        return "it has a slash too many"
    if component.startswith(".") or component.endswith(".lock"):
        return "no part of a name begins with '.' or ends with '.lock'"
    if len(component.encode()) > COMPONENT_LIMIT:
        return f"a part of it is longer than {COMPONENT_LIMIT} bytes"
    return None


def require_ref_name(name: str, what: str) -> None:
    """Raise Refused if `name` cannot be the short name of a `what` ("branch", "tag")."""
    problem = ref_name_problem(name)
    if problem is not None:
        code = "hidden_characters" if hidden_character(name) or disguise(name) else f"bad_{what}_name"
        raise Refused(code, f"{name!r} is not a {what} name: {problem}", f"write the plain name of one {what}")


def looks_like_release(name: str) -> bool:
    """Whether `name` has the shape that tags of releases have: `v1.0`, `1.2.3`, `v2.0.0-rc1`; not `10.x`."""
    return _RELEASE.fullmatch(name) is not None
