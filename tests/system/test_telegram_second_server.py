"""The main path through the real process, against a Bot API server that somebody else wrote."""

from __future__ import annotations

import pytest
from bot_api.second_server import ANN_ID, second_server
from served_host import ServedHost, until

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


def test_what_is_asked_is_shown_approved_by_a_tap_and_its_result_stands_on_the_card(host: ServedHost) -> None:
    with second_server() as server:
        host.settings |= {
            "GATEWAY_TELEGRAM_BOT_TOKEN": server.token,
            "GATEWAY_TELEGRAM_CHAT_ID": str(ANN_ID),
            "GATEWAY_TELEGRAM_OPERATOR_IDS": str(ANN_ID),
            "GATEWAY_TELEGRAM_API_URL": server.url,
        }
        with host.running() as gateway:
            host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
            card = until(lambda: server.showing("Request tag-1", "Approve?", "git tag v9"), "the card")
            server.press(card, "✅ Approve")
            assert host.in_state("tag-1", "succeeded")["approval"]["decided_by"] == "telegram"
            until(lambda: server.showing("Request tag-1", "Done", "Approved by @ann") == card, "the result on it")
            assert server.asked("answerCallbackQuery") == [200]
            assert server.refused() == "[]"
            assert gateway.stop() == 0
    assert host.git("tag") == "v9"
