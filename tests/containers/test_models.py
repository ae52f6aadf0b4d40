"""`containers.Models`: a model chosen by configuration."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from dependency_injector import containers, providers

from containers import Models
from tests.http.loopback import LoopbackServer, Reply, serving
from toolkit import Agent, ConfigurationError
from toolkit.injection import AppScoped, application, dep, overriding, provide
from toolkit.models import KeywordModel, ModelSettings, OpenAIChatModel, RetryingModel
from toolkit.models.catalogue import PROVIDERS
from toolkit.models.choice import ModelChoice
from toolkit.testing import ScriptedModel, says

ANSWER = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("TOOLKIT_MODEL", "TOOLKIT_BASE_URL", *(key for one in PROVIDERS for key in one.key_variables)):
        monkeypatch.delenv(key, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with serving(lambda _: Reply(ANSWER)) as served:
        yield served


class Application(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    http = AppScoped(httpx.AsyncClient, trust_env=False)
    models = providers.Container(Models, config=config.models, http=http)
    agent = provide(Agent, model=dep(models.retrying_model))


async def test_the_configuration_chooses_model_address_key_and_settings(server: LoopbackServer) -> None:
    container = Application()
    container.config.from_dict(
        {
            "models": {
                "model": "mistral:mistral-large-latest",
                "base_url": f"{server.url}/v1",
                "api_key": "the-key",
                "settings": {"temperature": 0, "seed": 7},
            }
        }
    )

    async with application(container) as app:
        run = await app.agent().run("Hi")

    [got] = server.requests
    assert run.response == "Hello."
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == "Bearer the-key"
    body = json.loads(got.body)
    assert (body["model"], body["temperature"], body["random_seed"]) == ("mistral-large-latest", 0, 7)


def test_without_a_section_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "keyword")

    assert isinstance(Application().models.model(), KeywordModel)
    assert isinstance(Models(http=None).model(), KeywordModel)


@pytest.mark.parametrize("provider", [one.name for one in PROVIDERS if one.model == "OpenAIChatModel"])
def test_every_server_can_be_chosen_by_name(provider: str) -> None:
    models = Models(config={"model": f"{provider}:some", "base_url": "http://localhost:9/v1"}, http=httpx.AsyncClient())

    model = models.model()

    assert isinstance(model, OpenAIChatModel)
    assert model.server.name == ("openai" if provider == "openai-chat" else provider)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model": "gpt-5.6"}, "names no model"),
        ({"model": "nobody:x"}, "no provider of models is named 'nobody'"),
        ({"model": "keyword", "modle": "x"}, "has no key 'modle'"),
        ({"base_url": "http://localhost:1/v1"}, "gives base_url and no model"),
        ({"model": 3}, "a 'model' that is no text"),
        ({"model": "keyword", "settings": {"temprature": 0}}, "have no 'temprature'"),
        ({"model": "keyword", "settings": {"temperature": "hot"}}, "the settings of a model are wrong"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_configuration_says_what_is_wrong(config: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Models(config=config, http=None).model()


async def test_an_application_without_a_model_starts_and_its_runs_say_what_to_set() -> None:
    async with application(Application()) as app:
        with pytest.raises(ConfigurationError, match="no model is chosen; set TOOLKIT_MODEL=provider:model") as caught:
            await app.agent().run("Hi")

    assert caught.value.run.outcome == "failed"


@pytest.mark.parametrize("model", ["model", "retrying_model"])
async def test_a_run_with_a_model_of_its_own_needs_no_choice(model: str) -> None:
    container = Application()
    container.agent.override(provide(Agent, model=dep(container.models.providers[model])))

    async with application(container) as app:
        run = await app.agent().run("Hi", model=ScriptedModel([says("from the run")]))

    assert run.response == "from the run"


async def test_a_stream_where_no_model_is_chosen_ends_with_what_to_set() -> None:
    async with application(Application()) as app, app.agent().stream("Hi") as stream:
        with pytest.raises(ConfigurationError, match="no model is chosen"):
            _ = [event async for event in stream]

    assert stream.run.outcome == "failed"


async def test_a_wrong_choice_is_found_when_the_application_starts() -> None:
    container = Application()
    container.config.from_dict({"models": {"model": "nobody:x"}})

    with pytest.raises(ConfigurationError, match="no provider of models is named 'nobody'"):
        async with application(container):
            pass


async def test_the_model_can_be_overridden_where_none_is_chosen() -> None:
    container = Application()
    script = ScriptedModel([says("from the script")])

    with overriding(container, {"models.retrying_model": script}):
        async with application(container) as app:
            run = await app.agent().run("Hi")

    assert run.response == "from the script"


def test_the_retrying_model_holds_the_chosen_one() -> None:
    models = Models(config={"model": "keyword", "settings": ModelSettings(seed=1)}, http=None)

    retrying = models.retrying_model()

    assert isinstance(retrying, RetryingModel)
    assert isinstance(retrying.model, KeywordModel)


def test_a_key_is_not_shown_by_what_holds_it() -> None:
    models = Models(config={"model": "openai-chat:gpt-5.6", "api_key": "sk-secret"}, http=httpx.AsyncClient())

    assert "sk-secret" not in repr(models.model()) + repr(models.choice()) + str(models.choice())


async def test_a_run_reads_what_its_model_is_to_be_at_most_three_times(server: LoopbackServer) -> None:
    reads: list[ModelChoice] = []

    def read() -> ModelChoice:
        reads.append(ModelChoice.read({"model": "openai-chat:m", "base_url": server.url, "api_key": "key"}))
        return reads[-1]

    container = Application()
    container.models.choice.override(providers.Callable(read))
    async with application(container) as app:
        await app.agent().run("Hi")
        reads.clear()
        run = await app.agent().run("Hi")

    assert run.response == "Hello."
    assert 1 <= len(reads) <= 3
