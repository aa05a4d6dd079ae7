"""Counting the queues of this host, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from executor.errors import Refused

if TYPE_CHECKING:
    from executor.laravel.model import QueueSample
    from executor.sandbox.process import ProcessRunner
    from gateway.settings_model import Settings


def counter(settings: Settings, runner: ProcessRunner) -> Callable[[datetime], QueueSample]:
    """Return what counts the queues at a moment. Raises Refused where no queues are configured.

    What counts is imported only here: a host without queues never loads it.
    """
    config = settings.laravel
    if config is None:
        raise Refused("not_configured", "no queues are watched here", "set GATEWAY_QUEUE_NAMES (docs/settings.md)")
    from executor.laravel.counts import count_queues

    return lambda at: count_queues(config, runner, at)
