"""Just enough HTTP/1.1 to be a server for one client: requests with a length, kept-alive connections, resets."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl


@dataclass
class Asked:
    """A request: its path, its form fields, its files by field name as (name, content)."""

    path: str
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)


async def read(reader: asyncio.StreamReader) -> Asked | None:
    """Return the next request of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        start, _, rest = head.partition(b"\r\n")
        headers = BytesParser(policy=HTTP).parsebytes(rest)
        body = await reader.readexactly(int(headers["content-length"] or 0))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    asked = Asked(start.split()[1].decode())
    kind = headers["content-type"] or ""
    if kind.startswith("multipart/form-data"):
        _read_parts(asked, kind, body)
    else:
        asked.fields = dict(parse_qsl(body.decode(), keep_blank_values=True))
    return asked


def _read_parts(asked: Asked, kind: str, body: bytes) -> None:
    document = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    for part in document.iter_parts():
        disposition = part["content-disposition"].params
        content = part.get_payload(decode=True)
        if "filename" in disposition:
            asked.files[disposition["name"]] = (disposition["filename"], content)
        else:
            asked.fields[disposition["name"]] = content.decode()


def answer(writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "application/json") -> None:
    """Write an answer."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Odd"
    writer.write(
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )


def answer_json(writer: asyncio.StreamWriter, status: int, content: dict[str, Any]) -> None:
    """Write an answer of the Bot API."""
    answer(writer, status, json.dumps(content).encode())


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with a reset, as a router does that forgot it."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
