"""Server-sent events, as far as models use them: bytes in, the data of each event out."""

from __future__ import annotations

__all__ = ["EventReader"]

# Not httpx-sse: it is bound to one of the two HTTP libraries, decodes every line to text although the JSON is then
# read from bytes, and knows no bound (measured in benchmarks/README.md).


class EventReader:
    """Reads one stream. Chunks may end anywhere, also inside a character or a line end.

    Rules: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream, but that an event
    at the very end counts also without the blank line behind it, which some servers leave out. Names and ids of events
    are dropped: what a model's event is, its data says.

    Args:
        max_bytes: The longest event; `feed` raises ValueError beyond it.
    """

    def __init__(self, max_bytes: int = 64_000_000) -> None:
        self._max_bytes = max_bytes
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that the chunk completes."""
        size = self._rest_size + len(chunk)
        if size + self._data_size > self._max_bytes:
            raise ValueError(f"an event is longer than {self._max_bytes:,} bytes")
        if not self._rest and chunk.endswith(b"\n"):  # whole lines, which most chunks of providers are
            return self._events(chunk)
        self._rest.append(chunk)
        self._rest_size = size
        if b"\n" not in chunk and b"\r" not in chunk and not self._ends_in_return(-2):
            return []
        text = b"".join(self._rest)
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1  # a last "\r" may be half of "\r\n"
        rest = text[end:]
        self._rest, self._rest_size = ([rest], len(rest)) if rest else ([], 0)
        return self._events(text[:end])

    def finish(self) -> list[bytes]:
        """The data of an event that the end of the stream completes."""
        text = b"".join(self._rest)
        self._rest, self._rest_size = [], 0
        return self._events(text + b"\n\n")

    def _ends_in_return(self, place: int) -> bool:
        return len(self._rest) >= -place and self._rest[place].endswith(b"\r")

    def _events(self, text: bytes) -> list[bytes]:
        events: list[bytes] = []
        for line in text.splitlines():  # of bytes: at \n, \r and \r\n only
            if not line:
                if self._data:
                    events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data, self._data_size = [], 0
            elif line.startswith(b"data:"):
                value = line[6:] if line.startswith(b" ", 5) else line[5:]
                self._data.append(value)
                self._data_size += len(value)
        return events
