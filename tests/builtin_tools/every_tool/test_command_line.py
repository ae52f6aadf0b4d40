"""`toolwire call` with each tool's own example, over requests to a server on the loopback interface."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from containers import BuiltinTools
from tests.builtin_tools.every_tool.table import EACH, TOOLS, arguments_of, config_for, fine, tool_of
from tests.http.loopback import LoopbackServer, serving
from toolkit.cli import main

DESK = """
import httpx
from dependency_injector import containers, providers

from containers import BuiltinTools
from toolkit import Agent
from toolkit.hooks import Allow
from toolkit.injection import AppScoped, provide


class AllowEverything:
    def on_before_call(self, ctx, call):
        return Allow()


class Desk(containers.DeclarativeContainer):
    config = providers.Configuration(default={config!r})
    http = AppScoped(httpx.AsyncClient, trust_env=False)
    tools = providers.Container(BuiltinTools, config=config, http=http)
    agent = provide(Agent, tools=[], hooks=[AllowEverything()])
"""


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    """It runs in a thread of its own, since the command opens and closes its own event loop."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving(fine)) as served:
        yield served


def called(name: str, arguments: str, config: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    (tmp_path / "desk_of_every_tool.py").write_text(DESK.replace("{config!r}", repr(config)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "desk_of_every_tool", raising=False)
    return main(["call", name, arguments, "--app", "desk_of_every_tool:Desk"])


@EACH
def test_a_call_prints_what_a_model_would_read(
    server: LoopbackServer,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = json.dumps(arguments_of(tool_of(BuiltinTools(http=None), name), server.url))
    asked = len(server.requests)

    code = called(name, arguments, config_for(server.url), tmp_path, monkeypatch)

    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    assert [told for told in TOOLS[name].told if told not in printed.out] == []
    assert len(server.requests) > asked


@pytest.mark.parametrize("name", [name for name, row in TOOLS.items() if row.needs])
def test_a_call_that_lacks_its_key_contact_or_switch_is_an_error_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = json.dumps(arguments_of(tool_of(BuiltinTools(http=None), name), "http://127.0.0.1:9"))

    code = called(name, arguments, {}, tmp_path, monkeypatch)

    printed = capsys.readouterr()
    assert (code, printed.out) == (1, "")
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(("toolwire: not configured: ", f"toolwire: unknown tool '{name}'"))
