"""The connections under the client: quiet about the token, exact about the status, patient with odd updates."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import Any

from telegram import Update
from telegram.error import BadRequest, TelegramError
from telegram.request import HTTPXRequest

from gateway.telegram.failures import ServerFault, Throttled

FLOOD_WAIT_UNSAID = 30.0  # s, for a 429 that names no time
_LIBRARIES = ("telegram", "httpx", "httpcore")  # they log whole addresses, token included, at INFO and DEBUG


class Connection(HTTPXRequest):
    """PTB's connection, that keeps the status apart and never logs an answer that it could not read."""

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        status, payload = await super().do_request(*args, **kwargs)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ServerFault(f"Telegram answered with status {status}")
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise BadRequest("request entity too large")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise Throttled(_retry_after(payload))
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Parse an answer; raise TelegramError if it is none. A proxy's error page may quote the address we asked."""
        try:
            answer = json.loads(payload.decode("utf-8", "replace"))
        except ValueError:
            raise TelegramError("an answer that is not JSON") from None
        if not isinstance(answer, dict) or (answer.get("ok") is True and "result" not in answer):
            raise TelegramError("an answer that is not one of the Bot API")
        return answer


class PollConnection(Connection):
    """The connection for updates: one that cannot be read must not keep the others from being read, for ever."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = Connection.parse_json_payload(payload)
        if isinstance(answer.get("result"), list):
            answer["result"] = [_readable(update) for update in answer["result"]]
        return answer


def _retry_after(payload: bytes) -> float:
    """Return how many seconds to wait, as Telegram says; a proxy in between may say 429 without saying how long."""
    try:
        return float(json.loads(payload)["parameters"]["retry_after"])
    except (ValueError, KeyError, TypeError):
        return FLOOD_WAIT_UNSAID


def _readable(update: dict[str, Any]) -> dict[str, Any]:
    """Return the update, or an empty one of the same number if PTB cannot read it."""
    try:
        Update.de_json(update, None)
    except Exception:  # noqa: BLE001 (which one depends on what is wrong with it)
        logging.getLogger(__name__).warning("an update of an unknown shape is left out")
        return {"update_id": update["update_id"]}
    return update


def quiet_libraries() -> None:
    """Keep the libraries under us from logging addresses, whatever level the rest logs at (A25)."""
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
