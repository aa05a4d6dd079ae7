"""Which chat the gateway speaks in, now: Telegram can give a group another id while it runs (A20)."""

from __future__ import annotations

from dataclasses import replace

from loguru import logger

from gateway.telegram.authorise import ChatPolicy


class PlaceInChat:
    """Holds the present policy: where operators speak, and who they are."""

    def __init__(self, policy: ChatPolicy) -> None:
        self.policy = policy

    @property
    def chat(self) -> int:
        return self.policy.chat_id

    @property
    def topic(self) -> int | None:
        return self.policy.topic_id

    def policy_now(self, *, general_too: bool) -> ChatPolicy:
        """Return the policy; with `general_too` the General topic counts as ours, for ours is gone at present."""
        return replace(self.policy, general_too=general_too)

    def moved(self, old: int, new: int) -> None:
        """Follow Telegram's own word that our chat `old` is `new` from now on; another chat's move is not ours."""
        if old == self.policy.chat_id and new != old:
            logger.warning("the operators' chat has another id now: set GATEWAY_TELEGRAM_CHAT_ID={}", new)
            self.policy = self.policy.moved_to(new)
