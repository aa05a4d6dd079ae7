"""What `init` prints for other programs' files: the agent's container, the unit, cron (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

_PLAIN = re.compile(r"[A-Za-z0-9/._@+-]+")


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie on the host."""

    shared: PurePath
    repositories: tuple[tuple[PurePath, PurePath], ...]  # work tree and git directory of each
    group: int  # of the shared directory
    settings_file: PurePath
    named_in: str  # the variable that names the settings file
    found_by_itself: bool  # without being named, where the program is started in `home`
    program: PurePath
    home: PurePath  # where it is started
    environment: Mapping[str, str] = field(default_factory=dict)  # what is set there now, and not in the file


def compose(places: Places) -> str:
    """Return a service for a compose file: the agent's container, without a network, seeing only what it works in."""
    volumes = "".join(
        f"      - {{type: bind, source: {_yaml(path)}, target: {_yaml(target)}, read_only: {str(closed).lower()}}}\n"
        for path, target, closed in (
            (places.shared, PurePath("/shared"), False),
            *((tree, tree, False) for tree, _ in places.repositories),
            *((directory, directory, True) for _, directory in places.repositories),
        )
    )
    return (
        "services:\n"
        "  agent:\n"
        "    image: YOUR-AGENT\n"
        f'    user: "AGENT-UID:{places.group}"  # not the gateway\'s own uid\n'
        "    network_mode: none\n"
        "    cap_drop: [ALL]\n"
        '    security_opt: ["no-new-privileges:true"]\n'
        f"    working_dir: {_yaml(places.repositories[0][0])}\n"
        "    volumes:\n"
        f"{volumes}"
    )


def drop_in(places: Places) -> str:
    """Return what a drop-in of the unit says so that it finds its settings and may write where it must."""
    told = {places.named_in: str(places.settings_file), **places.environment}
    lines = ["[Service]", *(f"Environment={_unit(f'{name}={value}')}" for name, value in told.items())]
    for path in (places.shared, *(tree for tree, _ in places.repositories)):
        lines.append(f"{'BindPaths' if _in_a_home(path) else 'ReadWritePaths'}={_unit(str(path))}")
    return "\n".join(lines) + "\n"


def cron_line(places: Places) -> str:
    """Return the line of a crontab that does a round each minute, for a host where nothing is to stay resident."""
    told = {} if places.found_by_itself else {places.named_in: str(places.settings_file)}
    named = "".join(f"{name}={_word(value)} " for name, value in (told | dict(places.environment)).items())
    line = f"cd {_word(places.home)} && {named}{_word(places.program)} tick"
    return "* * * * * " + line.replace("%", r"\%") + "\n"  # crontab(5): % is a newline


def _in_a_home(path: PurePath) -> bool:
    """Whether the unit sees nothing there but what is bound into it (ProtectHome=tmpfs)."""
    return any(PurePath(home) in path.parents for home in ("/home", "/root", "/run/user"))


def _yaml(path: PurePath) -> str:
    text = str(path)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "''").replace("$", "$$") + "'"


def _unit(text: str) -> str:
    """systemd.syntax(7): % begins a specifier, and what holds a space is quoted."""
    escaped = text.replace("%", "%%")
    return f'"{escaped}"' if " " in escaped else escaped


def _word(path: PurePath | str) -> str:
    text = str(path)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"
