"""What READY means, and what counts as not getting on. Words for the status line, the log and the watchdog.

READY says that the settings are good, that this process alone holds the state directory, that what an earlier one
left is dealt with, and that flags are taken and answered as soon as there are any. It does not wait for what comes by
itself or needs a person: Telegram (A06), a share that is mounted later, a repository that is not adopted yet. Ending
there would be a crash loop in which nothing is answered (E10); so these are said: in the status line, the log and the
chat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from executor.errors import Problem

if TYPE_CHECKING:
    from executor.repositories import Repositories

RUN_DEADLINES = 10  # an operation is a handful of programs, each with its deadline; so many of them it never takes
SILENT_POLL_SECONDS = 600.0  # a poll ends, well or badly, within one minute


def closed_repositories(repositories: Repositories, names: Iterable[str]) -> dict[str, str]:
    """Given names of repositories, return for each that cannot be worked in now why not, and the mend."""
    found = {}
    for name in names:
        try:
            repositories.open(name)
        except Problem as problem:
            found[f"repository {name}"] = f"{problem.message} {problem.hint}".strip()
    return found


def status_line(serving: Iterable[str], troubles: Mapping[str, str]) -> str:
    """Return how the gateway is, what does not work first. To be cleaned before it is shown."""
    names = f"serving {', '.join(serving)}"
    if not troubles:
        return names
    said = "; ".join(f"{what}: {why}" for what, why in sorted(troubles.items()))
    return f"{said} ({names})"


def not_getting_on(jobs: Iterable[str], lanes: Iterable[str], chat: Mapping[str, Any]) -> list[str]:
    """Return what a new process may mend, in words: jobs and workers that hang, a poll that neither came nor failed.

    `chat` is the chat's health. Telegram being away is no reason: its polls fail, and that is an end.
    """
    silence = chat.get("last_poll_seconds_ago")
    deaf = chat.get("polls") == "ok" and isinstance(silence, float) and silence > SILENT_POLL_SECONDS
    return [
        *(f"job {job}" for job in jobs),
        *(f"worker of {lane or 'the host'}" for lane in lanes),
        *(["polling Telegram"] if deaf else []),
    ]
