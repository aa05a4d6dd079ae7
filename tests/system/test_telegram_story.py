"""An agent and two operators, through the real process and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from served_host import ServedHost
from telegram_chat import OpsChat, ops_chat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


@pytest.fixture
def chat(host: ServedHost) -> Iterator[OpsChat]:
    with ops_chat(host) as chat:
        yield chat


def test_one_operator_approves_another_is_told_so_and_the_agent_reads_the_result(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.card("tag-1", "Approve?", "git tag v9")
        assert chat.tap(chat.ann, card, "✅ Approve").answer == "Approved: it runs now."
        assert "Already approved by @ann" in (chat.tap(chat.bob, card, "✅ Approve").answer or "")
        assert host.in_state("tag-1", "succeeded")["approval"]["decided_by"] == "telegram"
        chat.card("tag-1", "Done", "Approved by @ann")
        assert len(chat.messages("tag-1")) == 1
