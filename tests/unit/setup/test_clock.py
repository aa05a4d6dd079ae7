"""What the kernel says of its clock, as the doctor passes it on; all of it is only advice."""

from __future__ import annotations

import errno
import os

import pytest

from executor.health.host import Clock
from gateway import settings
from gateway.setup import checks_host


def said(monkeypatch: pytest.MonkeyPatch, answer: Clock | OSError) -> tuple[str, str]:
    def read_clock() -> Clock:
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(checks_host, "read_clock", read_clock)
    (check,) = checks_host.clock(settings.Settings.model_construct())
    assert check.level == "ok"
    return check.what, check.command


def test_a_clock_that_something_keeps_is_told_from_one_that_nothing_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, Clock(True, 0.01)) == ("the kernel says that it is synchronised", "")
    what, command = said(monkeypatch, Clock(False, 16.0))
    assert "not kept" in what
    assert command


def test_a_kernel_that_may_not_be_asked_does_not_pass_for_a_clock_that_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    what, _ = said(monkeypatch, OSError(errno.EPERM, os.strerror(errno.EPERM)))

    assert "does not say" in what
    assert "synchronised" not in what
