"""The servers that speak OpenAI's chat format: which one an address belongs to, and what has to be said of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from toolkit import ConfigurationError
from toolkit.messages import UserMessage
from toolkit.models import ModelRequest, OpenAIChatModel
from toolkit.models.servers import SERVERS, server_at, server_named

KNOWN = [(server, server.base_url) for server in SERVERS if server.base_url is not None and server.name != "vllm"]


@pytest.mark.parametrize(("server", "base_url"), KNOWN, ids=[server.name for server, _ in KNOWN])
def test_a_server_is_told_by_its_own_address(server: Any, base_url: str) -> None:
    assert server_at(base_url) is server


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://mine.openai.azure.com/openai/v1", "azure"),
        ("https://mine.services.ai.azure.com/openai/v1", "azure"),
        ("https://API.OPENAI.COM/v1", "openai"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://[::1]:1234/v1", "lmstudio"),
        ("http://127.0.0.1:9/v1", "openai-compatible"),
        ("http://elsewhere:11434/v1", "openai-compatible"),
        ("https://api.openai.com.example.org/v1", "openai-compatible"),
        ("https://openai.azure.com.example.org/v1", "openai-compatible"),
        ("http://localhost:port/v1", "openai-compatible"),
    ],
)
def test_an_address_belongs_to_a_server_or_to_none_that_is_known(base_url: str, name: str) -> None:
    assert server_at(base_url).name == name


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="no server is named 'mistrall'; those known are 'openai', 'azure'"):
        server_named("mistrall")


@pytest.mark.parametrize("server", ["azure", "openai-compatible"])
def test_a_server_without_an_address_of_its_own_needs_one(server: str) -> None:
    with pytest.raises(ConfigurationError, match="has no address of its own"):
        OpenAIChatModel("m", http=httpx.AsyncClient(), server=server)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_model_needs_a_name(name: str) -> None:
    with pytest.raises(ConfigurationError, match="needs the name of a model"):
        OpenAIChatModel(name, http=httpx.AsyncClient())


@pytest.mark.parametrize("key", ["sk\n1", "schlüssel", "a\tb"])
def test_a_key_that_no_header_can_hold_is_an_error_that_does_not_show_it(key: str) -> None:
    with pytest.raises(ConfigurationError, match="api_key goes into an HTTP header") as caught:
        OpenAIChatModel("m", http=httpx.AsyncClient(), api_key=key)

    assert key not in str(caught.value)


async def test_azure_is_sent_its_key_in_its_own_header_and_its_query_with_every_request() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"choices": [{"message": {"content": "x"}}]})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        base_url = "https://mine.openai.azure.com/openai/deployments/gpt?api-version=2026-01-01"
        await OpenAIChatModel("gpt", http=http, api_key="the-key", base_url=base_url).respond(
            ModelRequest([UserMessage("Hi")])
        )

    [request] = seen
    assert request.url.path == "/openai/deployments/gpt/chat/completions"
    assert dict(request.url.params) == {"api-version": "2026-01-01"}
    assert request.headers["api-key"] == "the-key"
    assert "authorization" not in request.headers
