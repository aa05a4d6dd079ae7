"""The server: HTTP on loopback in a thread of its own, to serve tests in this process and in others alike."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from bot_api import methods, schema, wire
from bot_api.faults import Ending, Fault
from bot_api.people import Person
from bot_api.world import Chat, World

BOT_ID = 7000001
DEADLINE = 60.0  # seconds until a test gives up waiting; nothing is asserted about time itself


@dataclass(frozen=True)
class Call:
    """One call that the bot made."""

    method: str
    values: dict[str, Any]
    at: float  # by the clock that the test gave
    status: int | None  # None if the caller got no answer


class BotApi:
    """A Bot API server for one bot. Use as a context manager; leaving it asserts that every call kept to the schema.

    `world` and `calls` may be looked at and changed while holding `lock`. `clock` stamps the calls.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        # of the shape that real ones have; its own for each server, for a token is locked on the whole host
        self.token = f"{BOT_ID}:AA{secrets.token_hex(17)[:33]}"
        self.lock = threading.RLock()
        self.world = World(BOT_ID)
        self.calls: list[Call] = []
        self.violations: list[str] = []
        self.weather: Callable[[str], Fault | None] = lambda _method: None  # asked when nothing is scripted
        self.before_answer: Callable[[str, Any], None] = lambda _method, _result: None  # after a call had its effect
        self.revoked = False
        self.port = 0
        self._clock = clock
        self._scripts: dict[str, deque[Fault | None]] = defaultdict(deque)
        self._standing: dict[str, Fault] = {}
        self._changed = threading.Condition(self.lock)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bot-api", daemon=True)
        self._poll: asyncio.Future[None] | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        self.world.arrived = lambda: self._loop.call_soon_threadsafe(self._wake_poll, False)
        return self

    def __exit__(self, kind: object, *_rest: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE)
        self._loop.close()
        if kind is None:
            assert self.violations == []

    def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = self._wait(asyncio.start_server(self._accept, "127.0.0.1", self.port))
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Refuse connections and cut those that there are: Telegram is away."""
        self._wait(self._cut())

    def _wait(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(DEADLINE)

    async def _cut(self) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    # What a test says and asks

    def person(self, user_id: int, name: str, username: str = "", *, is_bot: bool = False) -> Person:
        """Return somebody with an account."""
        return Person(self, user_id, name, username, is_bot)

    def group(self, chat_id: int = -1001, *, forum: bool = False, kind: str = "supergroup") -> Chat:
        """Return a group that the bot is in; a forum has the topics 5 and 6."""
        with self.lock:
            return self.world.chat(chat_id, kind, forum=forum)

    def script(self, method: str, faults: Iterable[Fault | None]) -> None:
        """Let the next calls of `method` meet these faults, one each; None is a call that goes well."""
        with self.lock:
            self._scripts[method].extend(faults)

    def always(self, method: str, fault: Fault | None) -> None:
        """Let every call of `method` meet this fault from now on; None ends that."""
        with self.lock:
            if fault is None:
                self._standing.pop(method, None)
            else:
                self._standing[method] = fault

    def called(self, method: str) -> list[Call]:
        """Return the calls of `method` so far."""
        with self.lock:
            return [call for call in self.calls if call.method == method]

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds()`, looked at after every call; fail after DEADLINE seconds."""
        with self._changed:
            assert self._changed.wait_for(holds, DEADLINE), "what the test waits for did not happen"

    # What the bot asks

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (asked := await wire.read(reader)) is not None and await self._serve(asked, reader, writer):
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _serve(self, asked: wire.Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one call; return whether the connection goes on."""
        bot, _, method = asked.path.removeprefix("/bot").partition("/")
        fault = self._fault(method)
        status, content = 200, {}
        if fault is None or fault.applied:
            status, content = await self._applied(bot, method, asked, reader)
        ending = Ending.ANSWER if fault is None else fault.ending
        if fault is not None and ending is Ending.ANSWER:
            status = fault.status
            content = {"ok": False, "error_code": status, "description": fault.description}
            content |= {"parameters": fault.parameters} if fault.parameters else {}
        self._note(method, asked, status if ending is Ending.ANSWER else None)
        if ending is Ending.GARBAGE:
            wire.answer(writer, 200, f"<html>cannot read {asked.path}</html>".encode(), "text/html")
        elif ending is Ending.ANSWER:
            wire.answer_json(writer, status, content)
        if ending is Ending.STALL:
            await reader.read(1)  # the caller gives up
        elif ending is Ending.RESET:
            wire.reset(writer)
        return ending in (Ending.ANSWER, Ending.GARBAGE)

    def _fault(self, method: str) -> Fault | None:
        with self.lock:
            if self._scripts[method]:
                return self._scripts[method].popleft()
            return self._standing.get(method) or self.weather(method)

    def _note(self, method: str, asked: wire.Asked, status: int | None) -> None:
        with self._changed:
            self.calls.append(Call(method, dict(asked.fields), self._clock(), status))
            self._changed.notify_all()

    async def _applied(
        self, bot: str, method: str, asked: wire.Asked, reader: asyncio.StreamReader
    ) -> tuple[int, dict[str, Any]]:
        try:
            if bot != self.token or self.revoked:
                raise methods.Refusal(401, "Unauthorized")
            if method not in schema.METHODS:
                raise methods.Refusal(404, "Not Found")
            values = schema.decode(method, asked.fields, asked.files)
            if method == "getUpdates":
                return 200, {"ok": True, "result": await self._updates(values, reader)}
            with self.lock:
                result = methods.call(self.world, method, values, asked.files)
            self.before_answer(method, result)
        except schema.BadCall as problem:
            self.violations.append(str(problem))
            return 400, {"ok": False, "error_code": 400, "description": f"Bad Request: {problem}"}
        except methods.Refusal as refusal:
            content: dict[str, Any] = {
                "ok": False, "error_code": refusal.status, "description": refusal.description,
            }  # fmt: skip
            return refusal.status, content | ({"parameters": refusal.parameters} if refusal.parameters else {})
        return 200, {"ok": True, "result": result}

    async def _updates(self, values: dict[str, Any], reader: asyncio.StreamReader) -> list[dict[str, Any]]:
        """Hold a poll until there is something to tell. A second poll ends the first one with a conflict."""
        if self.world.webhook:
            raise methods.Refusal(
                409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first"
            )
        self._wake_poll(True)
        with self.lock:
            self._confirm(values.get("offset"))
            self.world.heard = values.get("allowed_updates", self.world.heard)
        if not self.world.updates and values.get("timeout", 0):
            self._poll = poll = self._loop.create_future()
            gone = asyncio.ensure_future(reader.read(1))  # nothing more is asked on a connection that waits
            try:
                await asyncio.wait([poll, gone], timeout=values["timeout"], return_when="FIRST_COMPLETED")
                if poll.done():
                    poll.result()
            finally:
                self._poll = None if self._poll is poll else self._poll
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)
        with self.lock:
            return self.world.updates[: values.get("limit", 100)]

    def _confirm(self, offset: int | None) -> None:
        if offset is None:
            return
        waiting = self.world.updates
        self.world.updates = waiting[offset:] if offset < 0 else [u for u in waiting if u["update_id"] >= offset]

    def _wake_poll(self, conflict: bool) -> None:
        poll, self._poll = self._poll, None
        if poll is None or poll.done():
            return
        if conflict:
            poll.set_exception(
                methods.Refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one ...")
            )
        else:
            poll.set_result(None)
