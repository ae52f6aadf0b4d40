"""A `base_url` that is wrong: what is no address is found at once, what is another one is told by its first answer."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest

from containers import Models
from tests.http.loopback import Reply, serving
from tests.models.providers import ANTHROPIC, CHAT, FORMATS, GEMINI, RESPONSES, Format
from toolkit import Agent, ConfigurationError, ModelError
from toolkit.injection import check
from toolkit.models.choice import ModelChoice

WRONG = [
    "127.0.0.1:9922/v1",
    "localhost:11434/v1",
    "llm.example.org/v1",
    "ftp://llm.example.org/v1",
    "http:///v1",
    "http://localhost:port/v1",
    "http://localhost:99999/v1",
    "http://[::1/v1",
    "http://local host/v1",
    "http://localhost/v1\n",
]
PATHS = {CHAT.name: "/chat/completions", RESPONSES.name: "/responses", ANTHROPIC.name: "/messages"}
PATHS[GEMINI.name] = "/models/a-model:generateContent"


@pytest.mark.parametrize("base_url", WRONG)
@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
def test_what_is_no_address_is_refused_when_the_model_is_made(wire: Format, base_url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"base_url is '.*', and no address; it begins with http://"):
        wire.model("a-model", http=httpx.AsyncClient(), base_url=base_url)


@pytest.mark.parametrize("base_url", WRONG)
def test_what_is_no_address_is_refused_when_a_model_is_chosen(base_url: str) -> None:
    with pytest.raises(ConfigurationError, match="and no address"):
        ModelChoice.named("openai:a-model", base_url=base_url)


def test_a_check_of_the_container_finds_what_is_no_address() -> None:
    container = Models(config={"model": "vllm:a-model", "base_url": "127.0.0.1:9922/v1"}, http=httpx.AsyncClient())

    with pytest.raises(ConfigurationError, match=r"base_url is '127\.0\.0\.1:9922/v1', and no address"):
        check(container)


def test_a_name_and_password_in_what_is_no_address_are_not_told() -> None:
    with pytest.raises(ConfigurationError) as caught:
        ModelChoice.named("openai:a-model", base_url="ada:hunter2@llm.example.org/v1")

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("provider", ["openai-compatible", "azure"])
def test_a_provider_without_an_address_says_where_to_give_one(provider: str) -> None:
    with pytest.raises(ConfigurationError, match="--base-url, in the environment TOOLKIT_BASE_URL"):
        ModelChoice.named(f"{provider}:a-model")


@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize("body", [b"", b"404 page not found", {"detail": "Not Found"}], ids=["empty", "text", "json"])
@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
async def test_a_path_that_nobody_knows_is_told_with_a_doubt_about_the_address(
    wire: Format, body: Any, status: int, http: Any
) -> None:
    async with serving(Reply(body, status=status)) as server:
        with pytest.raises(ModelError) as caught:
            await Agent(wire.model("a-model", http=http, base_url=f"{server.url}/api?key=k-123")).run("Hi")

    path = PATHS[wire.name]
    said = str(caught.value)
    assert f"'/api{path}' was asked: does base_url end where '{path}' begins, often in /v1" in said
    assert "k-123" not in said


async def test_an_address_that_holds_the_path_already_is_told_too(http: Any) -> None:
    invalid = {"error": {"message": "Invalid URL (POST /v1/chat/completions/chat/completions)", "code": None}}
    async with serving(Reply(invalid, status=404)) as server:
        with pytest.raises(ModelError) as caught:
            await Agent(CHAT.model("a-model", http=http, base_url=f"{server.url}/v1/chat/completions")).run("Hi")

    assert "does base_url end where '/chat/completions' begins" in str(caught.value)


@pytest.mark.parametrize(
    "message",
    ["The model `a-model` does not exist", "model 'a-model' not found", "model: a-model"],
    ids=["openai", "ollama", "anthropic"],
)
async def test_a_model_that_nobody_knows_casts_no_doubt_on_the_address(message: str, http: Any) -> None:
    async with serving(Reply({"error": {"message": message}}, status=404)) as server:
        with pytest.raises(ModelError) as caught:
            await Agent(CHAT.model("a-model", http=http, base_url=f"{server.url}/v1")).run("Hi")

    assert message in str(caught.value)
    assert "base_url" not in str(caught.value)


@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
async def test_a_server_that_is_not_there_is_named_with_its_port(wire: Format, http: Any) -> None:
    with socket.socket() as taken:  # bound and not listening: whoever connects is refused
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        with pytest.raises(ModelError, match=rf"\(127\.0\.0\.1:{port}\) could not be reached"):
            await Agent(wire.model("a-model", http=http, base_url=f"http://127.0.0.1:{port}/v1")).run("Hi")
