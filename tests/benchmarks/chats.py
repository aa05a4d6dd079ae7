"""The chat of a gateway that is measured with one: a Bot API server here, on the same machine."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as pytest has it

from bot_api import BotApi, Chat, Person, Shown

__all__ = ["BotApi", "Chat", "Person", "Shown", "chat_with_ann"]

_ANN = 11  # and her private chat with the bot: a group is written to 20 times a minute at most


def chat_with_ann(api: BotApi) -> tuple[Chat, Person, dict[str, str]]:
    """Return a chat, the one operator in it, and the settings of a gateway that tells and asks her there."""
    chat, ann = api.world.chat(_ANN, "private", "Ann"), api.person(_ANN, "Ann", "ann")
    settings = {
        "GATEWAY_TELEGRAM_BOT_TOKEN": api.token,
        "GATEWAY_TELEGRAM_CHAT_ID": str(_ANN),
        "GATEWAY_TELEGRAM_OPERATOR_IDS": str(_ANN),
        "GATEWAY_TELEGRAM_API_URL": api.url,
    }
    return chat, ann, settings
