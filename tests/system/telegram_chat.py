"""The chat of a served host, for system tests: a Bot API server, a group, and two operators who look and press."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from bot_api import BotApi, Person, Shown
from bot_api.people import Press
from served_host import ServedHost, until

CHAT = -1001


class OpsChat:
    """What operators see and do. `ann` and `bob` are operators, `eve` is not."""

    def __init__(self, api: BotApi, host: ServedHost) -> None:
        self.api = api
        self._record = host.state / "gateway.db"
        self.group = api.group(CHAT)
        self.ann = api.person(11, "Ann", "ann")
        self.bob = api.person(22, "Bob", "bob")
        self.eve = api.person(66, "Eve")
        self._known: dict[tuple[int, str], str] = {}  # what buttons brought back when they were pressed

    @property
    def settings(self) -> dict[str, str]:
        return {
            "GATEWAY_TELEGRAM_BOT_TOKEN": self.api.token,
            "GATEWAY_TELEGRAM_CHAT_ID": str(CHAT),
            "GATEWAY_TELEGRAM_OPERATOR_IDS": "11,22",
            "GATEWAY_TELEGRAM_API_URL": self.api.url,
        }

    def polls(self) -> bool:
        """Whether the bot has asked for updates; a poll that has nothing to tell is a call only when it ends."""
        with self.api.lock:
            return self.api.world.heard is not None or any(call.method == "getUpdates" for call in self.api.calls)

    def messages(self, *parts: str) -> list[Shown]:
        """Return the bot's messages that hold all these parts, oldest first."""
        with self.api.lock:
            return [each for each in self.group.from_bot() if all(part in each.text for part in parts)]

    def files(self, ending: str) -> list[str]:
        """Wait for a file whose name ends like that, and return the names of all such."""

        def found() -> list[str]:
            with self.api.lock:
                names = [each.document[0] for each in self.group.from_bot() if each.document is not None]
            return [name for name in names if name.endswith(ending)]

        names: list[str] = until(found, f"a file that ends with {ending}")
        return names

    def shows(self, *parts: str) -> Shown:
        """Wait for a message that holds all these parts, and return the last such."""
        try:
            found: list[Shown] = until(lambda: self.messages(*parts), f"a message with {parts}")
        except AssertionError as error:
            error.add_note("\n---\n".join(self.texts()))
            raise
        return found[-1]

    def asks(self, *parts: str) -> Shown:
        """Wait for a question that holds these parts, and until a reply to it is one; people are never so quick."""
        question = self.shows(*parts)
        until(lambda: self._is_awaited(question.message_id), "the question in the record")
        return question

    def _is_awaited(self, message_id: int) -> bool:
        with closing(sqlite3.connect(self._record)) as record:
            return record.execute("SELECT 1 FROM buttons WHERE message_id = ?", [message_id]).fetchone() is not None

    def card(self, request_id: str, *parts: str) -> Shown:
        """Wait until the card of a request holds all these parts, and return it."""
        return self.shows(f"Request {request_id}", *parts)

    def settled_card(self, request_id: str, *parts: str) -> Shown:
        """The same, once the gateway has noted that it stands there: what is killed then sends no second one."""
        card = self.card(request_id, *parts)
        until(lambda: self._noted(request_id) == card.message_id, f"a note of where the card of {request_id} stands")
        return card

    def _noted(self, request_id: str) -> int | None:
        with closing(sqlite3.connect(self._record)) as record:
            row = record.execute("SELECT message_id FROM cards WHERE subject = ?", [request_id]).fetchone()
        return row[0] if row else None

    def time_is_up(self, request_id: str) -> None:
        """Let the time to answer a request be over now, without anybody waiting for it."""
        now = "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"
        with closing(sqlite3.connect(self._record, timeout=60)) as record, record:
            record.execute(f"UPDATE approvals SET expires_at = {now} WHERE request_id = ?", [request_id])
            record.execute(f"UPDATE requests SET expires_at = {now} WHERE id = ?", [request_id])

    def texts(self) -> list[str]:
        """Return what all messages of the bot say."""
        with self.api.lock:
            return [each.text for each in self.group.from_bot()]

    def tap(self, who: Person, message: Shown, label: str) -> Press:
        """Press a button that is there, and wait for what is said about it at once."""
        return self.press(who, message, message.data_of(label))

    def tap_again(self, who: Person, message: Shown, label: str) -> str:
        """Press a button that stood under the message when it was first shown; return what is said about it."""
        return self.press(who, message, self._known[message.message_id, label]).answer or ""

    def press(self, who: Person, message: Shown, data: str) -> Press:
        """Press a button by its data, which may not be shown any more; wait for the answer."""
        self._known |= {(message.message_id, b["text"]): b["callback_data"] for row in message.buttons for b in row}
        number = who.presses_data(self.group, message, data)
        until(lambda: who.press(number).answer is not None, "an answer to a press")
        return who.press(number)

    def has_button(self, message: Shown, label: str) -> Callable[[], bool]:
        return lambda: label in message.labels()


@contextmanager
def ops_chat(host: ServedHost) -> Iterator[OpsChat]:
    """The chat that `host` is configured for from now on."""
    with BotApi() as api:
        chat = OpsChat(api, host)
        host.settings |= chat.settings
        yield chat
