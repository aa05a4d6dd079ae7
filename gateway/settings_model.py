"""The settings themselves: what each is called, what it means, what it may be."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from executor.laravel.config import LaravelConfig
from executor.policy.model import Operation, RiskClass
from gateway import settings_sources as sources
from gateway import settings_values as values
from gateway.settings_fields import AbsolutePath, Words
from gateway.settings_fields import setting as _field
from gateway.settings_health import HealthSettings
from gateway.settings_queues import QueueSettings, laravel_config

Operations = Annotated[tuple[Operation, ...], NoDecode, BeforeValidator(values.operations)]
UserIds = Annotated[tuple[int, ...], NoDecode, BeforeValidator(values.user_ids)]
PerClass = Annotated[dict[RiskClass, int], NoDecode, BeforeValidator(values.per_class)]
Token = Annotated[SecretStr, AfterValidator(values.bot_token)]
ApiUrl = Annotated[str, AfterValidator(values.web_address)]
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class RepositorySettings(BaseModel):
    """One repository that the host serves; in `gateway.toml` a `[[repositories]]` table."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=f"^{values.NAME.pattern}$")]
    path: AbsolutePath
    ssh_key: AbsolutePath | None = None
    known_hosts: AbsolutePath | None = None
    credential_file: AbsolutePath | None = None
    ca_file: AbsolutePath | None = None
    ssh_agent: AbsolutePath | None = None
    allow_submodules: bool = False
    allow_lfs: bool = False


def _default_state_dir() -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/ops-gateway")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "ops-gateway"


