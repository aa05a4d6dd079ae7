"""The paths that a request may name: inside the work tree, never git's own directory, no pathspec magic. Pure."""

from __future__ import annotations

import re

from executor.errors import Refused
from executor.git.text import require_visible

PATH_LIMIT = 4096  # bytes, PATH_MAX

_GIT_DIRECTORY = re.compile(r"\.git|git~\d+", re.IGNORECASE)
_EXCLUSION = re.compile(r":[!^]+(?![(/:])")
_GLOB = re.compile(r"[*?\[]")
# What the last part of a word looks like when `git checkout WORD` means a file and not a branch: README.md, .env,
# Makefile; not v1.0, 10.x or 2.0.rc1.
_FILE_NAME = re.compile(
    r"\..+|.*\.(?!(?:rc|alpha|beta|dev|final|next|lts)\d*$)(?:[A-Za-z][A-Za-z0-9]{1,9}|[chmrsd])"
    r"|[A-Za-z]+file|README|LICENSE|COPYING|CHANGELOG|NOTICE",
    re.ASCII,
)


def path_problem(path: str) -> str | None:
    """Return why `path` cannot name something inside the work tree, or None. Glob characters are no problem."""
    if not path or len(path.encode(errors="replace")) > PATH_LIMIT:
        return "it is empty or too long"
    if path.startswith("-"):
        return "it begins with '-' like an option; write ./ before it"
    if path.startswith(("/", "~", "\\")):
        return "it is absolute; paths are relative to the work tree"
    return components_problem(re.split(r"[/\\]", path))


def components_problem(components: list[str]) -> str | None:
    """Return why a path of these `components` leads outside or into git's directory, or None."""
    if ".." in components:
        return "'..' leads out of where it stands"
    # Windows and macOS take more spellings for `.git`; a repository may be checked out there (core.protectNTFS/HFS).
    if any(_GIT_DIRECTORY.fullmatch(component.split(":")[0].rstrip(". ")) for component in components):
        return "git's own directory is not part of the work tree"
    return None


def require_literal_path(path: str, *, lines: bool = False) -> str:
    """Return `path` as `git add` with literal pathspecs takes it (no leading `./`), or raise Refused.

    With `lines` the name may hold newlines and tabs: a typed request can say exactly what a body of lines cannot.
    """
    require_visible(path.replace("\n", "").replace("\t", "") if lines else path, "the path")
    while path.startswith("./"):
        path = path[2:].lstrip("/") or "."
    problem = path_problem(path)
    if problem is None and path.startswith(":"):
        problem = "':' begins git's pathspec magic"
    if problem is not None:
        raise Refused(
            "bad_path", f"{path!r} cannot be staged: {problem}", "write paths inside the work tree, one a line"
        )
    if "*" in path or "?" in path:
        raise Refused(
            "bad_path",
            f"{path!r} holds a wildcard, and git_add takes names literally",
            "name files or directories, write . for everything, or use git_cmd: git add '*.py'",
        )
    return path


def check_path(word: str) -> None:
    """Refuse what is no pathspec inside the work tree. Globs are fine; of the magic only `:!path`, `:^path`."""
    exclusion = _EXCLUSION.match(word)
    if word.startswith(":") and exclusion is None:
        raise Refused("bad_path", f"{word!r} is pathspec magic", "write plain paths; ':!path' leaves one out")
    problem = path_problem(word[exclusion.end() :] if exclusion else word)
    if problem is not None:
        raise Refused("bad_path", f"{word!r} is refused as a path: {problem}", "write a path inside the work tree")


def check_file(word: str) -> None:
    """Refuse what is not the plain name of one file; `-` would be standard input."""
    check_path(word)
    if word == "-" or word.startswith(":") or _GLOB.search(word):
        raise Refused(
            "bad_path", f"{word!r} is not the name of one file", "write the name of a file in the work tree"
        )


def check_likely_path(word: str) -> None:
    """Refuse a word of `git checkout WORD` that does not look like a file: it is a branch then."""
    check_path(word)
    name = word.rsplit("/", 1)[-1]
    if not (name in {"", "."} or word.startswith((":", "./")) or _GLOB.search(word) or _FILE_NAME.fullmatch(name)):
        raise Refused("bad_path", f"{word!r} does not look like a file", "put paths after --")
