"""Server-sent events by value: what is data of an event, and what is none."""

from __future__ import annotations

import pytest

from toolkit.models.sse import EventReader

TABLE: list[tuple[str, bytes, list[bytes]]] = [
    ("one event", b"data: x\n\n", [b"x"]),
    ("no space behind the colon", b"data:x\n\n", [b"x"]),
    ("one space only is taken off", b"data:  x\n\n", [b" x"]),
    ("several lines", b"data: a\ndata: b\n\n", [b"a\nb"]),
    ("names, ids and comments", b": hello\nevent: e\nid: 7\nretry: 5\ndata: x\n\n", [b"x"]),
    ("an event without data", b"event: ping\n\ndata: x\n\n", [b"x"]),
    ("carriage returns", b"data: a\r\rdata: b\r\n\r\n", [b"a", b"b"]),
    ("blank lines between", b"\n\ndata: a\n\n\n\ndata: b\n\n", [b"a", b"b"]),
    ("no blank line at the end", b"data: a\n\ndata: b", [b"a", b"b"]),
    ("line separators that are no line ends", "data: a\u2028b\x0bc\n\n".encode(), ["a\u2028b\x0bc".encode()]),
]


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize(("stream", "events"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_data_of_each_event_is_given(stream: bytes, events: list[bytes], size: int) -> None:
    reader = EventReader()

    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    found = [event for piece in pieces for event in reader.feed(piece)]

    assert [*found, *reader.finish()] == events


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 40, b"data: xxxxxxxx\n"], ids=["one line", "many lines"])
def test_an_event_that_is_too_long_is_refused(piece: bytes) -> None:
    reader = EventReader(max_bytes=100)

    with pytest.raises(ValueError, match="longer than 100 bytes"):
        any(reader.feed(piece) for _ in range(20))
