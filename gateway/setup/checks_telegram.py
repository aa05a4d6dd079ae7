"""Checks of the chat: is the token good, can the chat be written to, is anybody an operator, who else polls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from gateway.settings_model import Settings
from gateway.setup.check import Check, fail, ok, warn
from gateway.single import holder

if TYPE_CHECKING:
    from gateway.telegram.transport import Transport

POLL_SECONDS = 5.0  # another poller is back within that, and its poll ends ours
_OTHER_POLLER = "stop it, or take a bot of its own for each gateway (@BotFather)"


def chat(settings: Settings) -> Iterator[Check]:
    """Without a token there is nothing to check. A line is posted in the chat, without a sound, and taken away."""
    if not settings.telegram_bot_token.get_secret_value():
        yield ok("telegram", "not set up: decisions are taken on this host (ops-gateway pending, approve, deny)")
        return
    yield from _operators(settings)
    if settings.telegram_api_url.startswith("http://") and not _is_loopback(settings.telegram_api_url):
        yield warn(
            "telegram server",
            "the token goes over the network unencrypted",
            "use https, or a Bot API server on this host",
        )
    yield from asyncio.run(_ask(settings))


def _operators(settings: Settings) -> Iterator[Check]:
    listed = settings.telegram_operator_ids
    most = max(settings.quorum.values(), default=1)
    chat_id = settings.telegram_chat_id or 0
    if not listed:
        mend = "have one send a code to the bot (or set GATEWAY_TELEGRAM_OPERATOR_IDS to user ids)"
        yield fail("operators", "nobody may decide in the chat", mend, "ops-gateway init --pair")
    elif len(listed) < most:
        yield fail(
            "operators",
            f"{most} operators must agree to some requests, and {len(listed)} are listed",
            "list more in GATEWAY_TELEGRAM_OPERATOR_IDS, or lower GATEWAY_QUORUM",
        )
    elif chat_id > 0 and chat_id not in listed:
        what = "GATEWAY_TELEGRAM_CHAT_ID is a private chat, with somebody who is no operator"
        yield fail("operators", what, f"add {chat_id} to GATEWAY_TELEGRAM_OPERATOR_IDS, or name the group's chat")
    else:
        yield ok("operators", f"{len(listed)} may decide in the chat")


async def _ask(settings: Settings) -> list[Check]:
    """Ask Telegram who the bot is, whether it may write, and whether somebody else hears for it."""
    from gateway.telegram.transport import Timeouts, Transport

    timeouts = Timeouts(poll=POLL_SECONDS)
    transport = Transport(settings.telegram_bot_token, settings.telegram_api_url or None, timeouts=timeouts)
    try:
        return [check async for check in _answers(settings, transport)]
    finally:
        await transport.close()


async def _answers(settings: Settings, transport: Transport) -> AsyncIterator[Check]:
    from gateway.telegram.failures import CallFailed, Unauthorised

    try:
        yield ok("telegram", f"the token is good: @{(await transport.get_me()).username}")
    except Unauthorised:
        yield fail("telegram", "Telegram does not know this token", "take the one that BotFather shows for the bot")
        return
    except CallFailed as failure:
        yield warn(
            "telegram",
            f"Telegram cannot be reached: {failure.message}",
            "check DNS, proxy and firewall; the gateway works without it and joins later",
        )
        return
    yield await _writable(settings, transport)
    yield await _alone(settings, transport)


async def _writable(settings: Settings, transport: Transport) -> Check:
    from gateway.telegram.failures import CallFailed, Gone, Lost, Migrated

    text = f"ops-gateway doctor on {settings.host_name}: this chat can be reached"
    where = settings.telegram_chat_id or 0
    try:
        sent = await transport.send(where, text, topic=settings.telegram_topic_id, silent=True, html=False)
        await transport.delete(sent.chat_id, sent.message_id)
    except Migrated as failure:
        mend = f"set GATEWAY_TELEGRAM_CHAT_ID={failure.new_chat_id}"
        return fail("telegram chat", "the group became a supergroup and has another id", mend)
    except Gone as failure:
        if failure.what is Lost.TOPIC:
            what = f"topic {settings.telegram_topic_id} is closed or deleted; cards go to the general one"
            return warn("telegram topic", what, "make or open it, and set GATEWAY_TELEGRAM_TOPIC_ID to its number")
        what = f"the bot cannot write there: {failure.message}"
        return fail("telegram chat", what, "add the bot to it, let it write, and check the id")
    except CallFailed as failure:
        return warn("telegram chat", f"could not be tried: {failure.message}", "ops-gateway doctor, later")
    return ok("telegram chat", "the bot can write there")


async def _alone(settings: Settings, transport: Transport) -> Check:
    """Two pollers of one token take each other's updates (A01). Beside our own gateway nothing is asked: it would be
    the second one. No update is confirmed, so none is lost."""
    from gateway.telegram.failures import CallFailed, Contended
    from gateway.telegram.token_lock import TokenLock

    lock = TokenLock(settings.telegram_bot_token)
    if not lock.take():
        if holder(settings.state_dir).startswith("run"):
            return ok("telegram poller", "the gateway that runs here hears for the bot")
        return fail("telegram poller", "another process on this host polls with this bot's token", _OTHER_POLLER)
    try:
        await transport.get_updates(None)
    except Contended as failure:
        if failure.webhook:
            return warn("telegram poller", "a webhook takes this bot's updates", "`run` takes it away when it starts")
        return fail("telegram poller", "somebody elsewhere polls with this bot's token", _OTHER_POLLER)
    except CallFailed as failure:
        return warn("telegram poller", f"could not be tried: {failure.message}", "ops-gateway doctor, later")
    finally:
        lock.release()
    return ok("telegram poller", "nobody else was seen to hear for the bot")


def _is_loopback(url: str) -> bool:
    host = url.removeprefix("http://").partition("/")[0]
    return host.startswith(("127.", "localhost", "[::1]"))
