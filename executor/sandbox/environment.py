"""The environment a program gets: built from nothing, never inherited.

An inherited `GIT_DIR` makes git act on another repository with success (C06), `GIT_TRACE=/path` makes it write a
file, a German `LANG` breaks what reads its output (C07). So every child gets these variables and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

# What every git process is told, whatever the repository's own configuration says. A second line behind the
# host-owned git directory: it also reaches the git processes that git starts inside nested repositories.
HARDENING: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),  # no hook runs; the directory is host-owned and empty all the same
    ("core.fsmonitor", "false"),  # names a program that nearly every command would start
    ("core.untrackedCache", "false"),  # the agent controls directory times, which this cache believes
    ("core.pager", "cat"),
    ("submodule.recurse", "false"),  # a nested repository is the agent's configuration
    ("fetch.recurseSubmodules", "false"),  # `on-demand`, the default, runs the nested remote's uploadpack
    ("push.recurseSubmodules", "no"),
    ("diff.ignoreSubmodules", "all"),  # not enough alone (.gitmodules overrides it): callers pass the option too
    ("status.submoduleSummary", "false"),
    ("protocol.allow", "never"),  # `ext::` and every helper that is not named below
    ("protocol.ssh.allow", "always"),
    ("protocol.https.allow", "always"),
    ("credential.helper", ""),  # empty resets the list
    ("commit.gpgSign", "false"),  # each of these three starts gpg.program
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),  # no background work: what outlives its command is killed
    ("gc.autoDetach", "false"),
    ("maintenance.auto", "false"),
    ("core.bigFileThreshold", "64m"),  # a larger file is streamed, not loaded; it is neither diffed nor deltified
    ("pack.windowMemory", "256m"),  # for each thread
    ("pack.deltaCacheSize", "128m"),
    ("pack.threads", "2"),
    ("transfer.fsckObjects", "true"),  # malformed objects are refused when they arrive
    ("core.protectNTFS", "true"),  # `.git` by other spellings is refused as a path
    ("core.protectHFS", "true"),
    ("core.quotePath", "true"),  # names with control characters are shown escaped where -z is not used
    ("color.ui", "false"),
    ("user.useConfigOnly", "true"),  # never an identity guessed from the host's user and host name
)

# Fixed variables of every git process, and why each is there.
_GIT_VARIABLES: dict[str, str] = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",  # a system-wide attributes file could bind filters (`git lfs install --system`)
    "GIT_TERMINAL_PROMPT": "0",  # C03: fail at once, never wait for a person who is not there
    "GIT_ASKPASS": "/bin/false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_EDITOR": ":",  # git knows `:` as "no editor" and starts nothing
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1",  # refs/replace would show other content under an approved id
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not go to the network on its own
    "GIT_ALLOW_PROTOCOL": "ssh:https",
}

# Variables that run programs, write files or redirect git behind the caller's back: no caller has a use for them.
_NEVER = frozenset(
    {
        "GIT_CONFIG_PARAMETERS",
        "GIT_COMMON_DIR",
        "GIT_EXEC_PATH",
        "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND",
        "GIT_SSH_COMMAND",  # is run through a shell; GIT_SSH names one program (see ssh_config_program)
        "GIT_TEMPLATE_DIR",
        "BROWSER",
        "EDITOR",
        "PAGER",
        "VISUAL",
    }
)
_NEVER_PREFIXES = ("GIT_TRACE", "LD_", "PYTHON")


def base_environment(home: Path, tmp: Path) -> dict[str, str]:
    """Return the variables of any program: `home` is an empty directory of the host, `tmp` takes its scratch files.

    `TZ` is not set, so that times are in the host's zone as everywhere else on it.
    """
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "LC_ALL": "C.UTF-8",  # C07
        "LANGUAGE": "",
    }


def git_environment(
    base: Mapping[str, str],
    *,
    git_dir: Path,
    work_tree: Path | None,
    empty_config: Path,
    config: Sequence[tuple[str, str]] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the variables of a git process on `git_dir`, with or without a work tree.

    `empty_config` is an empty file in a directory that the gateway's user cannot write; it stands for the user's and
    the system's configuration. (`/dev/null` in its place can be replaced by a plain file through `git config`.)
    `config` comes after the hardening list, so for a key that is in both the caller's value counts.
    `extra` adds variables or overrides them. Raise ValueError for one that no caller may set.
    """
    environment = {**base, **_GIT_VARIABLES, "GIT_DIR": str(git_dir)}
    environment["GIT_CONFIG_GLOBAL"] = environment["GIT_CONFIG_SYSTEM"] = str(empty_config)
    if work_tree is not None:
        environment["GIT_WORK_TREE"] = str(work_tree)
        environment["GIT_CEILING_DIRECTORIES"] = str(work_tree.parent)
    for name, value in (extra or {}).items():
        if name in _NEVER or name.startswith(_NEVER_PREFIXES):
            raise ValueError(f"{name} must not be set for git")
        environment[name] = value
    return {**environment, **config_variables((*HARDENING, *config))}


def config_variables(config: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return `config` as the `GIT_CONFIG_COUNT` family: it overrides every file and needs no quoting."""
    variables = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def ssh_config_program(ssh: Path, options: Sequence[tuple[str, str]]) -> str:
    """Return the text of an ssh configuration that is a program: named in `GIT_SSH`, it is `ssh -F itself`.

    `GIT_SSH` takes a program and no options, and `GIT_SSH_COMMAND` needs a shell to be split. The kernel starts
    `#!/usr/bin/ssh -F` with the file's own path as the next word, and to ssh that first line is a comment: so git
    reaches ssh with exactly these options, with no shell in its world. Write it to a host-owned file, mode 0555.
    Raise ValueError for a value that could end its line or its quotes.
    """
    lines = [f"#!{ssh} -F"]
    for key, value in options:
        if not key.isalnum() or any(character in value for character in '"\n\r\0'):
            raise ValueError(f"not an ssh option: {key}")
        lines.append(f'{key} "{value}"')
    return "\n".join(lines) + "\n"
