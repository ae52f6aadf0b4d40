"""Models on the command line: opened for one command, listed, and asked whether they answer."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from toolkit.cli.printing import print_json, print_line
from toolkit.messages import UserMessage
from toolkit.models import Model, ModelRequest, ModelSettings
from toolkit.models.catalogue import PROVIDERS, Provider
from toolkit.models.choice import ModelChoice, NothingChosen

__all__ = ["choice_of", "opened_model", "ping", "show_models"]


def choice_of(name: str | None) -> ModelChoice:
    """The model of `--model provider:name`; without one, that of the environment."""
    return ModelChoice.of_environment() if name is None else ModelChoice.named(name)


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
    question = ModelRequest([UserMessage("Answer with the word: pong")], settings=ModelSettings(max_tokens=512))
    async with opened_model(choice) as model:
        began = time.perf_counter()
        response = await model.respond(question)
        seconds = time.perf_counter() - began
    if as_json:
        usage = {"input_tokens": response.usage.input_tokens, "output_tokens": response.usage.output_tokens}
        print_json({"model": str(choice), "answered_as": response.model, "seconds": round(seconds, 3), "usage": usage})
        return
    named = f" as {response.model}" if response.model else ""
    tokens = f"{response.usage.input_tokens} + {response.usage.output_tokens} tokens"
    print_line(f"{choice} answers{named} in {seconds:.2f} s ({tokens})")


def _described(provider: Provider) -> dict[str, Any]:
    variables = provider.key_variables
    return {
        "name": provider.name,
        "key": variables[0] if variables else None,
        "has_key": any(os.environ.get(variable, "").strip() for variable in variables),
        "usual": provider.usual,
    }
