"""Stopping a call from another thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ._braid import StopSource
from ._errors import Cancelled


class Cancel(StopSource):
    """Stops a call in the engine; hangs up on the server where a call waits for one, which makes
    the server stop it."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []

    def request_stop(self) -> bool:
        first = super().request_stop()
        with self._lock:
            for line in self._sockets:
                _hang_up(line)
        return first

    @contextmanager
    def over(self, line: socket.socket) -> Iterator[None]:
        """A call over this connection. Cancelled if it was stopped before."""
        with self._lock:
            self._sockets.append(line)
        try:
            if self.stop_requested:
                raise Cancelled("the call was cancelled")
            yield
        finally:
            with self._lock:
                self._sockets.remove(line)


def _hang_up(line: socket.socket) -> None:
    # Not the method of a TLS socket, which takes apart what another thread is reading from.
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)
