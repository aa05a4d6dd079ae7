"""What an executor that ends lets go of."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from executor_in_process import answered, started
from gateway_process import ConfiguredHost

pytestmark = pytest.mark.needs("git", "landlock")


def open_below(directory: Path) -> list[str]:
    """The files and directories in there that this process holds open."""
    names = []
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            names.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [name for name in names if name.startswith(f"{directory}/")]


def test_an_executor_that_was_closed_holds_nothing_of_its_host_open(host: ConfiguredHost) -> None:
    with started(host) as executor:
        answered(executor, host, "git_status.s1.flag")
        executor.publish_rest()
        assert open_below(host.root)

    assert open_below(host.root) == []
