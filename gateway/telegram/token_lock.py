"""One poller per token on this host: Telegram gives each update to one only, and fails both (A01)."""

from __future__ import annotations

import errno
import hashlib
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import SecretStr


class TokenLock:
    """A lock named by a hash of the token: the same for every user and state directory of the host.

    It is an abstract Unix socket rather than a locked file: a file would need a directory that every user may write,
    where anybody can plant or keep it, and this name is gone with the process, however that ends.
    """

    def __init__(self, token: SecretStr) -> None:
        digest = hashlib.sha256(b"ops-gateway poller " + token.get_secret_value().encode()).hexdigest()
        self._name = f"\0ops-gateway-{digest[:32]}"
        self._socket: socket.socket | None = None

    def take(self) -> bool:
        """Take the lock; return False if another process has it. Taking it twice is no error."""
        if self._socket is not None:
            return True
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            holder.bind(self._name)
        except OSError as error:
            holder.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        self._socket = holder
        return True

    def release(self) -> None:
        """Let another process have it."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
