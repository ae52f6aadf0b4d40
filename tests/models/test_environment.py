"""The model that the environment names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.loopback import Reply, serving
from toolkit import Agent, ConfigurationError
from toolkit.models import KeywordModel, OpenAIChatModel, from_environment
from toolkit.models.catalogue import PROVIDERS
from toolkit.models.choice import ModelChoice

KEYS = ["TOOLKIT_MODEL", "TOOLKIT_BASE_URL", "GEMINI_API_KEY"]
KEYS += sorted({variable for provider in PROVIDERS for variable in provider.key_variables})
ANSWER = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


def test_the_keyword_model_is_used_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "keyword")

    assert isinstance(from_environment(http=None), KeywordModel)


def test_with_nothing_set_the_error_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError) as caught:
        from_environment(http=None)

    for wanted in ("TOOLKIT_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"):
        assert wanted in str(caught.value)


@pytest.mark.parametrize(
    "wanted", ["nobody:nothing", "gpt-5.6", ":", "openai:", ":gpt", "keyword:x"], ids=lambda text: text
)
def test_what_names_no_model_is_an_error_that_names_it(wanted: str, monkeypatch: pytest.MonkeyPatch, http: Any) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", wanted)

    with pytest.raises(ConfigurationError, match=r"names no model|no provider of models is named"):
        from_environment(http=http)


def test_a_base_url_alone_is_an_error(monkeypatch: pytest.MonkeyPatch, http: Any) -> None:
    monkeypatch.setenv("TOOLKIT_BASE_URL", "http://localhost:1234/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")

    with pytest.raises(ConfigurationError, match="TOOLKIT_BASE_URL is set and TOOLKIT_MODEL is not"):
        from_environment(http=http)


def test_the_first_key_that_is_set_chooses() -> None:
    keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"]

    chosen = [ModelChoice.of_environment(dict.fromkeys(keys[first:], "k")).provider_name for first in range(4)]

    assert chosen == ["openai", "anthropic", "gemini", "openrouter"]
    assert str(ModelChoice.of_environment({"OPENAI_API_KEY": "  ", "GEMINI_API_KEY": "k"})).startswith("gemini:")


def test_the_model_of_the_environment_comes_before_every_key() -> None:
    assert str(ModelChoice.of_environment({"OPENAI_API_KEY": "k", "TOOLKIT_MODEL": "groq:llama"})) == "groq:llama"


def test_a_choice_is_shown_as_it_was_asked_for() -> None:
    environment = {"TOOLKIT_MODEL": "openai:mine", "TOOLKIT_BASE_URL": "http://localhost:1234/v1"}

    assert str(ModelChoice.of_environment(environment)) == "openai:mine"
    assert str(ModelChoice.named(" google : gemini-3.8-flash")) == "google:gemini-3.8-flash"


async def test_a_server_of_ones_own_gets_the_key_that_was_set_for_it(
    monkeypatch: pytest.MonkeyPatch, http: Any
) -> None:
    async with serving(Reply(ANSWER)) as server:
        monkeypatch.setenv("TOOLKIT_MODEL", "openai:my-model")
        monkeypatch.setenv("TOOLKIT_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")

        run = await Agent(from_environment(http=http)).run("Hi")

    [got] = server.requests
    assert run.response == "Hello."
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == "Bearer sk-mine"


async def test_no_key_of_the_environment_goes_to_another_address(monkeypatch: pytest.MonkeyPatch, http: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    async with serving(Reply(ANSWER)) as server:
        model = OpenAIChatModel("a", http=http, base_url=server.url, server="openai")

        await Agent(model).run("Hi")

    assert "authorization" not in server.requests[0].headers


def test_names_with_colons_stay_whole(http: Any) -> None:
    model = ModelChoice.named("ollama:qwen3:8b").make(http=http)

    assert isinstance(model, OpenAIChatModel)
    assert (model.name, model.base_url) == ("qwen3:8b", "http://localhost:11434/v1")
