"""`toolwire call fetch_url`."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.cli import main

DESK = """
import httpx
from dependency_injector import containers, providers

from containers import BuiltinTools
from toolkit import Agent
from toolkit.injection import AppScoped, provide


class Book:
    async def addresses(self, host):
        return ["93.184.216.34"]


def answer(request):
    return httpx.Response(200, text="Tea is a drink.", headers={"content-type": "text/plain"})


class Desk(containers.DeclarativeContainer):
    http = AppScoped(httpx.AsyncClient, transport=httpx.MockTransport(answer))
    tools = providers.Container(BuiltinTools, http=http, fetch_resolver=providers.Factory(Book))
    agent = provide(Agent, tools=[])
"""


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page_desk.py").write_text(DESK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def called(url: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["call", "fetch_url", f'{{"url": "{url}"}}', "--app", "page_desk:Desk"])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_page_is_printed_as_a_model_would_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called("https://tea.example/", capsys)

    assert (code, err) == (0, "")
    assert "url: https://tea.example/\n\nTea is a drink.\n" in out


def test_a_refused_address_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called("http://169.254.169.254/", capsys)

    assert (code, out) == (1, "")
    assert err.startswith("toolwire: blocked url: the host is a link-local address")
