"""The executor of a configured host in this process, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from gateway_process import ConfiguredHost

from executor.config import ExecutorConfig, Limits, RepositoryConfig
from executor.dispatch import Dispatcher
from executor.record import requests


@contextmanager
def started(host: ConfiguredHost, **limits: float) -> Iterator[Dispatcher]:
    """An executor of this host that has looked at what an earlier one left."""
    config = ExecutorConfig(
        shared_dir=host.shared,
        state_dir=host.state,
        repositories=(RepositoryConfig("shop", host.work_tree),),
        host="test-host",
        limits=Limits(**limits),  # type: ignore[arg-type],
    )
    with closing(Dispatcher(config)) as dispatcher:
        dispatcher.recover()
        yield dispatcher


def answered(dispatcher: Dispatcher, host: ConfiguredHost, name: str, body: str = ".") -> tuple[str, str]:
    """Raise a flag OP.ID.flag, run what is queued, and return the request's state and error code."""
    (host.shared / name).write_text(body)
    dispatcher.take(settle=False)
    while dispatcher.run_next("shop"):
        pass
    with dispatcher.store.reading() as view:
        row = requests.get(view, name.split(".")[1])
    assert row is not None
    return row.state, ((row.result or {}).get("error") or {}).get("code", "")
