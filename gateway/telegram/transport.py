"""A thin client of the Bot API: each method makes one call, once, and says what became of it.

No retries here (send.py is the only place that repeats anything), no queue, no rate limiter: PTB's own holds every
request of the bot after one flood wait, answers to presses included (P4). The token is in every address that is
asked, so it is kept out of logs, texts and representations (A25).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import httpx
from telegram import (
    Bot,
    BotCommand,
    InputFile,
    LinkPreviewOptions,
    Message,
    Update,
)

from executor.record.redaction import Redactor
from gateway.telegram.connection import Connection, PollConnection, quiet_libraries
from gateway.telegram.failures import Ambiguous, CallFailed, Gone, Lost, failure_of
from gateway.telegram.keyboards import Buttons, keyboard, opened_reply, reply
from gateway.telegram.update_facts import topic_of

if TYPE_CHECKING:
    from pydantic import SecretStr

OFFICIAL_API = "https://api.telegram.org"
_CONNECTIONS = 8  # more than send.py ever uses at once, so that an answer to a press never waits for one
_HEARD = ("message", "callback_query")  # the kinds of update that are asked for

T = TypeVar("T")
C = TypeVar("C", bound=Connection)


@dataclass(frozen=True)
class Sent:
    """A message that Telegram confirmed."""

    chat_id: int
    message_id: int


@dataclass(frozen=True)
class Timeouts:
    """How long to wait for Telegram, in seconds."""

    connect: float = 10.0
    read: float = 20.0
    write: float = 10.0
    whole_call: float = 45.0  # over all: an answer that drips in keeps the others from passing
    upload: float = 120.0  # the same for a file
    poll: float = 50.0  # how long Telegram holds a poll that has nothing to tell, which is as long as it can
    poll_slack: float = 10.0  # what a poll may take beyond that


@dataclass(frozen=True)
class Identity:
    """Who the bot is."""

    username: str


class Transport:
    """The calls that the gateway makes, for one token.

    Given the token and the address of another Bot API server, if not Telegram's own. Every method raises CallFailed
    in one of its forms (failures.py). Nothing is asked before the first call, so it can be made with no network.
    """

    def __init__(self, token: SecretStr, api_url: str | None = None, *, timeouts: Timeouts | None = None) -> None:
        quiet_libraries()
        self._timeouts = timeouts or Timeouts()
        secret = token.get_secret_value()
        self._clean = Redactor([secret, secret.lower()])  # PTB writes Telegram's descriptions in lower case
        self._address = (api_url or OFFICIAL_API).rstrip("/")
        self._tls = httpx.create_ssl_context()  # shared: reading the authorities takes 20 ms, and keeping them 1 MB
        self._sending = self._connection(Connection, _CONNECTIONS)
        self._polling = self._connection(PollConnection, 1)
        self._bot = Bot(
            secret,
            base_url=f"{self._address}/bot",
            base_file_url=f"{self._address}/file/bot",
            request=self._sending,
            get_updates_request=self._polling,
        )

    def _connection(self, kind: type[C], size: int) -> C:
        wait = self._timeouts
        return kind(
            connection_pool_size=size,
            pool_timeout=wait.connect,
            connect_timeout=wait.connect,
            read_timeout=wait.read,
            write_timeout=wait.write,
            httpx_kwargs={"verify": self._tls},
        )

    def __repr__(self) -> str:
        return f"<Transport to {self._clean(self._address)}>"

    async def close(self) -> None:
        """Close every connection; no call may follow."""
        await self._sending.shutdown()
        await self._polling.shutdown()

    async def send(
        self,
        chat: int,
        text: str,
        *,
        topic: int | None = None,
        buttons: Buttons | None = None,
        reply_to: int | None = None,
        reply_hint: str = "",
        silent: bool = False,
        html: bool = True,
    ) -> Sent:
        """Send a message of at most 4096 UTF-16 units; with `html` false the text is plain.

        With `reply_hint` (up to 64 characters) a reply to it is opened for whoever it mentions, in a private chat for
        the other one.
        """
        return await self._sent(
            self._bot.send_message(
                chat,
                text,
                parse_mode="HTML" if html else None,
                message_thread_id=topic_of(topic),
                reply_markup=keyboard(buttons) or opened_reply(chat, reply_hint),
                reply_parameters=reply(reply_to),
                disable_notification=silent or None,
                link_preview_options=LinkPreviewOptions(is_disabled=True),  # Telegram would visit what is named
            )
        )

    async def edit(
        self, chat: int, message_id: int, text: str, *, buttons: Buttons | None = None, html: bool = True
    ) -> Sent:
        """Replace text and buttons of a message of ours; without `buttons` it has none afterwards.

        Raise Unmodified if it is so already, and Gone if the message is not there any more.
        """
        return await self._sent(
            self._bot.edit_message_text(
                text,
                chat_id=chat,
                message_id=message_id,
                parse_mode="HTML" if html else None,
                reply_markup=keyboard(buttons),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        )

    async def delete(self, chat: int, message_id: int) -> None:
        """Delete a message; one that is gone already is as good as deleted."""
        try:
            await self._call(self._bot.delete_message(chat, message_id))
        except Gone as failure:
            if failure.what is not Lost.MESSAGE:
                raise

    async def document(
        self,
        chat: int,
        name: str,
        content: bytes,
        *,
        caption: str = "",
        topic: int | None = None,
        reply_to: int | None = None,
        silent: bool = False,
        html: bool = True,
        as_photo: bool = False,
    ) -> Sent:
        """Send `content` as a file called `name`, with a caption of at most 1024 UTF-16 units.

        With `as_photo` the chat shows it as a picture.
        """
        put = self._bot.send_photo if as_photo else self._bot.send_document
        return await self._sent(
            put(
                chat,
                InputFile(content, filename=name),
                caption=caption or None,
                parse_mode="HTML" if caption and html else None,
                message_thread_id=topic_of(topic),
                reply_parameters=reply(reply_to),
                disable_notification=silent or None,
            ),
            self._timeouts.upload,
        )

    async def answer(self, query_id: str, text: str = "", *, alert: bool = False) -> None:
        """Answer a press with a note of at most 200 characters; with `alert` it has to be closed by hand."""
        await self._call(self._bot.answer_callback_query(query_id, text or None, show_alert=alert or None))

    async def get_me(self) -> Identity:
        """Return who this bot is: the call that shows whether the token is good."""
        me = await self._call(self._bot.get_me())
        return Identity(me.username or "")

    async def set_my_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Tell Telegram which commands to offer: pairs of a name without its slash and what it does."""
        await self._call(self._bot.set_my_commands([BotCommand(name, what) for name, what in commands]))

    async def delete_webhook(self) -> None:
        """Take away a webhook that an earlier use of this bot left; nothing that waits is dropped (A29)."""
        await self._call(self._bot.delete_webhook(drop_pending_updates=False))

    async def get_updates(self, offset: int | None, *, hold: bool = True) -> tuple[Update, ...]:
        """Wait for updates, up to `timeouts.poll` seconds, with `hold` false not at all.

        `offset` confirms every update before it for good.
        """
        wait = self._timeouts
        call = self._bot.get_updates(
            offset=offset,
            timeout=int(wait.poll) if hold else 0,
            read_timeout=wait.poll_slack,  # PTB adds the time of the poll itself
            allowed_updates=_HEARD,
        )
        return await self._call(call, wait.poll + wait.poll_slack + wait.connect)

    async def _sent(self, call: Awaitable[Message | bool], deadline: float | None = None) -> Sent:
        message = await self._call(call, deadline)
        if not isinstance(message, Message):
            raise Ambiguous("Telegram did not say which message it made")
        return Sent(message.chat.id, message.message_id)

    async def _call(self, call: Awaitable[T], deadline: float | None = None) -> T:
        """Make a call, within its deadline in seconds; raise what became of it, without anything that names a URL."""
        failure: CallFailed
        try:
            async with asyncio.timeout(deadline or self._timeouts.whole_call):
                return await call
        except TimeoutError:
            failure = Ambiguous("no answer in time")
        except Exception as error:  # noqa: BLE001 (an answer with an unknown shape raises anything)
            failure = failure_of(error, self._clean)
        raise failure from None
