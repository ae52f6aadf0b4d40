"""`toolwire call web_search`: the demo application's container has it, with the keys of the environment."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.conftest import Command


class Searxng(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"results": [{"title": self.path, "url": "https://a.example/", "content": "words"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def an_instance() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Searxng) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_call_searches_with_the_keys_of_the_environment(toolwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with an_instance() as url:
        monkeypatch.setenv("WEB_SEARCH_PROVIDER", "searxng")
        monkeypatch.setenv("SEARXNG_URL", url)
        answer = toolwire("call", "web_search", '{"query": "ada"}')

    assert (answer.status, answer.err) == (0, "")
    assert answer.out == (
        '1 results for "ada" (SearXNG)\n'
        "[1] /search?q=ada&format=json&categories=general — a.example\n"
        "https://a.example/\n"
        "words\n"
    )


def test_call_tells_what_web_search_lacks(toolwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "brave")
    for variable in ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    answer = toolwire("call", "web_search", '{"query": "ada"}')

    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("toolwire: not configured: Brave needs a key, and none is set. ")
