"""`httpx.AsyncClient` and `httpx2.AsyncClient` are the client that models and tools want: type checkers agree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import httpx2
import pytest

from builtin_tools.fetch_url import PageClient
from toolkit.http import HttpClient, HttpResponse, StreamingHttpClient

ROOT = Path(__file__).resolve().parents[2]


def takes_client(client: HttpClient) -> HttpClient:
    return client


def takes_streaming_client(client: StreamingHttpClient) -> StreamingHttpClient:
    return client


def takes_response(response: HttpResponse) -> HttpResponse:
    return response


def both_libraries_fit(one: httpx.AsyncClient, two: httpx2.AsyncClient) -> tuple[HttpClient, HttpClient]:
    return takes_client(one), takes_client(two)


def both_libraries_stream(
    one: httpx.AsyncClient, two: httpx2.AsyncClient
) -> tuple[StreamingHttpClient, StreamingHttpClient]:
    return takes_streaming_client(one), takes_streaming_client(two)


def both_responses_fit(one: httpx.Response, two: httpx2.Response) -> tuple[HttpResponse, HttpResponse]:
    return takes_response(one), takes_response(two)


def both_libraries_read_pages(one: httpx.AsyncClient, two: httpx2.AsyncClient) -> tuple[PageClient, PageClient]:
    return one, two


@pytest.mark.parametrize(
    "checker",
    [
        pytest.param(["mypy"], id="mypy"),
        pytest.param(["pyright", "--warnings", "--pythonpath", sys.executable], id="pyright"),
    ],
)
def test_both_libraries_clients_meet_the_protocol_for_a_strict_checker(checker: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", *checker, str(Path(__file__))]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_client_without_timeout_does_not_meet_the_protocol(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from toolkit.http import HttpClient\n"
        "class Wrong:\n"
        "    async def request(self, method: str, url: str) -> bytes: return b''\n"
        "client: HttpClient = Wrong()\n"
    )

    ended = subprocess.run(
        [sys.executable, "-m", "mypy", str(wrong)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "incompatible type" in ended.stdout.lower() or "Incompatible types" in ended.stdout
