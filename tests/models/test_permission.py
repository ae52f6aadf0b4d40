"""The question that providers' models ask before each request."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from threading import Thread

import pytest

from toolkit import Agent
from toolkit.models import ModelRequest, ModelResponse
from toolkit.models.permission import check_request, requests_checked_by

URL = "https://provider.example/v1/chat"


class Refused(BaseException):
    """As a test runner may raise it: no `except Exception` on the way swallows it."""


class Asking:
    """A model that asks, and sends nothing."""

    def __init__(self, http: object = None) -> None:
        self.http = http

    async def respond(self, request: ModelRequest) -> ModelResponse:
        check_request(URL, self.http)
        return ModelResponse("sent")


def refuse(url: str, http: object) -> None:
    raise Refused(url)


def allow(url: str, http: object) -> None:
    pass


def test_every_request_is_allowed_when_nobody_checks() -> None:
    code = f"from toolkit.models.permission import check_request; print(check_request({URL!r}, object()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "None\n"


async def test_who_checks_gets_the_url_and_the_client() -> None:
    asked = []
    http = object()

    with requests_checked_by(lambda url, client: asked.append((url, client))):
        run = await Agent(Asking(http)).run("hi")

    assert run.response == "sent"
    assert asked == [(URL, http)]


async def test_a_refusal_that_is_no_exception_ends_the_run_as_it_is() -> None:
    with requests_checked_by(refuse), pytest.raises(Refused, match=r"provider\.example"):
        await Agent(Asking()).run("hi")


async def test_a_refusal_ends_a_stream_as_it_is() -> None:
    async def listen() -> None:
        async with Agent(Asking()).stream("hi") as stream:
            async for _ in stream:
                pass

    with requests_checked_by(refuse), pytest.raises(Refused):
        await listen()


def test_threads_and_event_loops_of_their_own_are_checked_too() -> None:
    ended = []

    def in_a_thread() -> None:
        try:
            asyncio.run(Asking().respond(ModelRequest([])))
        except Refused as error:
            ended.append(str(error))

    with requests_checked_by(refuse):
        thread = Thread(target=in_a_thread)
        thread.start()
        thread.join()

    assert ended == [URL]


def test_the_innermost_check_decides_and_the_one_before_comes_back() -> None:
    with requests_checked_by(refuse):
        with requests_checked_by(allow):
            check_request(URL, None)
        with pytest.raises(Refused):
            check_request(URL, None)
