"""What READY waits for, what it does not, and how that is said: once, and for as long as it is so."""

from __future__ import annotations

import pytest
from programs import until
from served_host import HURRIED, LAST_STATES, ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


def degraded(host: ServedHost) -> str:
    return host.cli("status").stdout


def test_e02_a_shared_directory_that_never_was_is_said_once_and_served_as_soon_as_it_is_there(
    host: ServedHost,
) -> None:
    host.shared.rmdir()
    with host.running(*HURRIED) as gateway:
        gateway.says("flags cannot be taken")
        until(lambda: "there is no directory" in degraded(host), "the trouble in the status")
        for _ in range(3):  # rounds in which it is still not there
            sweeps = host.state.joinpath("health.json").stat().st_mtime_ns
            until(lambda before=sweeps: host.state.joinpath("health.json").stat().st_mtime_ns != before, "a round")
        assert gateway.log.count("flags cannot be taken") == 1
        host.shared.mkdir()
        host.raise_flag("git_status.late.flag")
        assert host.in_state("late", *LAST_STATES)["state"] == "succeeded"
        gateway.says("flags are taken again")
        until(lambda: "there is no directory" not in degraded(host), "the end of the trouble")
        assert "Traceback" not in gateway.log


def test_e02_a_repository_that_is_not_adopted_is_said_with_its_mend_until_it_is(host: ServedHost) -> None:
    host.ok("release", "shop")
    with host.running(*HURRIED) as gateway:
        until(lambda: "not been adopted" in degraded(host), "the trouble in the status")
        assert gateway.log.count("has not been adopted") == 1
        assert host.ask("git_status.early.flag")["error"]["code"] == "not_adopted"
        host.ok("adopt", "shop", "--yes")
        until(lambda: "not been adopted" not in degraded(host), "the end of the trouble")
        assert host.ask("git_status.late.flag")["state"] == "succeeded"
