"""Recorded exchanges of providers, served over loopback HTTP by the shared replay server."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.shared_files import names_in, shared, shared_json

SPLITS = (7, 13, 1024)  # bytes of each piece of a streamed body


@dataclass(frozen=True)
class Exchange:
    """One recorded exchange: what another client sent, and what the provider answered."""

    cassette: str
    number: int
    path: str
    request: dict[str, Any]
    status: int
    answer: Any  # the JSON, or the text of a stream

    @property
    def is_streamed(self) -> bool:
        return isinstance(self.answer, str)


def cassettes(*apis: str) -> list[str]:
    """The names of the recordings of these wire formats, such as `chat`; empty where the shared files are missing."""
    names = [name.removesuffix(".json") for name in names_in("cassettes", "*.json")]
    return [name for name in names if name.split("-")[1] in apis]


def exchanges(cassette: str) -> list[Exchange]:
    recorded = shared_json(f"cassettes/{cassette}.json")["interactions"]
    return [
        Exchange(
            cassette,
            number,
            one["path"],
            one["request"],
            one["response"]["status"],
            one["response"]["text"] if "text" in one["response"] else one["response"]["json"],
        )
        for number, one in enumerate(recorded)
    ]


@dataclass(frozen=True)
class Replay:
    """The server. Each cassette's answers come back in recorded order, from wherever `rewind` left it."""

    url: str

    def base_url(self, cassette: str, path: str = "") -> str:
        """Where a recorded client's base URL of `path` (such as `/v1`) lies."""
        return f"{self.url}/c/{cassette}{path}"

    def log(self, cassette: str) -> list[dict[str, Any]]:
        """What came, each beside what the recorder's client had sent: `path`, `sent`, `recorded`, `hit`."""
        with urllib.request.urlopen(f"{self.url}/log/{cassette}") as answer:
            entries: list[dict[str, Any]] = json.load(answer)
        return entries

    def rewind(self, cassette: str) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/reset/{cassette}", method="POST")).close()


@contextlib.contextmanager
def replaying(split: int = 1024) -> Iterator[Replay]:
    """The server until the end of the block; streamed bodies come in pieces of `split` bytes."""
    spec = importlib.util.spec_from_file_location("replay_server", shared("replay/replay_server.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.make(str(shared("cassettes")), 0, split)
    for name in names_in("cassettes", "*.json"):  # the server leaves the files that it reads open, for warnings to find
        server.cass[name.removesuffix(".json")] = shared_json(f"cassettes/{name}")["interactions"]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Replay(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
