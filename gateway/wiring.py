"""From settings to the executor: the one place where the two are tied together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from executor.config import ExecutorConfig, Limits, RepositoryConfig
from executor.errors import Refused
from executor.git.access import RemoteAccess
from executor.policy.model import Policy
from executor.record.redaction import Redactor
from gateway.settings_model import Settings

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher
    from executor.record.store import Store


def policy(settings: Settings) -> Policy:
    """Given the settings, return what they say about deciding."""
    return Policy(
        approve=frozenset(settings.approve),
        protected_branches=settings.protected_branches,
        quorum=settings.quorum,
        expiry_seconds=settings.approval_expiry_seconds,
        repositories=tuple(repository.name for repository in settings.served),
    )


def executor_config(settings: Settings) -> ExecutorConfig:
    """Given the settings, return all that the executor needs to know."""
    return ExecutorConfig(
        shared_dir=settings.shared_dir,
        state_dir=settings.state_dir,
        repositories=tuple(
            RepositoryConfig(
                name=each.name,
                work_tree=each.path,
                access=RemoteAccess(
                    ssh_key=each.ssh_key,
                    known_hosts=each.known_hosts,
                    credential_file=each.credential_file,
                    ca_file=each.ca_file,
                    ssh_agent=each.ssh_agent,
                    allow_local_remote=settings.unsafe_allow_local_remotes,
                ),
                submodules=each.allow_submodules,
                lfs=each.allow_lfs,
            )
            for each in settings.served
        ),
        host=settings.host_name,
        policy=policy(settings),
        limits=Limits(
            retention_days=settings.retention_days,
            rescue_days=settings.rescue_days,
            deadline_seconds=settings.deadline_seconds,
            network_deadline_seconds=settings.network_deadline_seconds,
        ),
        run_without_confinement=settings.unsafe_run_without_confinement,
        database_url=settings.database_url.get_secret_value(),
        secrets=secrets(settings),
        laravel=settings.laravel,
        health=settings.health,
    )


def secrets(settings: Settings) -> tuple[str, ...]:
    """Given the settings, return the literal secrets in them, which must never be shown."""
    urls = (settings.database_url, settings.queue_source, settings.queue_failed_url)
    passwords = (unquote(urlsplit(url.get_secret_value()).password or "") for url in urls)
    token = settings.telegram_bot_token.get_secret_value()
    return tuple(secret for secret in (token, token.partition(":")[2], *passwords) if secret)


def redactor(settings: Settings) -> Redactor:
    """Given the settings, return what masks known forms of secrets and the ones of this host."""
    return Redactor(secrets(settings))


def dispatcher(settings: Settings) -> Dispatcher:
    """Given the settings, open the executor. It is heavy to import, so only those who run it do.

    Raise Refused for anybody but the owner of the state directory.
    """
    from executor.dispatch import Dispatcher

    _require_owner(settings)
    made = Dispatcher(executor_config(settings))
    if settings.telegram_bot_token.get_secret_value():
        from gateway.telegram.approval_card import fits
        from gateway.telegram.card_model import Place

        made.ask_only_if(partial(fits, Place(settings.host_name, made.store.redactor)))
    return made


@contextmanager
def record(settings: Settings) -> Iterator[Store]:
    """Given the settings, open the record for as long as the block lasts, beside a gateway that may be running.

    Raise Refused for anybody but the owner of the state directory.
    """
    from executor.opening import open_store

    _require_owner(settings)
    store = open_store(executor_config(settings))
    try:
        yield store
    finally:
        store.close()


def _require_owner(settings: Settings) -> None:
    """Make the state directory if need be; refuse others than its owner, root too: its files would be in the way."""
    settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = settings.state_dir.stat().st_uid
    if owner != os.geteuid():
        raise Refused(
            "not_the_owner",
            f"the state directory belongs to uid {owner}, which is not you",
            f"sudo -u '#{owner}' ops-gateway ...",
        )
