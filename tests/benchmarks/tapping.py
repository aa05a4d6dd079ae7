"""From an operator's tap in the chat to the start of what was approved."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.chats import BotApi, Chat, Person, Shown, chat_with_ann
from tests.benchmarks.rows import Row, ms
from tests.integration.gateway.gateway_process import ConfiguredHost, running, until
from tests.repos import work_tree

_TAPS = 15


def tap() -> Row:
    """By one clock: a tap that reaches the Bot API server here, on the same machine, and the record's own times.

    Telegram's own part, between a telephone and the server that the gateway asks, is not in it.
    """
    to_start, to_vote, to_note = [], [], []
    with tempfile.TemporaryDirectory(prefix="ops-gateway-bench-") as directory, BotApi() as api:
        host = ConfiguredHost(Path(directory), work_tree(Path(directory) / "shop")).adopted()
        chat, ann, settings = chat_with_ann(api)
        with running(host, **settings):
            for number in range(_TAPS):
                name = f"tag-{number:02}"
                host.raise_flag(f"git_cmd.{name}.flag", f"git tag v{number}")
                card = until(lambda name=name: _card(api, chat, name), f"the card of {name}")
                tapped = datetime.now(UTC)
                noted = _tapped(ann, chat, card)
                result = host.in_state(name, "succeeded")
                decided, started = (
                    datetime.fromisoformat(text) for text in (result["approval"]["decided_at"], result["started_at"])
                )
                to_start.append((started - tapped).total_seconds())
                to_vote.append((decided - tapped).total_seconds())
                to_note.append((noted - tapped).total_seconds())
    beside = (
        f"longest {1000 * max(to_start):.0f} ms; recorded after {ms(to_vote):.0f} ms, noted on the telephone after"
        f" {ms(to_note):.0f} ms"
    )
    return Row(
        "decision tap to operation started", f"{ms(to_start):.0f} ms", "<= 100 ms", ms(to_start) <= 100, beside
    )


def _card(api: BotApi, chat: Chat, name: str) -> Shown | None:
    with api.lock:
        shown = [each for each in chat.from_bot() if f"Request {name}" in each.text]
        return next((each for each in shown if "✅ Approve" in each.labels()), None)


def _tapped(ann: Person, chat: Chat, card: Shown) -> datetime:
    """Tap on Approve, and return when the tap was answered."""
    press = ann.presses_data(chat, card, card.data_of("✅ Approve"))
    until(lambda: ann.press(press).answer is not None, "an answer to the tap")
    return datetime.now(UTC)
