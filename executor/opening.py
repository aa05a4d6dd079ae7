"""Opening the record of this host: where it lies, with which key, as whom."""

from __future__ import annotations

from executor.config import ExecutorConfig
from executor.record.audit import load_or_create_key
from executor.record.redaction import Redactor
from executor.record.store import Store


def open_store(config: ExecutorConfig) -> Store:
    """Return the record that `config` names, made where there is none. Raises ConfigError or Unavailable."""
    key = load_or_create_key(config.state_dir / "audit.key")
    url = config.database_url or f"sqlite:///{config.state_dir / 'gateway.db'}"
    anchor = config.state_dir / "audit.anchor"
    return Store.open(url, host=config.host, key=key, anchor=anchor, redactor=Redactor(config.secrets))
