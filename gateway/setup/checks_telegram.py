"""Checks of the chat: is the token good, can the chat be written to, is anybody an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.settings_model import Settings
from gateway.setup.check import Check, fail, ok, warn

if TYPE_CHECKING:
    from gateway.telegram.transport import Transport


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
    if not listed:
        yield fail("operators", "nobody may decide in the chat", "set GATEWAY_TELEGRAM_OPERATOR_IDS to user ids")
    elif len(listed) < most:
        yield fail(
            "operators",
            f"{most} operators must agree to some requests, and {len(listed)} are listed",
            "list more in GATEWAY_TELEGRAM_OPERATOR_IDS, or lower GATEWAY_QUORUM",
        )
    else:
        yield ok("operators", f"{len(listed)} may decide in the chat")


async def _ask(settings: Settings) -> list[Check]:
    """Ask Telegram who the bot is, and whether it may write."""
    from gateway.telegram.failures import CallFailed, Gone, Migrated, Unauthorised
    from gateway.telegram.transport import Transport

    transport = Transport(settings.telegram_bot_token, settings.telegram_api_url or None)
    try:
        found = [ok("telegram", f"the token is good: @{(await transport.get_me()).username}")]
    except Unauthorised:
        return [
            fail("telegram", "Telegram does not know this token", "take the one that BotFather shows for the bot")
        ]
    except CallFailed as failure:
        return [
            warn(
                "telegram",
                f"Telegram cannot be reached: {failure.message}",
                "check DNS, proxy and firewall; the gateway works without it and joins later",
            )
        ]
    else:
        try:
            found.append(await _writable(settings, transport))
        except Gone as failure:
            found.append(
                fail("telegram chat", f"the bot cannot write there: {failure.message}", "add it, and check the id")
            )
        except Migrated as failure:
            mend = f"set GATEWAY_TELEGRAM_CHAT_ID={failure.new_chat_id}"
            found.append(fail("telegram chat", "the group became a supergroup and has another id", mend))
        except CallFailed as failure:
            found.append(warn("telegram chat", f"could not be tried: {failure.message}", "ops-gateway doctor, later"))
        return found
    finally:
        await transport.close()


async def _writable(settings: Settings, transport: Transport) -> Check:
    text = f"ops-gateway doctor on {settings.host_name}: this chat can be reached"
    where = settings.telegram_chat_id or 0
    sent = await transport.send(where, text, topic=settings.telegram_topic_id, silent=True, html=False)
    await transport.delete(sent.chat_id, sent.message_id)
    return ok("telegram chat", "the bot can write there")


def _is_loopback(url: str) -> bool:
    host = url.removeprefix("http://").partition("/")[0]
    return host.startswith(("127.", "localhost", "[::1]"))
