"""From settings to the executor: nothing that was configured gets lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.policy.model import Operation, RiskClass
from gateway import settings, wiring


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("SHARED_DIR", "REPO_DIR", "STATE_DIR"):
        monkeypatch.setenv(f"GATEWAY_{variable}", str(tmp_path / variable.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_setting_reaches_the_executor(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        name: configured / name.lower()
        for name in ("SSH_KEY", "KNOWN_HOSTS", "CREDENTIAL_FILE", "CA_FILE", "SSH_AGENT")
    }
    values = {
        "HOST_NAME": "web-1",
        "DATABASE_URL": "postgresql://gateway:hunter2@db/gateway",
        "APPROVE": "git_push",
        "PROTECTED_BRANCHES": "main",
        "QUORUM": "force:2",
        "APPROVAL_EXPIRY_SECONDS": "60",
        "UNSAFE_RUN_WITHOUT_CONFINEMENT": "true",
        "DEADLINE_SECONDS": "7",
        "NETWORK_DEADLINE_SECONDS": "8",
        "RETENTION_DAYS": "9",
        "RESCUE_DAYS": "10",
        "ALLOW_SUBMODULES": "true",
        "ALLOW_LFS": "true",
        **{name: str(path) for name, path in files.items()},
    }
    for name, value in values.items():
        monkeypatch.setenv(f"GATEWAY_{name}", value)
    config = wiring.executor_config(settings.load())
    (repository,) = config.repositories
    assert (config.host, config.database_url, config.run_without_confinement) == (
        "web-1",
        values["DATABASE_URL"],
        True,
    )
    assert (config.shared_dir, config.state_dir) == (configured / "shared_dir", configured / "state_dir")
    assert (repository.name, repository.work_tree) == ("repo_dir", configured / "repo_dir")
    assert repository.submodules
    assert repository.lfs
    access = repository.access
    assert {
        "SSH_KEY": access.ssh_key,
        "KNOWN_HOSTS": access.known_hosts,
        "CREDENTIAL_FILE": access.credential_file,
        "CA_FILE": access.ca_file,
        "SSH_AGENT": access.ssh_agent,
    } == files
    assert config.policy.approve == {Operation.GIT_PUSH}
    assert config.policy.protected_branches == ("main",)
    assert config.policy.quorum == {RiskClass.FORCE: 2}
    assert config.policy.expiry_seconds[RiskClass.PUBLISH] == 60
    assert config.policy.repositories == ("repo_dir",)
    limits = config.limits
    assert (limits.deadline_seconds, limits.network_deadline_seconds) == (7, 8)
    assert (limits.retention_days, limits.rescue_days) == (9, 10)
    assert config.secrets == ("hunter2",)


@pytest.mark.usefixtures("configured")
def test_the_database_password_is_masked_wherever_something_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_DATABASE_URL", "postgresql://gateway:p%40ssw0rd@db/gateway")
    redact = wiring.redactor(settings.load())
    assert "ssw0rd" not in redact("could not connect as gateway with p@ssw0rd or p%40ssw0rd")
