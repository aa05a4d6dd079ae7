"""The revisions, branches, tags and patterns of refs that a request may name (gitrevisions(7)). Pure.

Reading any revision of the repository is harmless; refused is what git could also take for an address, for a path
outside or for pathspec magic, and names that pass for other names.
"""

from __future__ import annotations

import re

from executor.errors import Refused
from executor.git.pathspecs import PATH_LIMIT, check_path, components_problem
from executor.git.refnames import require_ref_name
from executor.git.text import disguise

_TEXT_SEARCH = re.compile(r":/|\S*\^\{/")  # :/fix login, main^{/fix login}
_TIME_IN_BRACES = re.compile(r"@\{[^{}]*\}")  # HEAD@{2 days ago}
_ADDRESS = re.compile(r"[^/:]+@[^/:{]+:")
_SYNTAX = re.compile(r"[@^~{}.:+*?\[\]!,=]")
_GIT_REFS = frozenset({"HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"})
_CLEAR = re.compile(r"@|[0-9a-f]{7,40}|refs/.+")
_OBJECT_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def revision_problem(word: str) -> str | None:
    """Return why `word` cannot be a revision, a range or `revision:path`, or None. `-` is the branch before."""
    if not word or len(word.encode(errors="replace")) > PATH_LIMIT:
        return "it is empty or too long"
    if word == "-":
        return None
    if word.startswith(("-", "~", "/", ":(", ":!", ":^", "\\")):
        return "it begins like an option, an absolute path or pathspec magic"
    if not _TEXT_SEARCH.match(word):
        if "://" in word or "::" in word or _ADDRESS.match(word):
            return "it is an address; only configured remotes are talked to, by name"
        name = _TIME_IN_BRACES.sub("", word).split(":")[0]
        if re.search(r"[\s\\]", name):
            return "a revision holds no blanks"
        if why := disguise(_SYNTAX.sub("/", name)):
            return why
        if ":/" in word:
            return "it is absolute; paths are relative to the work tree"
    return components_problem(re.split(r"[/\\:]", word))


def check_revision(word: str) -> None:
    problem = revision_problem(word)
    if problem is not None:
        code = "hidden_characters" if disguise(word) else "bad_revision"
        raise Refused(code, f"{word!r} is refused as a revision: {problem}", "name a branch, tag, commit or range")


def check_commit(word: str) -> None:
    """A revision that is no `revision:path`."""
    check_revision(word)
    if ":" in word:
        raise Refused("bad_revision", f"{word!r} does not name a commit", "name a branch, tag or commit")


def check_revision_or_path(word: str) -> None:
    """A word before `--` of which only git can say what it is; it must be harmless as both."""
    if word.startswith((":!", ":^")):
        check_path(word)
    else:
        check_revision(word)


def is_clear_revision(word: str) -> bool:
    """Whether git cannot take `word` for a path: `HEAD~1`, `main..dev`, `HEAD:f`, `@{u}`, a hash; not `main`."""
    if word.startswith((":!", ":^", "./")):
        return False
    return word in _GIT_REFS or bool(_CLEAR.fullmatch(word) or re.search(r"\.\.|[~^:]|@\{", word))


def ends_of(word: str) -> int:
    """How many ends a revision argument gives: 2 for a range such as `main..dev`, else 1."""
    return 2 if ".." in word else 1


def check_branch(word: str) -> None:
    """A branch that is there: its name, its full name, or `@{-1}`."""
    if not re.fullmatch(r"@\{-\d+\}", word):
        require_ref_name(word.removeprefix("refs/heads/"), "branch")


def check_new_branch(word: str) -> None:
    require_ref_name(word, "branch")
    if word.startswith("refs/") or _OBJECT_NAME.fullmatch(word):
        raise Refused("bad_branch_name", f"{word!r} would be taken for something else", "choose another name")


def check_tag(word: str) -> None:
    require_ref_name(word, "tag")
    if word.startswith("refs/") or _OBJECT_NAME.fullmatch(word):
        raise Refused("bad_tag_name", f"{word!r} would be taken for something else", "write the short name of a tag")


def check_ref(word: str) -> None:
    if word not in _GIT_REFS:
        require_ref_name(word, "ref")


def check_pattern(word: str) -> None:
    """A glob over ref names: `feature/*`, `refs/heads`, `v1.[0-9]*`."""
    if (
        not word
        or word.startswith(("-", "/", "~", ":"))
        or ":/" in word
        or "::" in word
        or components_problem(word.split("/"))
    ):
        raise Refused("bad_value", f"{word!r} is not a pattern of ref names", "for example 'feature/*'")
