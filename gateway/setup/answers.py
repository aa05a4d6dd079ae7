"""What `init` is told: by the command line, by an older script, by a person at the terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from executor.errors import Refused
from gateway.commands.terminal import agreed
from gateway.settings_model import Settings
from gateway.settings_sources import variable
from gateway.setup.init_plan import SECRETS
from gateway.setup.terminal_questions import QUESTIONS, ask, problem
from gateway.setup.worker_manager_settings import read_worker_manager

_FLAGS = {"shared_dir": "--shared-dir", "repo_dir": "--repo"}
Show = Callable[[Iterable[str]], None]


@dataclass(slots=True)
class Answers:
    """Settings by name: what the file has, what is new, and what the environment says, which is never written."""

    before: Mapping[str, str]
    new: dict[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        return self.environment.get(name) or self.new.get(name, self.before.get(name, ""))

    def changes(self) -> dict[str, str]:
        return {name: value for name, value in self.new.items() if value != self.before.get(name, "")}


def environment() -> dict[str, str]:
    """Return what the environment sets (a unit, credentials): it counts above the file and stays where it is."""
    return {name: os.environ[variable(name)] for name in Settings.model_fields if os.environ.get(variable(name))}


def gather(options: argparse.Namespace, answers: Answers, show: Show) -> None:
    """Take what the command line and an older script say, and ask for the rest; `show` prints lines for the person.

    Raise Refused for what cannot be used, and EOFError or KeyboardInterrupt where the person leaves.
    """
    given = _given(options)
    if options.from_worker_manager:
        found = read_worker_manager(Path(options.from_worker_manager), given.get("queue_app_dir", ""))
        show([*found.told, ""])
        answers.new.update({name: value for name, value in found.settings.items() if name not in answers.before})
    answers.new.update(given)
    for name, value in answers.new.items():
        if why := problem(name, value):
            raise Refused("usage", f"{variable(name)}: {why}", "docs/settings.md describes every setting")
    asking = not options.non_interactive and sys.stdin.isatty()
    for question in QUESTIONS:
        name = question.setting
        settled = name in given or name in answers.environment or (options.no_telegram and question.secret)
        if asking and not settled:
            answers.new[name] = ask(question, answers.get(name))
        elif question.needed and not answers.get(name):
            what = f"{variable(name)} is not known, and nobody can be asked"
            raise Refused("usage", what, f"add {_FLAGS[name]} DIRECTORY")
    if not options.no_telegram:
        _chat(options, answers, show, asking=asking)


def _given(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings that the command line gives."""
    named = {
        "shared_dir": options.shared_dir, "repo_dir": options.repo, "state_dir": options.state_dir,
        "approve": options.approve, "telegram_chat_id": options.chat, "telegram_topic_id": options.topic,
        "telegram_operator_ids": options.operators, "telegram_api_url": options.api_url,
    }  # fmt: skip
    given = {name: _absolute(name, value) for name, value in named.items() if value is not None}
    for name, value in pairs(options.set):
        key = name.lower().removeprefix("gateway_")
        if key not in Settings.model_fields or key == "repositories":
            raise Refused("usage", f"--set: {name} is no setting", "docs/settings.md describes every setting")
        if key in SECRETS:
            raise Refused("usage", f"--set: {name} is a secret, which every user would see", "write it in the file")
        given[key] = value
    if options.token_file:
        given["telegram_bot_token"] = _first_line(options.token_file)
    return given


def _first_line(name: str) -> str:
    if name == "-":
        return sys.stdin.readline().strip()
    with Path(name).open(encoding="utf-8") as stream:
        return stream.readline().strip()


def _absolute(name: str, value: str) -> str:
    return str(Path(value).expanduser().absolute()) if name.endswith("_dir") else value


def pairs(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    for each in given:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise Refused("usage", f"{each!r} is no NAME=VALUE", "--remote origin=URL, --set ssh_key=/path")
        yield name, value


def _chat(options: argparse.Namespace, answers: Answers, show: Show, *, asking: bool) -> None:
    """Find chat and operator by a one-time code, where they are not known and there is a bot."""
    token = answers.get("telegram_bot_token")
    if not token:
        for name in ("telegram_chat_id", "telegram_topic_id", "telegram_operator_ids"):
            if answers.get(name):
                answers.new[name] = ""
        return
    known = answers.get("telegram_chat_id") and answers.get("telegram_operator_ids")
    if (known and not options.pair) or not (asking or options.pair):
        return
    from gateway.setup.pairing import pair

    found = pair(SecretStr(token), answers.get("telegram_api_url"), lambda line: show([line]), seconds=options.wait)
    topic = f", topic {found.topic}" if found.topic is not None else ""
    show([f"It came from {found.name} (user {found.user_id}) in the {found.chat_type} {found.chat_id}{topic}."])
    if asking and not agreed("Shall that chat be asked, and that person decide?", otherwise=True):
        raise EOFError("the person said no")
    listed = [each for each in answers.get("telegram_operator_ids").replace(",", " ").split() if each]
    answers.new["telegram_chat_id"] = str(found.chat_id)
    answers.new["telegram_topic_id"] = "" if found.topic is None else str(found.topic)
    answers.new["telegram_operator_ids"] = ",".join(dict.fromkeys([*listed, str(found.user_id)]))
