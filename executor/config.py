"""What the executor is told by whoever runs it: places, repositories, policy, limits. Frozen values, no defaults
that reach outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from executor.git.access import RemoteAccess
from executor.health.config import HealthConfig
from executor.laravel.config import LaravelConfig
from executor.policy.model import Operation, Policy


@dataclass(frozen=True, slots=True)
class RepositoryConfig:
    """One repository the agent may work in."""

    name: str
    work_tree: Path
    access: RemoteAccess = field(default_factory=RemoteAccess)
    submodules: bool = False  # git may start inside the nested repositories of the work tree
    lfs: bool = False  # git may start Git LFS for the files that the work tree marks for it


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep memory, disk and patience finite (promise 6)."""

    claims_per_sweep: int = 1000  # the rest waits in the shared directory for the next round
    open_requests: int = 5000  # beyond it new flags wait in the shared directory
    awaiting_approval: int = 20  # per repository; beyond it requests that ask are refused (approval fatigue)
    results_kept: int = 2000  # newest result files in results/
    retention_days: int = 30
    rescue_days: int = 30
    rescues_kept: int = 1000  # per repository
    add_bytes: int = 512 * 1024**2  # that one git_add may stage
    deadline_seconds: float = 120.0  # one git process; network operations get `network_deadline_seconds`
    network_deadline_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class ExecutorConfig:
    """Everything the executor needs to know."""

    shared_dir: Path
    state_dir: Path
    repositories: tuple[RepositoryConfig, ...]  # the default one first
    host: str
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    run_without_confinement: bool = False
    database_url: str = ""  # "" is SQLite in state_dir
    secrets: tuple[str, ...] = ()  # literal secrets that must never leave the host
    laravel: LaravelConfig | None = None
    health: HealthConfig = field(default_factory=HealthConfig)

    @property
    def not_configured(self) -> frozenset[Operation]:
        """The operations that this host has no set-up for."""
        needs = {Operation.RESTART_QUEUE: self.laravel}
        return frozenset(operation for operation, setup in needs.items() if setup is None)
