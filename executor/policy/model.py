"""The values that deciding is made of: operations, classes, requests, decisions. All frozen, all pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from executor.errors import Problem, Refused


class Operation(StrEnum):
    """What a flag can ask for. The value is the flag's file name without `.flag`."""

    GIT_STATUS = "git_status"
    GIT_ADD = "git_add"
    GIT_COMMIT = "git_commit"
    GIT_PUSH = "git_push"
    GIT_CHECK = "git_check"
    GIT_SET_CONFIG = "git_set_config"
    GIT_CMD = "git_cmd"
    GIT_RECOVER = "git_recover"
    RESTART_QUEUE = "restart_queue"
    HEALTH_CHECK = "health_check"


class RiskClass(StrEnum):
    """How much can go wrong, mildest first; members compare by `severity`."""

    READ = "read"  # changes nothing
    CHANGE = "change"  # local and undoable
    REWRITE = "rewrite"  # can lose work or history
    PUBLISH = "publish"  # moves a remote branch forward
    FORCE = "force"  # moves a remote ref otherwise (rewinds, deletes, tags)
    NEVER = "never"  # is refused whoever asks

    @property
    def severity(self) -> int:
        return list(RiskClass).index(self)


class Contact(StrEnum):
    """What the git process touches; names the confinement profile it runs in (design: wall 3)."""

    NONE = "none"  # the local repository only, no work tree
    READ = "read"  # + work tree read-only
    WRITE = "write"  # + work tree read-write
    REMOTE = "remote"  # the transfer repository and the network, no work tree


@dataclass(frozen=True, slots=True)
class NoParams:
    """Operations that take nothing: git_status, git_check, git_recover, health_check."""


@dataclass(frozen=True, slots=True)
class AddParams:
    paths: tuple[str, ...]  # relative to the work tree, literal; (".",) is everything


@dataclass(frozen=True, slots=True)
class CommitParams:
    message: str  # verbatim, may be several lines


@dataclass(frozen=True, slots=True)
class PushParams:
    branch: str | None  # short name; None is the repository's default branch


@dataclass(frozen=True, slots=True)
class SetConfigParams:
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class CmdParams:
    words: tuple[str, ...]  # as the lexer split them (or the typed form gave them), "git" prefix removed


@dataclass(frozen=True, slots=True)
class QueueParams:
    queue: str | None  # a configured queue name; None is all of them


Params = NoParams | AddParams | CommitParams | PushParams | SetConfigParams | CmdParams | QueueParams


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the agent made it: decoded and parsed, not judged."""

    operation: Operation
    params: Params
    repo: str = ""  # configured repository name; "" is the default one
    request_id: str = ""
    reason: str = ""  # the agent's own words, untrusted
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A judged git command: what the grammar understood of a `git_cmd` line.

    `argv` is canonical and complete as a person would type it (starts with "git"); it is what operators see and
    what the approval binds. Options, operands and paths are the same words taken apart, for the runner.
    """

    subcommand: str  # e.g. "log", "stash push", "remote show"
    argv: tuple[str, ...]
    risk: RiskClass
    contact: Contact
    runner: str  # which action runs it: "local", "commit", "fetch", "pull", "push", "ls_remote", ...
    options: tuple[tuple[str, str | None], ...] = ()  # (exact option, value) in order
    operands: tuple[str, ...] = ()  # revisions, names, refspecs, before `--`
    paths: tuple[str, ...] = ()  # after `--`, or operands that can only be paths
    inject: tuple[str, ...] = ()  # host's own options, directly after the sub-command
    reasons: tuple[str, ...] = ()  # why it has its class, in plain words


@dataclass(frozen=True, slots=True)
class Policy:
    """What the host's configuration says about deciding."""

    approve: frozenset[Operation] = frozenset()  # typed operations that ask first
    protected_branches: tuple[str, ...] = ()  # glob patterns; a push to one asks
    quorum: Mapping[RiskClass, int] = field(default_factory=dict)  # votes needed, default 1
    expiry_seconds: Mapping[RiskClass, int] = field(default_factory=dict)  # default 3600
    repositories: tuple[str, ...] = ()  # configured names, the default one first; () = not known


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the host when deciding; `None` means not known (as in `explain` without a repository)."""

    branches: frozenset[str] | None = None  # short local branch names
    default_branch: str | None = None
    push_secret: str | None = None  # what kind of secret the outgoing commits seem to hold
    frozen: str | None = None  # why operators froze the gateway, if they did
    not_configured: frozenset[Operation] = frozenset()  # operations this host has no set-up for
    queues: tuple[str, ...] | None = None  # the queues that this host is set up for


@dataclass(frozen=True, slots=True)
class Run:
    """Run it now."""

    risk: RiskClass
    argv: tuple[str, ...]
    command: Command | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Put it to operators; `quorum` of them must say yes within `expiry_seconds`."""

    risk: RiskClass
    argv: tuple[str, ...]
    reasons: tuple[str, ...]
    quorum: int = 1
    expiry_seconds: int = 3600
    command: Command | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse it: `code` for programs, `reason` and `hint` for people (and models)."""

    code: str
    reason: str
    hint: str = ""
    risk: RiskClass = RiskClass.NEVER
    argv: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: Problem) -> Refuse:
        """Return the decision not to do what met `problem`."""
        return cls(problem.code, problem.message, problem.hint)

    def problem(self) -> Refused:
        """Return what is raised where such a decision ends what is being done."""
        return Refused(self.code, self.reason, self.hint)


Decision = Run | Ask | Refuse
