"""Logging, set up in one place: one stream, no secrets, no tracebacks with local variables, one line a message.

The audit log is not kept here: a logger may drop what it cannot write (loguru does, by default).
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from loguru import logger

from executor.record.display import visible
from executor.record.redaction import redact

if TYPE_CHECKING:
    from loguru import Record

# syslog(3) priorities; journald reads them from the start of a line written to standard error
_PRIORITIES = {"CRITICAL": 2, "ERROR": 3, "WARNING": 4, "SUCCESS": 5, "INFO": 6, "DEBUG": 7, "TRACE": 7}
_TERMINAL_FORMAT = "{time:YYYY-MM-DDTHH:mm:ss.SSSZZ} {level: <7} {message}{extra[trace]}\n"
_JOURNAL_FORMAT = "<{extra[priority]}>{message}{extra[trace]}\n"  # journald knows time and unit itself


def configure(level: str, redact: Callable[[str], str] = redact, stream: TextIO | None = None) -> None:
    """Send everything that is logged, by us or by libraries, to `stream` (standard error), from `level` upwards.

    `redact` masks secrets in each message and each traceback; what would hide in them is made visible, line breaks
    in messages too. Libraries are heard from WARNING upwards: httpx writes URLs with tokens at INFO (A25).
    """
    target = stream or sys.stderr

    def patch(record: Record) -> None:
        record["message"] = visible(redact(record["message"]))
        record["extra"]["priority"] = _PRIORITIES.get(record["level"].name, 6)
        record["extra"]["trace"] = ""
        if record["exception"] is not None:
            kind, value, trace = record["exception"]
            text = redact("".join(traceback.format_exception(kind, value, trace)).rstrip())
            record["extra"]["trace"] = "\n" + visible(text, multiline=True)
            record["exception"] = None  # ours is in place of loguru's own, which would not be cleaned

    form = _JOURNAL_FORMAT if _is_journal(target) else _TERMINAL_FORMAT
    logger.remove()
    logger.configure(patcher=patch)
    logger.add(
        target,
        level=level,
        format=lambda _record: form,
        colorize=False,
        backtrace=False,
        diagnose=False,  # loguru would print the values of local variables (G01)
    )
    logging.basicConfig(handlers=[_Routed()], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


class _Routed(logging.Handler):
    """What libraries log through the standard module, handed on as a value, never as a format (G03)."""

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname if record.levelname in _PRIORITIES else record.levelno
        logger.opt(exception=record.exc_info).log(level, "{}: {}", record.name, record.getMessage())


def _is_journal(stream: TextIO) -> bool:
    """Return whether `stream` is the journal's own socket: systemd says which in `JOURNAL_STREAM` (device:inode)."""
    try:
        facts = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM", "") == f"{facts.st_dev}:{facts.st_ino}"
