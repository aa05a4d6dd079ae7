"""The chat of a served host, for system tests: a Bot API server, a group, and two operators who look and press."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot_api import BotApi, Person, Shown
from bot_api.people import Press
from served_host import ServedHost, until

CHAT = -1001


class OpsChat:
    """What operators see and do. `ann` and `bob` are operators, `eve` is not."""

    def __init__(self, api: BotApi) -> None:
        self.api = api
        self.group = api.group(CHAT)
        self.ann = api.person(11, "Ann", "ann")
        self.bob = api.person(22, "Bob", "bob")
        self.eve = api.person(66, "Eve")

    @property
    def settings(self) -> dict[str, str]:
        return {
            "GATEWAY_TELEGRAM_BOT_TOKEN": self.api.token,
            "GATEWAY_TELEGRAM_CHAT_ID": str(CHAT),
            "GATEWAY_TELEGRAM_OPERATOR_IDS": "11,22",
            "GATEWAY_TELEGRAM_API_URL": self.api.url,
        }

    def messages(self, *parts: str) -> list[Shown]:
        """Return the bot's messages that hold all these parts, oldest first."""
        with self.api.lock:
            return [each for each in self.group.from_bot() if all(part in each.text for part in parts)]

    def shows(self, *parts: str) -> Shown:
        """Wait for a message that holds all these parts, and return the last such."""
        found: list[Shown] = until(lambda: self.messages(*parts), f"a message with {parts}")
        return found[-1]

    def card(self, request_id: str, *parts: str) -> Shown:
        """Wait until the card of a request holds all these parts, and return it."""
        return self.shows(f"Request {request_id} ", *parts)

    def tap(self, who: Person, message: Shown, label: str) -> Press:
        """Press a button, and wait for what is said about it at once."""
        number = who.presses(self.group, message, label)
        until(lambda: who.press(number).answer is not None, f"an answer to {label}")
        return who.press(number)

    def has_button(self, message: Shown, label: str) -> Callable[[], bool]:
        return lambda: label in message.labels()


@contextmanager
def ops_chat(host: ServedHost) -> Iterator[OpsChat]:
    """The chat that `host` is configured for from now on."""
    with BotApi() as api:
        chat = OpsChat(api)
        host.settings |= chat.settings
        yield chat
