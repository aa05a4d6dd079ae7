"""Finding the chat and its operator: the one who can read a code off this terminal sends it to the bot.

Names and ids that somebody types could be anybody's; a message with a one-time code that only this terminal showed is
the person in front of it, in the chat that they chose.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from executor.errors import Refused
from gateway.telegram import failures
from gateway.telegram.token_lock import TokenLock
from gateway.telegram.transport import Timeouts, Transport
from gateway.telegram.update_facts import UpdateFacts, facts_of

if TYPE_CHECKING:
    from pydantic import SecretStr

WAIT_SECONDS = 300.0  # for the operator to find the phone
_POLL_SECONDS = 20.0
_AGAIN_SECONDS = 2.0  # after a call that failed
_CONFLICTS = 3  # one or two are a poll that Telegram still holds for a process that has ended (A02)
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_CODE_LENGTH = 10  # 50 bits, for five minutes


@dataclass(frozen=True, slots=True)
class Paired:
    """Where the code came from, and from whom. `name` is foreign text."""

    chat_id: int
    chat_type: str
    topic: int | None
    user_id: int
    name: str


def new_code() -> str:
    """Return a code that was never used."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))


def match(facts: UpdateFacts, code: str) -> Paired | str | None:
    """Return who sent the code and where, why a message with it does not count, or None for any other update."""
    if facts.kind != "message" or code not in facts.text.split():
        return None
    if facts.sender_chat_id is not None or facts.user_id is None or facts.chat_id is None:
        return "the code came from an anonymous administrator, who is nobody in particular: write as yourself"
    if facts.is_forward or facts.via_bot or facts.is_bot:
        return "the code came forwarded, or from a bot: type it yourself"
    return Paired(facts.chat_id, facts.chat_type, facts.topic, facts.user_id, facts.user_name)


def pair(
    token: SecretStr, api_url: str, say: Callable[[str], None], *, seconds: float = WAIT_SECONDS, code: str = ""
) -> Paired:
    """Say what to send, wait for it, and return where it came from; `say` is called with lines for the person.

    What the bot had been sent before is passed over for good. Raise Refused for a token that Telegram does not know,
    for another poller of this bot, and when nothing came in `seconds`.
    """
    lock = TokenLock(token)
    if not lock.take():
        raise Refused("poller_here", "a gateway on this host hears for this bot, and only one can", _NO_CODE_THEN)
    try:
        return asyncio.run(_pair(token, api_url or None, say, seconds, code or new_code()))
    finally:
        lock.release()


_NO_CODE_THEN = "stop it first (systemctl stop ops-gateway); or name the ids: --chat ID --operators ID"


async def _pair(
    token: SecretStr, api_url: str | None, say: Callable[[str], None], seconds: float, code: str
) -> Paired:
    transport = Transport(token, api_url, timeouts=Timeouts(poll=_POLL_SECONDS))
    try:
        bot = (await transport.get_me()).username
        say(f"Send this to @{bot} within {seconds / 60:.0f} min, in the chat where it is to ask: in a group that you")
        say(f"have added it to, in a topic there, or in private (https://t.me/{bot}?start={code}):")
        say(f"    /start {code}")
        async with asyncio.timeout(seconds):
            found, after = await _hear(transport, code, say)
    except failures.Unauthorised:
        hint = "take the one that @BotFather shows"
        raise Refused("bot_token", "Telegram does not know this token", hint) from None
    except TimeoutError:
        hint = "in a group the bot hears only /start CODE; or name the ids: --chat ID --operators ID"
        raise Refused("no_code", f"nobody sent the code within {seconds:.0f} s", hint) from None
    finally:
        await transport.close()
    await _confirm(token, api_url, after)
    return found


async def _hear(transport: Transport, code: str, say: Callable[[str], None]) -> tuple[Paired, int]:
    """Return who sent the code, and the number after that update."""
    offset: int | None = None
    conflicts = 0
    while True:
        try:
            updates = await transport.get_updates(offset)
        except failures.Contended as failure:
            conflicts += not failure.webhook
            if conflicts > _CONFLICTS:
                what = "another process, on another host perhaps, hears for this bot, and only one can"
                raise Refused("poller_elsewhere", what, _NO_CODE_THEN) from None
            if failure.webhook:
                say("A webhook takes this bot's updates; it is taken away, as `ops-gateway run` would.")
                await transport.delete_webhook()
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        except failures.Unauthorised:
            raise
        except failures.CallFailed as failure:
            say(f"Telegram does not answer ({failure.message}); trying again.")
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        for update in updates:
            offset = update.update_id + 1
            found = match(facts_of(update), code)
            if isinstance(found, Paired):
                return found, offset
            if found is not None:
                say(found)


async def _confirm(token: SecretStr, api_url: str | None, after: int) -> None:
    """Let the gateway not be told of the code again. Where that fails it answers it as a command that it has not."""
    transport = Transport(token, api_url, timeouts=Timeouts(poll=0.0))
    try:
        await transport.get_updates(after)
    except failures.CallFailed:
        return
    finally:
        await transport.close()
