"""What survives of a git configuration that an agent wrote: an allow-list of keys, each with the values it may have.

Pure. git-config(1) is full of keys that name programs, files and addresses (`core.fsmonitor`, `filter.*`,
`include.path`, `url.*.insteadOf` …) and gains more with each release, so a key that is not listed here is dropped
and named. What is kept is written anew by `render`; no byte of the old file is copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from executor.git.git_dir_layout import is_ref_name

VALUE_LIMIT = 1000  # characters


@dataclass(frozen=True, slots=True)
class Setting:
    """One entry as `git config --list` names it: section and variable in lower case, the sub-section as it is.

    `value` is None for a variable without `=`, which git reads as true.
    """

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that is not carried over, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class RemoteSetting:
    """A remote as the configuration has it. The URL is not judged yet."""

    name: str
    url: str | None
    fetch: tuple[str, ...]  # refspecs, tracking refs of this remote only


@dataclass(frozen=True, slots=True)
class Scrubbed:
    kept: tuple[Setting, ...]
    remotes: tuple[RemoteSetting, ...]
    dropped: tuple[Dropped, ...]
    object_format: str = "sha1"
    bare: bool = False
    partial: bool = False  # objects are left at the remote (extensions.partialClone, remote.*.promisor)
    lfs: bool = False
    unsupported: str | None = None  # a repository format that this program does not know


def _one_of(*words: str) -> Callable[[str], bool]:
    return lambda value: value.lower() in words


def _person(value: str) -> bool:
    return bool(value.strip()) and value.isprintable() and not any(c in "<>" for c in value)


def _branch(value: str) -> bool:
    return is_ref_name(f"refs/heads/{value}")


def is_remote_name(name: str) -> bool:
    """Say whether `name` is one that a remote may have here: plain characters, nothing like an option or a path."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) is not None and is_ref_name(
        f"refs/remotes/{name}/x"
    )


_BOOLEAN = _one_of("true", "false", "yes", "no", "on", "off", "1", "0")
_PLAIN: dict[str, Callable[[str], bool]] = {
    "user.name": _person,
    "user.email": _person,
    "author.name": _person,
    "author.email": _person,
    "committer.name": _person,
    "committer.email": _person,
    "core.autocrlf": _one_of("true", "false", "input"),
    "core.eol": _one_of("lf", "crlf", "native"),
    "core.safecrlf": _one_of("true", "false", "warn"),
    "core.filemode": _BOOLEAN,
    "core.symlinks": _BOOLEAN,
    "core.ignorecase": _BOOLEAN,
    "core.precomposeunicode": _BOOLEAN,
    "core.logallrefupdates": _one_of("true", "false", "always"),
    "core.sparsecheckout": _BOOLEAN,
    "core.sparsecheckoutcone": _BOOLEAN,
    "pull.rebase": _one_of("true", "false", "merges"),
    "pull.ff": _one_of("true", "false", "only"),
    "push.default": _one_of("nothing", "current", "upstream", "simple", "matching"),
    "push.autosetupremote": _BOOLEAN,
    "push.followtags": _BOOLEAN,
    "fetch.prune": _BOOLEAN,
    "init.defaultbranch": _branch,
    "merge.conflictstyle": _one_of("merge", "diff3", "zdiff3"),
    "merge.ff": _one_of("true", "false", "only"),
    "rebase.autosquash": _BOOLEAN,
    "diff.renames": _one_of("true", "false", "copies"),
    "diff.algorithm": _one_of("myers", "default", "minimal", "patience", "histogram"),
}
_BRANCH: dict[str, Callable[[str], bool]] = {
    "remote": lambda value: value == "." or is_remote_name(value),
    "merge": lambda value: value.startswith("refs/heads/") and is_ref_name(value),
    "rebase": _one_of("true", "false", "merges"),
}
# Said by the git directory itself, which is made anew.
_OWN = ("core.bare", "core.repositoryformatversion", "extensions.worktreeconfig", "extensions.noop")
_WHY = tuple(
    (re.compile(pattern), why)
    for pattern, why in (
        (r"include(?:if\..*)?\.path", "reads another file"),
        (r"core\.sshcommand", "names a program; give its key as GATEWAY_SSH_KEY instead (ssh_key in gateway.toml)"),
        (r"core\.(?:fsmonitor|hookspath|editor|pager|askpass|gitproxy|alternaterefscommand)", "names a program"),
        (r"(?:filter|diff|merge|mergetool|difftool|alias|hook|gpg|trailer|pager|tar)\..*", "can name a program"),
        (r"core\.worktree", "puts the work tree elsewhere"),
        (r"core\.(?:excludesfile|attributesfile)|mailmap\..*|commit\.template", "reads a file of the host"),
        (r"url\..*", "sends git to another address"),
        (r"remote\..*\.pushurl", "sends pushes to another address"),
        (r"remote\..*\.(?:uploadpack|receivepack|vcs|proxy)", "names a program or an address"),
        (r"remote\..*\.url", "a second address of the same remote"),
        (r"remote\..*\.fetch", "writes to other refs than this remote's own"),
        (r"credential\..*|http\..*|https\..*|protocol\..*|ssh\..*", "how to connect is the host's to say"),
        (r"submodule\..*", "git submodule is not run here"),
        (r"lfs\..*", "LFS has to be set up on the host"),
    )
)


