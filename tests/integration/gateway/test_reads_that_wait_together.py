"""Requests that only read and wait together: each gets its own result, and equal ones share one run of git."""

from __future__ import annotations

import json

import pytest
from executor_in_process import started
from gateway_process import ConfiguredHost

from executor.sandbox.process import Completed, ProcessRunner

pytestmark = pytest.mark.needs("git", "landlock")


class Runs:
    """Counts the programs that are started, and lets each of them run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, ...]] = []
        real = ProcessRunner.run

        def counted(runner: ProcessRunner, argv: tuple[str, ...], **options: object) -> Completed:
            self.seen.append(tuple(argv))
            return real(runner, argv, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(ProcessRunner, "run", counted)

    def of(self, subcommand: str) -> int:
        return sum(subcommand in argv for argv in self.seen)


def result(host: ConfiguredHost, name: str) -> dict[str, object]:
    found = json.loads((host.shared / "results" / f"{name}.json").read_text())
    assert isinstance(found, dict)
    return found


def test_equal_reads_share_one_git_and_each_has_its_own_answer(
    host: ConfiguredHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(host) as dispatcher:
        for number in range(10):
            (host.shared / f"git_status.s{number}.flag").write_text("")
        (host.shared / "git_cmd.log.flag").write_text("git log --oneline -1")
        dispatcher.take(settle=False)
        runs = Runs(monkeypatch)
        while dispatcher.run_next("shop"):
            pass

    answers = [result(host, f"s{number}") for number in range(10)]
    assert runs.of("status") == 1
    assert runs.of("log") == 1
    assert {answer["state"] for answer in answers} == {"succeeded"}
    assert [answer["id"] for answer in answers] == [f"s{number}" for number in range(10)]
    assert len({str(answer["output"]) for answer in answers}) == 1


def test_a_read_after_a_change_sees_the_change_and_not_the_earlier_answer(host: ConfiguredHost) -> None:
    (host.work_tree / "fresh.txt").write_text("fresh\n")
    with started(host) as dispatcher:
        for name, body in (("git_status.before", ""), ("git_add.between", "fresh.txt"), ("git_status.after", "")):
            (host.shared / f"{name}.flag").write_text(body)
            dispatcher.take(settle=False)
        while dispatcher.run_next("shop"):
            pass

    assert "Untracked files" in str(result(host, "before")["output"])
    assert "new file:   fresh.txt" in str(result(host, "after")["output"])
