"""A log that nobody reads any more: the service goes on, and ends as if it had been read."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from programs import DEADLINE, until
from served_host import ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


def test_a08_a_gateway_whose_log_is_not_read_any_more_serves_on_and_stops_in_order(host: ServedHost) -> None:
    reader, writer = os.pipe()
    gateway = subprocess.Popen(
        host.argv("-m", "gateway", "run"), cwd=host.root, env=host.environment(), stdin=subprocess.DEVNULL,
        stdout=writer, stderr=writer,
    )  # fmt: skip
    os.close(writer)
    try:
        said = b""
        while b"READY" not in said:
            more = os.read(reader, 4096)
            assert more, said
            said += more
        os.close(reader)
        host.shared.rename(host.root / "away")  # something to complain of
        host.shared.mkdir()
        assert host.ask("git_status.unread.flag")["state"] == "succeeded"
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(DEADLINE) == 0
    finally:
        gateway.kill()
        gateway.wait()


def test_a_tick_whose_output_is_not_read_does_its_round(host: ServedHost) -> None:
    host.raise_flag("git_status.round.flag")
    reader, writer = os.pipe()
    os.close(reader)

    def ticked() -> bool:
        argv, settings = host.argv("-m", "gateway", "tick"), host.environment(GATEWAY_LOG_LEVEL="DEBUG")
        done = subprocess.run(argv, cwd=host.root, env=settings, stdout=writer, stderr=writer, timeout=120)
        assert done.returncode == 0
        return host.result("round").get("state") == "succeeded"

    try:
        until(ticked, "the answer, once the flag has settled")
    finally:
        os.close(writer)
