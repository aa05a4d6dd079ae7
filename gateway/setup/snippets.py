"""What `init` prints for other programs' files: the agent's container, the unit, cron (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

_PLAIN = re.compile(r"[A-Za-z0-9/._@+-]+")


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie on the host."""

    shared: PurePath
    work_tree: PurePath
    git_directory: PurePath
    group: int  # of the shared directory
    settings_file: PurePath
    named_in: str  # the variable that names the settings file
    found_by_itself: bool  # without being named, where the program is started in `home`
    program: PurePath
    home: PurePath  # where it is started


def compose(places: Places) -> str:
    """Return a service for a compose file: the agent's container, which sees three directories and no network."""
    volumes = "".join(
        f"      - {{type: bind, source: {_yaml(path)}, target: {_yaml(target)}, read_only: {str(closed).lower()}}}\n"
        for path, target, closed in (
            (places.shared, PurePath("/shared"), False),
            (places.work_tree, places.work_tree, False),
            (places.git_directory, places.git_directory, True),
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
        f"    working_dir: {_yaml(places.work_tree)}\n"
        "    volumes:\n"
        f"{volumes}"
    )


def drop_in(places: Places) -> str:
    """Return what a drop-in of the unit says so that it finds its settings and may write where it must."""
    lines = ["[Service]", f"Environment={_unit(f'{places.named_in}={places.settings_file}')}"]
    lines += [f"ReadWritePaths={_unit(str(path))}" for path in (places.shared, places.work_tree)]
    return "\n".join(lines) + "\n"


def cron_line(places: Places) -> str:
    """Return the line of a crontab that does a round each minute, for a host where nothing is to stay resident."""
    named = "" if places.found_by_itself else f"{places.named_in}={_word(places.settings_file)} "
    line = f"cd {_word(places.home)} && {named}{_word(places.program)} tick"
    return "* * * * * " + line.replace("%", r"\%") + "\n"  # crontab(5): % is a newline


def _yaml(path: PurePath) -> str:
    text = str(path)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "''").replace("$", "$$") + "'"


def _unit(text: str) -> str:
    """systemd.syntax(7): % begins a specifier, and what holds a space is quoted."""
    escaped = text.replace("%", "%%")
    return f'"{escaped}"' if " " in escaped else escaped


def _word(path: PurePath) -> str:
    text = str(path)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"
