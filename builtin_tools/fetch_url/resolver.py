"""The computer's own resolver."""

from __future__ import annotations

import asyncio
import socket

__all__ = ["SystemResolver"]


class SystemResolver:
    """Addresses as the operating system knows them: its hosts file, then DNS."""

    async def addresses(self, host: str) -> tuple[str, ...]:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
