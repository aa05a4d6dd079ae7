"""Why a git process failed, as a code and a hint (pure).

git's exit codes say little, so the reason is read from its messages; the language is fixed (C07) and a message that
is not known becomes the general code with git's own words. Nothing is decided from these messages but the wording.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from executor.errors import Failed, TimedOut

_SHOWN_BYTES = 2000  # of git's message; the interesting lines are the last ones

# (what stderr says, code, message, hint), first match wins.
_KNOWN: tuple[tuple[re.Pattern[str], str, str, str], ...] = tuple(
    (re.compile(pattern), code, message, hint)
    for pattern, code, message, hint in (
        (
            r"(?m)^(?:fatal|error): .*(?:[Oo]ut of memory|Cannot allocate memory)",
            "out_of_memory",
            "git needed more memory than one process may have here.",
            "A very large file is the usual reason: leave it out (name it in .gitignore), or name other paths.",
        ),
        (
            r"Host key verification failed|No \S+ host key is known|REMOTE HOST IDENTIFICATION HAS CHANGED",
            "host_key_unknown",
            "The remote's ssh host key is not among the known hosts.",
            "Ask an operator: the key has to be compared, and added to the file that GATEWAY_KNOWN_HOSTS names.",
        ),
        (
            r"Permission denied \(|could not read (Username|Password)|Authentication failed|HTTP Basic: Access denied"
            r"|returned error: 40[13]|Too many authentication failures|Load key .*: |incorrect passphrase",
            "auth_failed",
            "The remote did not accept the host's credentials, or asked for a password.",
            "Ask an operator to look at GATEWAY_SSH_KEY or GATEWAY_CREDENTIAL_FILE; nothing can be typed here.",
        ),
        (
            r"repository '.*' not found|Repository not found|does not appear to be a git repository"
            r"|returned error: 404|not a git repository",
            "remote_not_found",
            "There is no repository at the remote's address, or the credentials may not see it.",
            "Check the remote with git_check.",
        ),
        (
            r"unable to update url base from redirection|returned error: 30[1278]",
            "remote_moved",
            "The remote redirects elsewhere, and the gateway does not follow.",
            "Ask an operator to set the remote's new address.",
        ),
        (
            r"SSL certificate problem|certificate verification failed|SSL: no alternative certificate",
            "certificate_untrusted",
            "The remote's certificate is not trusted by this host.",
            "Ask an operator: the authority's certificate has to be installed, or named by GATEWAY_CA_FILE.",
        ),
        (
            r"Could not resolve host|Connection refused|Connection timed out|Network is unreachable|No route to host"
            r"|Failed to connect|Connection reset|Connection closed|Temporary failure in name resolution"
            r"|early EOF|unexpected disconnect|server hung up|returned error: 5\d\d",
            "remote_unreachable",
            "The remote could not be reached.",
            "Try again later; if it stays so, an operator has to look at the network.",
        ),
        (
            r"cannot (exec|run) '[^']*ssh[^']*'|cannot (exec|run) ssh",
            "ssh_not_started",
            "The host could not start ssh.",
            "The state directory must not be on a file system mounted noexec, and ssh must be installed.",
        ),
        (
            r"couldn't find remote ref|no such remote ref|Remote branch .* not found",
            "remote_ref_missing",
            "The remote has no such branch or tag.",
            "List what it has with git_cmd: ls-remote origin",
        ),
        (
            r"No such remote|No configured push destination|'[^']*' does not appear to be a git repository",
            "no_remote",
            "There is no such remote.",
            "git_check lists the configured remotes.",
        ),
        (
            r"/index\.lock': File exists",
            "index_locked",
            "Another git process holds the lock of the index, or one was left behind.",
            "Try again in a minute; git_recover looks into a lock that stays.",
        ),
        (
            r"\.lock': File exists|could not lock config file .*: File exists",
            "repository_locked",
            "Another git process holds a lock on a branch, tag or setting, or one was left behind.",
            "Try again in a minute; git_recover removes a lock that nobody holds once it is 10 minutes old.",
        ),
        (
            r"detected dubious ownership",
            "repo_ownership",
            "The repository belongs to another user than the gateway.",
            "An operator has to look: ops-gateway doctor, on the host.",
        ),
        (
            r"Please tell me who you are|Author identity unknown|Committer identity unknown|user\.useConfigOnly",
            "identity_unknown",
            "This repository has no name and e-mail to commit with.",
            "Raise git_set_config.flag with: Name | email",
        ),
        (
            r"[Nn]o (rebase|cherry-pick|revert|merge).* in progress|There is no merge (to abort|in progress)",
            "not_in_progress",
            "There is nothing to go on with or to abort.",
            "Go on; git_status shows how things are.",
        ),
        (
            r"You have not concluded your (merge|cherry-pick)|(rebase|cherry-pick|revert|merge).* in progress"
            r"|MERGE_HEAD exists|already a rebase-(merge|apply) directory",
            "operation_in_progress",
            "An earlier merge, rebase or cherry-pick is not finished.",
            "Finish or abort it first; git_status says which one it is.",
        ),
        (
            r"We are not bisecting|You need to start by \"git bisect start\"",
            "not_bisecting",
            "No bisection is in progress.",
            "Begin one with git_cmd: bisect start BAD GOOD",
        ),
        (
            r"after resolving the conflicts|fix conflicts and|Automatic merge failed|needs merge|unmerged"
            r"|Resolve all conflicts|could not apply",
            "conflicts",
            "There are conflicts to resolve.",
            "Resolve the files, git_add them and go on, or abort the operation.",
        ),
        (
            r"would be overwritten by|Please commit your changes or stash them|contains? (modified|unstaged) changes"
            r"|cannot \w+: You have unstaged|Your index contains uncommitted changes",
            "work_in_the_way",
            "Uncommitted work would be overwritten, so git stopped.",
            "Commit it (git_add, git_commit) or stash it first.",
        ),
        (
            r"refusing to merge unrelated histories",
            "unrelated_histories",
            "The two histories have no commit in common here.",
            "In a shallow clone fetch the rest first: fetch --unshallow",
        ),
        (
            r"Not possible to fast-forward|Diverging branches|diverged",
            "non_fast_forward",
            "The branches have diverged, so it is not a fast-forward.",
            "Merge or rebase onto the other side.",
        ),
        (
            r"pathspec '.*' did not match any file",
            "path_not_found",
            "There is no such path in the work tree or the repository.",
            "Check the spelling with git_status; paths are relative to the top of the work tree.",
        ),
        (
            r"paths are ignored by one of your \.gitignore files",
            "path_ignored",
            "The path is ignored by .gitignore, so it was not staged.",
            "To stage it all the same: git_cmd: add -f -- PATH",
        ),
        (
            r"is outside repository|is beyond a symbolic link|Invalid path",
            "path_outside",
            "The path does not lie in the work tree itself.",
            "Name a path inside of the work tree that does not lead through a symbolic link.",
        ),
        (
            r"unknown revision|bad revision|Needed a single revision|not a valid object name|ambiguous argument"
            r"|invalid reference|not something we can merge|Not a valid",
            "not_found_in_repository",
            "A name in the command is no commit, branch or file of this repository.",
            "Check the spelling; git_cmd: branch -a lists branches.",
        ),
        (
            r"already exists",
            "already_exists",
            "That name exists already.",
            "Choose another name, or ask for the existing one.",
        ),
        (
            r"checked out at|used by worktree",
            "branch_in_use",
            "The branch is checked out in a work tree.",
            "Switch that work tree to another branch first.",
        ),
        (
            r"No space left on device|Disk quota exceeded|File too large",
            "disk_full",
            "The host's disk is full.",
            "An operator has to make room.",
        ),
        (
            r"cannot (exec|run|fork)|Permission denied",
            "confined",
            "The command needed something that this gateway's confinement does not give.",
            "Do it another way; if it should work, an operator finds what git said in the result.",
        ),
    )
)


def failure(arguments: Sequence[str], exit_code: int, stderr: bytes) -> Failed:
    """Return the Failed that says why `git arguments` ended with `exit_code`."""
    text = stderr.decode("utf-8", "replace").replace("\r", "").strip()  # ssh ends its lines with CR LF
    shown = text[-_SHOWN_BYTES:]
    for pattern, code, message, hint in _KNOWN:
        if pattern.search(text):
            return Failed(code, f"{message} git said: {shown}", hint)
    what = f"git {arguments[0] if arguments else ''}".strip()
    said = f"{what} ended with exit code {exit_code}: {shown or 'it said nothing'}"
    return Failed("git_failed", said, "git's own words say why; git_status and git_check show how things are.")


def timeout(arguments: Sequence[str], seconds: float, *, remote: bool) -> TimedOut:
    """Return the TimedOut for a git process that was ended after `seconds`."""
    hint = (
        "The remote may be down or waiting for something that cannot be typed here; try again later. "
        "An operator can set GATEWAY_NETWORK_DEADLINE_SECONDS."
        if remote
        else "A FIFO in place of a file can cause this; for a very large tree an operator can set "
        "GATEWAY_DEADLINE_SECONDS."
    )
    what = f"git {next((word for word in arguments if not word.startswith('-')), '')}".strip()
    return TimedOut("remote_timeout" if remote else "timeout", f"{what} was ended after {seconds:g} seconds.", hint)