class Settings(QueueSettings, HealthSettings, BaseSettings):
    """Every setting; `GATEWAY_` and the field's name in capitals is the environment variable."""

    model_config = SettingsConfigDict(
        env_prefix=sources.PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    shared_dir: AbsolutePath = _field(
        "The directory that the agent's container shares with the host: flags come in, results go out.",
        "/srv/agent/shared",
    )
    repo_dir: AbsolutePath | None = _field(
        "The work tree of the default repository. Further ones stand in gateway.toml.",
        "/srv/agent/shop",
        default=None,
    )
    state_dir: AbsolutePath = _field(
        "What the host keeps for itself: database, audit log, adopted git directories. Never visible to the agent. "
        "Default: /var/lib/ops-gateway for root, else ~/.local/state/ops-gateway.",
        "/var/lib/ops-gateway",
        default_factory=_default_state_dir,
    )
    database_url: SecretStr = _field(
        "The database, as an SQLAlchemy URL. Default: gateway.db in the state directory.",
        "sqlite:////var/lib/ops-gateway/gateway.db",
        default=SecretStr(""),
    )
    host_name: HostName = _field(
        "What this host is called in approvals and in the audit log. Default: the machine's own name.",
        "web-1",
        default_factory=socket.gethostname,
        validate_default=True,
    )
    approve: Operations = _field(
        "Operations that ask an operator first although they would run by default; `*` is all of them.",
        "git_push,restart_queue",
        default=(),
    )
    protected_branches: Words = _field(
        "Branches, as patterns, that are pushed to only after an operator said yes.", "main,release/*", default=()
    )
    quorum: PerClass = _field(
        "How many operators must agree: a number for all classes, or class:number. Default: 1.",
        "1,force:2",
        default_factory=dict,
    )
    approval_expiry_seconds: PerClass = _field(
        "How long an approval may be given before the request expires: for all classes, or class:seconds. "
        "Default: 3600.",
        "3600,force:900",
        default_factory=dict,
    )
    ssh_key: AbsolutePath | None = _field(
        "The private key that git uses towards the remote of GATEWAY_REPO_DIR.",
        "/etc/ops-gateway/id_ed25519",
        default=None,
    )
    known_hosts: AbsolutePath | None = _field(
        "The host keys that are accepted for it.", "/etc/ops-gateway/known_hosts", default=None
    )
    credential_file: AbsolutePath | None = _field(
        "A git credential store (https://user:token@host a line) for a remote over HTTPS.",
        "/etc/ops-gateway/git-credentials",
        default=None,
    )
    ca_file: AbsolutePath | None = _field(
        "The authorities (PEM) that an HTTPS remote's certificate is checked against, in place of the system's.",
        "/etc/ops-gateway/ca.pem",
        default=None,
    )
    ssh_agent: AbsolutePath | None = _field(
        "The socket of an ssh agent that holds the key, where there is no GATEWAY_SSH_KEY.",
        "/run/user/1000/ssh-agent.socket",
        default=None,
    )
    confine: Literal["required"] = _field(
        "git runs in a kernel sandbox; where the kernel cannot, operations that touch the work tree are refused. "
        "There is no other value: to run them all the same is the next setting.",
        "required",
        default="required",
    )
    unsafe_run_without_confinement: bool = _field(
        "Run git where the kernel cannot confine it. Whoever can write the work tree can then make git read and "
        "write the gateway user's files and run programs.",
        "false",
        default=False,
    )
    unsafe_allow_local_remotes: bool = _field(
        "Let a remote be a directory of this host. Talking to it starts a shell and that repository's own hooks "
        "here, as the gateway's user.",
        "false",
        default=False,
    )
    telegram_bot_token: Token = _field(
        "The token of the bot through which operators are told and asked. Without it the gateway works without "
        "Telegram, and decisions are taken on the command line.",
        "123456789:the-token-that-BotFather-gave",
        default=SecretStr(""),
    )
    telegram_chat_id: int | None = _field(
        "The one chat where operators are: a group's id (it begins with -), or one person's for a private chat.",
        "-1001234567890",
        default=None,
    )
    telegram_topic_id: int | None = _field("The topic in it, where the group is a forum.", "42", default=None, ge=0)
    telegram_operator_ids: UserIds = _field(
        "Who may decide: numeric user ids. An empty list is nobody.", "11111111,22222222", default=()
    )
    telegram_api_url: ApiUrl = _field(
        "A Bot API server of your own, in place of Telegram's.", "http://127.0.0.1:8081", default=""
    )
    telegram_quiet: bool = _field(
        "Do not tell of what ran by itself and went well; everything else is told all the same.",
        "false",
        default=False,
    )
    allow_submodules: bool = _field(
        "Let GATEWAY_REPO_DIR have submodules. git then starts inside nested repositories that the agent writes, and "
        "only the kernel keeps that harmless: where it cannot confine git, such a repository is refused.",
        "false",
        default=False,
    )
    allow_lfs: bool = _field(
        "Let git start Git LFS for the files of GATEWAY_REPO_DIR that its .gitattributes marks for it. A second "
        "program then reads what the agent writes, confined as git is, and transfers may also connect to port 443; "
        "where the kernel cannot confine it, such a repository is refused.",
        "false",
        default=False,
    )
    deadline_seconds: float = _field(
        "How long one git process may take, in seconds.", "120", default=120.0, gt=0, le=86_400
    )
    network_deadline_seconds: float = _field(
        "The same for one that talks to a remote.", "300", default=300.0, gt=0, le=86_400
    )
    retention_days: int = _field(
        "How long the output and the body of ended requests are kept, in days; what else is known of them four "
        "times as long. Of the files in results/ the newest 2,000 are kept.",
        "30",
        default=30,
        ge=1,
        le=3650,
    )
    rescue_days: int = _field(
        "How long what an operation could have lost is kept (refs/rescue), in days; at most the newest 1,000, and "
        "those of what operators agreed to.",
        "30",
        default=30,
        ge=1,
        le=3650,
    )
    stop_grace_seconds: int = _field(
        "How long a running operation may go on when the gateway is told to stop.", "60", default=60, ge=0, le=3600
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _field(
        "How much is logged on standard error.", "INFO", default="INFO"
    )
    repositories: Annotated[tuple[RepositorySettings, ...], NoDecode] = Field(
        default=(), description="Further repositories; only in gateway.toml."
    )

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return values.plain(value)

    @field_validator("repositories", mode="before")
    @classmethod
    def _only_in_toml(cls, value: object) -> object:
        if isinstance(value, str):
            raise ValueError("can only be given in gateway.toml, as [[repositories]] tables")
        return value

    @property
    def served(self) -> tuple[RepositorySettings, ...]:
        """Every repository, the default one first."""
        if self.repo_dir is None:
            return self.repositories
        first = RepositorySettings(
            name=values.repository_name(self.repo_dir),
            path=self.repo_dir,
            ssh_key=self.ssh_key,
            known_hosts=self.known_hosts,
            credential_file=self.credential_file,
            ca_file=self.ca_file,
            ssh_agent=self.ssh_agent,
            allow_submodules=self.allow_submodules,
            allow_lfs=self.allow_lfs,
        )
        return (first, *self.repositories)

    @property
    def laravel(self) -> LaravelConfig | None:
        """The application whose queues are watched; None where there is none."""
        return laravel_config(self, agent_dirs=(self.shared_dir, *(each.path for each in self.served)))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, credentials, env file, gateway.toml: the first that names a setting counts."""
        return (
            init_settings,
            env_settings,
            sources.NamedValues(settings_cls, sources.read_credentials(os.environ, settings_cls.model_fields)),
            sources.NamedValues(settings_cls, sources.read_env_file(sources.env_file(os.environ))),
            TomlConfigSettingsSource(settings_cls, sources.config_file(os.environ)),
        )
