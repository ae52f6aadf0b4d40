"""Models on the command line: opened for one command, listed, and asked whether they answer."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from toolkit.cli.failures import Failed
from toolkit.cli.opening import open_bare_agent
from toolkit.cli.printing import print_json, print_line
from toolkit.context import RunContext
from toolkit.messages import UserMessage
from toolkit.models import Model, ModelRequest, ModelResponse, ModelSettings
from toolkit.models.catalogue import PROVIDERS, Provider
from toolkit.models.choice import ModelChoice, NothingChosen

__all__ = ["choice_of", "opened_model", "ping", "ping_of_app", "show_models"]

_QUESTION = "Answer with the word: pong"
_SETTINGS = ModelSettings(max_tokens=512)


def choice_of(name: str | None, base_url: str | None = None) -> ModelChoice:
    """The model of `--model provider:name`, asked at `--base-url` where it is given; without one, the environment's.

    Raises:
        Failed: it is not said where to ask. `TOOLKIT_BASE_URL` belongs to `TOOLKIT_MODEL`, and whoever has set it may
            mean another model for it, too: a prompt that was meant for that server must not go to a provider.
        ConfigurationError: the model or the address is wrong, or none is chosen.
    """
    if name is None:
        if base_url is not None:
            raise Failed("--base-url is the address of the model that --model names; give --model provider:name, too")
        return ModelChoice.of_environment()
    if base_url is not None:
        choice = ModelChoice.named(name, base_url=base_url.strip())
        if choice.provider is None:
            raise Failed("the keyword model asks no server; leave --base-url out")
        return choice
    if os.environ.get("TOOLKIT_BASE_URL", "").strip() and name.strip() != "keyword":
        raise Failed(
            f"TOOLKIT_BASE_URL is set, and holds for TOOLKIT_MODEL only; say where '{name}' is asked: "
            f'--base-url "$TOOLKIT_BASE_URL" for that server, or unset TOOLKIT_BASE_URL for the provider\'s own address'
        )
    return ModelChoice.named(name)


@asynccontextmanager
async def opened_model(choice: ModelChoice) -> AsyncGenerator[Model, None]:
    """The model, over an HTTP client of its own until the end of the block."""
    if choice.provider is None:
        yield choice.make(http=None)
        return
    async with httpx.AsyncClient() as http:
        yield choice.make(http=http)


def show_models(*, as_json: bool) -> None:
    """The providers, which of them have a key in the environment, and which model it chooses. Keys are not shown."""
    try:
        chosen, reason = ModelChoice.of_environment(), ""
    except NothingChosen as error:
        chosen, reason = None, str(error)
    if as_json:
        providers = [_described(provider) for provider in PROVIDERS]
        print_json({"chosen": None if chosen is None else str(chosen), "providers": providers})
        return
    print_line(reason if chosen is None else f"chosen by the environment: {chosen}")
    print_line()
    for row in map(_described, PROVIDERS):
        key = "needs no key" if row["key"] is None else f"{row['key']} is {'set' if row['has_key'] else 'not set'}"
        usual = f", usually {row['usual']}" if row["usual"] else ""
        print_line(f"  {row['name']:<18}{key}{usual}", "bold" if row["has_key"] else "")


async def ping(choice: ModelChoice, *, as_json: bool) -> None:
    """Asks the model one short question, and prints what that took. Raises what the model raises."""
    async with opened_model(choice) as model:
        began = time.perf_counter()
        response = await model.respond(ModelRequest([UserMessage(_QUESTION)], settings=_SETTINGS))
        _print_answer(str(choice), response, time.perf_counter() - began, as_json=as_json)


async def ping_of_app(app: str, agent: str, *, as_json: bool) -> None:
    """The same with the model of a container's agent, without the agent's instructions, hooks and tools."""
    answers = _Answers()
    async with open_bare_agent(app, agent, answers) as opened:
        began = time.perf_counter()
        await opened.run(_QUESTION, settings=_SETTINGS)
        _print_answer(f"the model of '{agent}' in {app}", answers.last, time.perf_counter() - began, as_json=as_json)


class _Answers:
    """A hook that keeps the last answer of a model, in which it says its name."""

    last = ModelResponse()

    def on_after_model(self, ctx: RunContext, response: ModelResponse) -> None:
        self.last = response


def _print_answer(name: str, response: ModelResponse, seconds: float, *, as_json: bool) -> None:
    if as_json:
        usage = {"input_tokens": response.usage.input_tokens, "output_tokens": response.usage.output_tokens}
        print_json({"model": name, "answered_as": response.model, "seconds": round(seconds, 3), "usage": usage})
        return
    named = f" as {response.model}" if response.model else ""
    tokens = f"{response.usage.input_tokens} + {response.usage.output_tokens} tokens"
    print_line(f"{name} answers{named} in {seconds:.2f} s ({tokens})")


def _described(provider: Provider) -> dict[str, Any]:
    variables = provider.key_variables
    return {
        "name": provider.name,
        "key": variables[0] if variables else None,
        "has_key": any(os.environ.get(variable, "").strip() for variable in variables),
        "usual": provider.usual,
    }
