"""No accident reaches a network: for tests that run code which was written to be read."""

from __future__ import annotations

import socket
from typing import Any

import pytest

__all__ = ["refuse_connections"]


def refuse_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends, a connection to anything but this machine fails the test."""
    connect = socket.socket.connect

    def connect_here_only(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            pytest.fail(f"code that has to run offline would connect to {address[0]}")
        connect(self, address)

    def look_up_nothing(host: Any, *_: Any, **__: Any) -> Any:
        pytest.fail(f"code that has to run offline would look up {host}")

    monkeypatch.setattr(socket.socket, "connect", connect_here_only)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_nothing)