def parse_listing(listing: bytes) -> tuple[Setting, ...]:
    """Return what `git config --list -z` printed."""
    entries = listing.decode("utf-8", "surrogateescape").split("\0")[:-1]
    settings = []
    for entry in entries:
        key, found, value = entry.partition("\n")
        settings.append(Setting(key, value if found else None))
    return tuple(settings)


def scrub(settings: Iterable[Setting]) -> Scrubbed:
    """Return what may be kept of `settings`, and what is dropped and why; the last value of a key wins."""
    everything = tuple(settings)
    last = {s.key: s.value for s in everything}
    kept: dict[str, str] = {}
    dropped: list[Dropped] = []
    for setting in everything:
        value = "true" if setting.value is None else setting.value
        if _is_allowed(setting.key, value):
            kept[setting.key] = value
        elif not _is_read_otherwise(setting.key):
            dropped.append(Dropped(f"config {setting.key}", _why(setting.key)))
    remotes, more = _remotes(everything)
    object_format = (last.get("extensions.objectformat") or "sha1").lower()
    return Scrubbed(
        kept=tuple(Setting(key, value) for key, value in kept.items()),
        remotes=remotes,
        dropped=(*dropped, *more),
        object_format=object_format,
        bare=(last.get("core.bare", "false") or "true").lower() in ("true", "yes", "on", "1"),
        partial="extensions.partialclone" in last or any(re.fullmatch(r"remote\..*\.promisor", key) for key in last),
        lfs=any(key.startswith(("filter.lfs.", "lfs.")) for key in last),
        unsupported=_unsupported(last, object_format),
    )


def _is_allowed(key: str, value: str) -> bool:
    if len(value) > VALUE_LIMIT or not value.isprintable():
        return False
    if key in _PLAIN:
        return _PLAIN[key](value)
    section, name, variable = _apart(key)
    return section == "branch" and variable in _BRANCH and _branch(name) and _BRANCH[variable](value)


def _is_read_otherwise(key: str) -> bool:
    section, name, variable = _apart(key)
    of_remote = section == "remote" and is_remote_name(name) and variable in ("url", "fetch", "promisor")
    return of_remote or key in _OWN or section == "extensions"


def _apart(key: str) -> tuple[str, str, str]:
    """Return section, sub-section (which may hold dots) and variable."""
    section, _, rest = key.partition(".")
    name, _, variable = rest.rpartition(".")
    return section, name, variable


def _why(key: str) -> str:
    if key in _PLAIN:
        return "its value is not one that is allowed"
    return next((why for pattern, why in _WHY if pattern.fullmatch(key)), "not on the list of what is kept")


def _remotes(settings: tuple[Setting, ...]) -> tuple[tuple[RemoteSetting, ...], list[Dropped]]:
    urls: dict[str, str | None] = {}
    fetch: dict[str, list[str]] = {}
    dropped: list[Dropped] = []
    for setting in settings:
        section, name, variable = _apart(setting.key)
        if section != "remote" or not is_remote_name(name):
            continue
        urls.setdefault(name, None)
        if variable == "url" and urls[name] is None:
            urls[name] = setting.value or ""
        elif variable == "fetch" and _is_own_refspec(setting.value or "", name):
            fetch.setdefault(name, []).append(setting.value or "")
        elif variable in ("url", "fetch"):
            dropped.append(Dropped(f"config {setting.key}", _why(setting.key)))
    found = [
        RemoteSetting(name, url, tuple(fetch.get(name, ())) or default_fetch(name)) for name, url in urls.items()
    ]
    return tuple(found), dropped


def default_fetch(remote: str) -> tuple[str, ...]:
    """Return the refspec that `git remote add` gives a remote."""
    return (f"+refs/heads/*:refs/remotes/{remote}/*",)


def _is_own_refspec(spec: str, remote: str) -> bool:
    source, found, target = spec.removeprefix("+").partition(":")
    if not found or (source.count("*"), target.count("*")) not in ((0, 0), (1, 1)):
        return False
    if not source.startswith("refs/heads/") or not target.startswith(f"refs/remotes/{remote}/"):
        return False
    return is_ref_name(source.replace("*", "x")) and is_ref_name(target.replace("*", "x"))


def _unsupported(last: dict[str, str | None], object_format: str) -> str | None:
    version = last.get("core.repositoryformatversion") or "0"
    if version not in ("0", "1"):
        return f"core.repositoryFormatVersion {version}"
    if object_format not in ("sha1", "sha256"):
        return f"extensions.objectFormat {object_format}"
    known = ("objectformat", "worktreeconfig", "noop", "partialclone", "preciousobjects")
    unknown = [key for key in last if key.startswith("extensions.") and key.removeprefix("extensions.") not in known]
    return unknown[0] if unknown and version == "1" else None


def render(settings: Iterable[Setting]) -> str:
    """Return the text of a configuration file that git reads back as exactly these settings, in this order."""
    lines: list[str] = []
    current = None
    for setting in settings:
        section, name, variable = _apart(setting.key)
        header = f'[{section} "{_escaped(name)}"]' if name else f"[{section}]"
        if header != current:
            lines.append(header)
            current = header
        lines.append(f"\t{variable}" if setting.value is None else f'\t{variable} = "{_escaped(setting.value)}"')
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
