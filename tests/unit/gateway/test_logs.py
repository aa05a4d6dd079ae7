"""Logging: nothing secret, nothing interpreted, one line a message, libraries included."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from gateway import logs

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def mask(text: str) -> str:
    return text.replace(SECRET, "***")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """A stream that everything logged goes to, at DEBUG; the loggers are as before afterwards."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    target = io.StringIO()
    logs.configure("DEBUG", mask, target)
    yield target
    logger.remove()
    logging.captureWarnings(False)
    root.handlers[:] = before
    root.setLevel(level)


def test_g01_a_traceback_shows_neither_local_variables_nor_secrets_in_its_message(stream: io.StringIO) -> None:
    token = SECRET
    try:
        raise RuntimeError(f"refused {token}")
    except RuntimeError:
        logger.exception("it broke")
    assert "RuntimeError: refused ***" in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_g03_text_with_braces_and_tags_is_logged_as_it_is(stream: io.StringIO) -> None:
    logger.info("git said {}", "{x} {0} <red>no</red> %s")
    assert "git said {x} {0} <red>no</red> %s" in stream.getvalue()


def test_a_message_with_line_breaks_stays_one_line(stream: io.StringIO) -> None:
    logger.info("{}", "first\n2026-01-01T00:00:00 INFO forged")
    assert len(stream.getvalue().splitlines()) == 1


def test_a25_what_libraries_log_is_masked_and_heard_from_warning_upwards(stream: io.StringIO) -> None:
    logging.getLogger("httpx").info("GET /bot%s/getUpdates", SECRET)
    logging.getLogger("httpx").warning("GET /bot%s/getUpdates {x}", SECRET)
    assert stream.getvalue().count("httpx: GET /bot***/getUpdates {x}") == 1
    assert len(stream.getvalue().splitlines()) == 1


def test_warnings_of_libraries_are_logged(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old", UserWarning, stacklevel=1)
    assert "UserWarning: old" in stream.getvalue()


def test_the_journal_is_given_a_priority_and_no_time_of_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO
) -> None:
    with (tmp_path / "journal").open("w+") as journal:
        facts = os.fstat(journal.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{facts.st_dev}:{facts.st_ino}")
        logs.configure("INFO", mask, journal)
        logger.warning("disk is full")
        logger.remove()
        journal.seek(0)
        assert journal.read() == "<4>disk is full\n"
    assert stream.getvalue() == ""
