"""A strict Bot API server for tests: real HTTP on loopback, judged by the published schema, scriptable in its faults.

`BotApi` (server.py) is the server; `World` (world.py) what it knows; `Person` (people.py) who writes and presses.
"""

from __future__ import annotations

from bot_api.clock import HandClock, SwiftClock
from bot_api.faults import Fault, error, flood, garbage, reset, server_error, stall
from bot_api.people import Person
from bot_api.server import BotApi
from bot_api.world import Chat, Shown, World

__all__ = [
    "BotApi",
    "Chat",
    "Fault",
    "HandClock",
    "Person",
    "Shown",
    "SwiftClock",
    "World",
    "error",
    "flood",
    "garbage",
    "reset",
    "server_error",
    "stall",
]
