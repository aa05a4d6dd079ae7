"""The command line: which verbs there are, and how a verb's end becomes an exit code.

Exit codes: 0 done; 1 no (the answer is no, or it could not be done); 2 the command line is wrong; 70 a bug; 78 the
configuration is wrong (EX_CONFIG: systemd is told not to restart on it, E10); 130 interrupted; 141 nobody reads what
is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import TextIO

from executor.errors import ConfigError, Problem, Unavailable

EXIT_OK, EXIT_NO, EXIT_USAGE, EXIT_BUG, EXIT_CONFIG, EXIT_INTERRUPTED = 0, 1, 2, 70, 78, 130
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE  # what a shell says of a program that this signal ended

# verb -> (module in gateway.commands, what it does). The module has `arguments(verb, parser)` and `run(options)`, and
# is imported only for its own verbs: a decision typed at a prompt should not wait for a scheduler to be loaded.
VERBS: dict[str, tuple[str, str]] = {
    "run": ("serve", "serve the shared directory until told to stop"),
    "tick": ("serve", "take and run what waits, once (for cron)"),
    "status": ("status", "how the gateway is"),
    "health": ("health", "how containers, workers, disks, remotes and the gateway itself are"),
    "pending": ("look", "the requests that wait for a yes or no"),
    "why": ("look", "the whole story of one request"),
    "approve": ("decide", "say yes to a request"),
    "deny": ("decide", "say no to a request"),
    "withdraw": ("decide", "take back a request that has not begun"),
    "freeze": ("decide", "run nothing that changes anything until unfrozen"),
    "unfreeze": ("decide", "go on after a freeze"),
    "explain": ("explain", "show what would be decided, without running anything"),
    "adopt": ("repositories", "take a repository's git directory into the host's keeping"),
    "release": ("repositories", "give an adopted git directory back"),
    "recover": ("repositories", "plan, and if told to do, the way out of a broken state"),
    "undo": ("repositories", "restore what was before a request"),
    "queue": ("queue", "how the queues are, and were within the last 24 h"),
    "audit": ("audit", "show, verify or export the audit log"),
    "init": ("init", "set this host up: ask, write the settings, adopt, and check"),
    "doctor": ("check", "check the set-up, and say how to mend it"),
    "demo": ("check", "show it all on a throw-away repository"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the process's exit code. The only place that catches everything."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser, module = _parser(words)
    options = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return EXIT_USAGE
    try:
        code = int(module.run(options))
        sys.stdout.flush()
        return code
    except BrokenPipeError as error:
        return _reader_gone(error)
    except ConfigError as problem:
        return _explain(problem, EXIT_CONFIG)
    except Problem as problem:
        return _explain(problem, EXIT_NO)
    except OSError as error:
        return _explain(Unavailable("system", f"{error.filename or 'the system'}: {error.strerror}"), EXIT_NO)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception:  # noqa: BLE001 (a bug: said in full, for the report of it, but never with a secret)
        return _explain(Unavailable("bug", traceback.format_exc(), "a mistake of ours: please report it"), EXIT_BUG)
    finally:
        _is_read(sys.stderr)


def _parser(words: list[str]) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """Given the command line, return its parser, filled in for the verb it names, and that verb's module."""
    parser = argparse.ArgumentParser(
        prog="ops-gateway",
        description="Flags in, host operations out. Exit codes: 0 done, 1 no, 2 usage, 78 configuration.",
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    chosen = next((word for word in words if not word.startswith("-")), "")
    found = None
    for verb, (module, text) in VERBS.items():
        sub = verbs.add_parser(verb, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False)
        if verb == chosen:
            found = importlib.import_module(f"gateway.commands.{module}")
            found.arguments(verb, sub)
    return parser, found


def _reader_gone(error: BrokenPipeError) -> int:
    """Return the exit code where nobody reads what is printed any more: `ops-gateway audit show | head` is no error.

    The signal stays ignored, as Python has it. A connection that breaks, or a log whose reader died, must end neither
    a gateway nor an adoption half-way.
    """
    if _is_read(sys.stdout):
        return _explain(Unavailable("system", f"a connection broke: {error.strerror}"), EXIT_NO)
    return EXIT_BROKEN_PIPE


def _is_read(stream: TextIO) -> bool:
    """Write out what `stream` still holds; where nobody takes it drop it, or the interpreter would exit with 120."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), stream.fileno())
        return False
    return True


def _explain(problem: Problem, code: int) -> int:
    from executor.record.display import visible
    from executor.record.redaction import redact

    with contextlib.suppress(BrokenPipeError):  # the code tells it too
        # a line end in what is quoted must not begin a line that reads like the hint, which tells what to run
        texts = (visible(redact(text), multiline=True) for text in (problem.message, problem.hint))
        message, hint = (text.replace("\n", "\n  | ") for text in texts)
        sys.stderr.write(f"ops-gateway: {message}\n")
        if hint:
            sys.stderr.write(f"  {hint}\n")
    return code


def own_user() -> str:
    """Return the name that the audit log gives to whoever types here: `cli:` and the account's name."""
    import pwd

    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"cli:uid-{os.getuid()}"
