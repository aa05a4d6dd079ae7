"""What another process records is heard of, although no word of it came."""

from __future__ import annotations

from contextlib import closing

from executor_in_process import answered, started
from gateway_process import ConfiguredHost

from executor.dispatch import Dispatcher


def test_what_another_process_records_is_told_once_by_the_round_that_finds_it(host: ConfiguredHost) -> None:
    heard: list[str] = []
    with started(host) as gateway, closing(Dispatcher(gateway.config)) as command_line:
        gateway.publish_rest()
        gateway.store.told = lambda: heard.append("news")
        with command_line.store.transaction() as tx:
            tx.append("operator.noted", data={"by": "cli:root"})
        assert heard == []
        gateway.publish_rest()
        gateway.publish_rest()
    assert heard == ["news"]


def test_what_the_gateway_records_itself_is_not_told_a_second_time(host: ConfiguredHost) -> None:
    heard: list[str] = []
    with started(host) as gateway:
        assert answered(gateway, host, "git_status.mine.flag", "")[0] == "succeeded"
        gateway.store.told = lambda: heard.append("news")
        gateway.publish_rest()
    assert heard == []
