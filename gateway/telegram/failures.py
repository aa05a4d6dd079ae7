"""What can become of a call to Telegram, told apart by the one thing that matters: may it be made again?

python-telegram-bot's exceptions do not say: BadRequest and TimedOut are both network errors there (P3), a server
error and a lost connection look alike, and whether a request had been written is found only in the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)

from executor.errors import Unavailable

# The request was never written, or never completely: it surely had no effect.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


class CallFailed(Unavailable):
    """A call to Telegram did not do what it was to do; the text is free of the token."""

    CODE = "telegram"

    def __init__(self, message: str) -> None:
        super().__init__(self.CODE, message)


class NotDone(CallFailed):
    """It surely had no effect: the connection could not be made. May be made again."""

    CODE = "telegram_unreachable"


class Flood(CallFailed):
    """Telegram refused it for now; may be made again after `retry_after` seconds."""

    CODE = "telegram_flood"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Ambiguous(CallFailed):
    """It may have had its effect: no answer came, or one that says nothing (A10)."""

    CODE = "telegram_uncertain"


class Unmodified(CallFailed):
    """An edit that changes nothing: what was wanted is already so (A14)."""

    CODE = "telegram_unmodified"


class Lost(StrEnum):
    """What is not there any more."""

    CHAT = "chat"  # kicked, blocked, not allowed to write, or never there
    TOPIC = "topic"  # deleted or closed
    MESSAGE = "message"  # deleted, or too old to be edited
    QUERY = "query"  # a press that is too old to be answered


class Gone(CallFailed):
    """What it was about is not there any more; making it again is of no use."""

    CODE = "telegram_gone"

    def __init__(self, message: str, what: Lost) -> None:
        super().__init__(message)
        self.what = what


class Migrated(CallFailed):
    """The group became a supergroup with another id; to be made again there (A20)."""

    CODE = "telegram_migrated"

    def __init__(self, message: str, new_chat_id: int) -> None:
        super().__init__(message)
        self.new_chat_id = new_chat_id


class Fault(StrEnum):
    """What Telegram did not accept."""

    PARSE = "parse"  # the HTML
    TOO_LONG = "too_long"
    OTHER = "other"


class Rejected(CallFailed):
    """Telegram does not accept it as it is."""

    CODE = "telegram_rejected"

    def __init__(self, message: str, fault: Fault = Fault.OTHER) -> None:
        super().__init__(message)
        self.fault = fault


class Unauthorised(CallFailed):
    """Telegram does not know this token (any more)."""

    CODE = "telegram_unauthorised"


class Contended(CallFailed):
    """Another process fetches the updates of this bot, or a webhook does (`webhook`)."""

    CODE = "telegram_conflict"

    def __init__(self, message: str, *, webhook: bool) -> None:
        super().__init__(message)
        self.webhook = webhook


class ServerFault(NetworkError):
    """A status of 500 or above; raised by our own connection, since PTB drops the number."""


class Throttled(TelegramError):
    """A status of 429; raised by our own connection, in seconds whatever form PTB's own error has (A12)."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"too many requests, to be made again in {retry_after:g} s")
        self.retry_after = retry_after


# How Telegram words what is gone; the beginning of the description, in lower case. Anything else that it does not
# accept is Rejected, whatever it is: other texts are not folded into these (A14).
_GONE = {
    "query is too old": Lost.QUERY,
    "query_id_invalid": Lost.QUERY,
    "message thread not found": Lost.TOPIC,
    "topic_deleted": Lost.TOPIC,
    "topic_closed": Lost.TOPIC,
    "message to edit not found": Lost.MESSAGE,
    "message to delete not found": Lost.MESSAGE,
    "message can't be edited": Lost.MESSAGE,
    "message can't be deleted": Lost.MESSAGE,
    "message_id_invalid": Lost.MESSAGE,
    "there is no text in the message to edit": Lost.MESSAGE,
    "chat not found": Lost.CHAT,
    "group chat was deactivated": Lost.CHAT,
    "peer_id_invalid": Lost.CHAT,
    "chat_write_forbidden": Lost.CHAT,
    "chat_restricted": Lost.CHAT,
    "not enough rights to send": Lost.CHAT,
    "have no rights to send": Lost.CHAT,
    "need administrator rights": Lost.CHAT,
}
_FAULTS = {
    "can't parse entities": Fault.PARSE,
    "message is too long": Fault.TOO_LONG,
    "message_too_long": Fault.TOO_LONG,
    "message caption is too long": Fault.TOO_LONG,
    "media_caption_too_long": Fault.TOO_LONG,
}


def failure_of(error: Exception, clean: Callable[[str], str]) -> CallFailed:
    """Given what a call raised, return what became of it; `clean` takes secrets out of foreign text.

    What is not known here may have had its effect: an answer that was not understood is an answer all the same.
    """
    text = clean(str(error)) or type(error).__name__
    match error:
        case Throttled():
            return Flood(text, error.retry_after)
        case ChatMigrated():
            return Migrated(text, error.new_chat_id)
        case InvalidToken():
            return Unauthorised(text)
        case Forbidden():
            return Gone(text, Lost.CHAT)
        case Conflict():
            return Contended(text, webhook="webhook" in text.lower())
        case BadRequest():
            return _refusal(text)
        case NetworkError() if isinstance(error.__cause__, _NEVER_SENT):
            return NotDone(_reason(error.__cause__, clean))
        case TelegramError() if error.__cause__ is not None:
            return Ambiguous(_reason(error.__cause__, clean))
        case _:
            return Ambiguous(text)


def _refusal(text: str) -> CallFailed:
    lowered = text.lower()
    if lowered.startswith("message is not modified"):
        return Unmodified(text)
    for beginning, what in _GONE.items():
        if lowered.startswith(beginning):
            return Gone(text, what)
    for beginning, fault in _FAULTS.items():
        if lowered.startswith(beginning):
            return Rejected(text, fault)
    return Rejected(text)


def _reason(cause: BaseException, clean: Callable[[str], str]) -> str:
    """Name the cause: the texts of network errors are often empty."""
    return f"{type(cause).__name__}: {clean(str(cause))}".removesuffix(": ")
