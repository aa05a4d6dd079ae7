"""What every git process is told, whoever starts it: environment and configuration that nothing else can override.

Hooks, fsmonitor, filters, editors, pagers and prompts are off (git-config(1), git(1)); each entry has its reason.
The other walls (host-owned git directories, the kernel) hold without this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

# Overrides by GIT_CONFIG_COUNT: they win over every configuration file and reach git's own children.
CONFIG: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.logAllRefUpdates", "always"),  # undo reads reflogs
    ("core.quotePath", "true"),
    ("core.protectNTFS", "true"),
    ("core.protectHFS", "true"),
    ("core.pager", "cat"),
    ("color.ui", "false"),
    ("advice.detachedHead", "false"),  # advice tells an agent to run commands it cannot run
    ("advice.addEmbeddedRepo", "false"),
    ("mailmap.blob", "HEAD:.mailmap"),  # in place of the file in the work tree, which could be a FIFO
    ("user.useConfigOnly", "true"),  # an identity guessed from the host's name is nobody's
    ("submodule.recurse", "false"),  # C24
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("diff.ignoreSubmodules", "all"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("transfer.fsckObjects", "true"),
    ("fetch.writeCommitGraph", "false"),
    ("rebase.autoStash", "false"),  # rescue snapshots are ours to make, and to show
    ("rerere.enabled", "false"),
    ("credential.helper", ""),  # empties the list
    ("protocol.allow", "never"),
    ("http.followRedirects", "false"),  # only the host's configuration says where to connect
)

_FIXED: Mapping[str, str] = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",  # C03
    "GIT_ASKPASS": "/bin/false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_EDITOR": ":",  # git itself reads ":" as "no editor" and starts nothing
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",  # C05
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ADVICE": "0",  # understood by git 2.45 and newer
}


def git_environment(
    base: Mapping[str, str],
    *,
    git_dir: Path,
    empty_config: Path,
    work_tree: Path | None = None,
    protocols: Iterable[str] = (),
    config: Iterable[tuple[str, str]] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the whole environment of one git process.

    Given the `base` that every child gets, the git directory, the empty configuration file that stands in for the
    global and the system one, the work tree (`None` for a bare repository), the transport `protocols` it may use,
    further `config` pairs and `extra` variables. Nothing is inherited (C06) and the language is fixed (C07).
    """
    allowed = tuple(protocols)
    environment = {
        **base,
        **_FIXED,
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "",
        "GIT_DIR": str(git_dir),
        "GIT_CONFIG_GLOBAL": str(empty_config),
        "GIT_CONFIG_SYSTEM": str(empty_config),
        "GIT_ALLOW_PROTOCOL": ":".join(allowed) or "none",
    }
    if work_tree is not None:
        environment["GIT_WORK_TREE"] = str(work_tree)
    pairs = [*CONFIG, ("core.bare", "true" if work_tree is None else "false")]
    pairs.extend((f"protocol.{name}.allow", "always") for name in allowed)
    pairs.extend(config)
    environment["GIT_CONFIG_COUNT"] = str(len(pairs))
    for number, (key, value) in enumerate(pairs):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    environment.update(extra or {})
    return environment
