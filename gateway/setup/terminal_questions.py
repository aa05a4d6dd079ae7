"""Questions to a person at a terminal. Ctrl-C and the end of input go through to whoever asks."""

from __future__ import annotations

import getpass
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from executor.policy.model import Operation
from gateway import settings_values
from gateway.settings_model import Settings


@dataclass(frozen=True, slots=True)
class Question:
    """A setting that is asked for, in which words; `secret` is typed without being shown."""

    setting: str
    words: str
    explained: str = ""
    needed: bool = False
    secret: bool = False


QUESTIONS = (
    Question("shared_dir", "Directory that is shared with the agent's container", needed=True),
    Question("repo_dir", "Repository that the agent works in", needed=True),
    Question(
        "approve",
        "Ask an operator first for (commas between; * is everything)",
        "What reads runs by itself, and so do git_add, git_commit, git_set_config, a fast-forward git_push and\n"
        f"restart_queue; any other git command asks. Operations: {', '.join(Operation)}",
    ),
    Question(
        "telegram_bot_token",
        "Bot token",
        "With a Telegram bot (@BotFather makes one) operators are asked on their phones; without, on this host.",
        secret=True,
    ),
)


def ask(question: Question, default: str) -> str:
    """Ask until the answer can be used, and return it; nothing typed is the default, `-` takes a value away."""
    if question.explained:
        print(question.explained)
    shown = "keep the one that is set" if question.secret and default else default
    hint = f" [{shown}]" if shown else "" if question.needed else " [none]"
    while True:
        prompt = f"{question.words}{hint}: "
        typed = (getpass.getpass(prompt) if question.secret else input(prompt)).strip() or default
        if typed == "-" and not question.needed:
            return ""
        wrong = "it is needed" if question.needed and not typed else problem(question.setting, typed)
        if wrong is None:
            return typed
        print(f"  That cannot be: {wrong}.")


def problem(setting: str, text: str) -> str | None:
    """Return why a setting cannot have this value, without repeating it; None if it can, or is empty."""
    field = Settings.model_fields[setting]
    try:
        value = settings_values.plain(text)
        if value:
            TypeAdapter(field.rebuild_annotation()).validate_python(value)
    except ValidationError as error:
        return error.errors(include_url=False, include_input=False)[0]["msg"].removeprefix("Value error, ")
    except ValueError as error:
        return str(error)
    return None
