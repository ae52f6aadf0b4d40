"""An agent of an application, open for one command."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from toolkit.cli.failures import Failed
from toolkit.cli.loading import load_container
from toolkit.injection import application, overriding, provide
from toolkit.injection.app import App
from toolkit.injection.graph import product_of
from toolkit.injection.named_providers import names_in
from toolkit.injection.runnable import RunnableAgent
from toolkit.models import Model
from toolkit.runs.agent import Agent

__all__ = ["open_agent", "open_app", "open_bare_agent", "tools_named"]


@asynccontextmanager
async def open_agent(app: str, name: str, model: Model | None) -> AsyncGenerator[RunnableAgent[Any], None]:
    """The agent of a container.

    With a `model` the agent's own is not built, so that its key may be missing. Pass the model to `run(...)`, too: it
    is needed there where the agent has none among its arguments.
    """
    async with open_app(app, name, model) as opened:
        yield opened.agent(name)


@asynccontextmanager
async def open_app(app: str, agent: str, model: Model | None) -> AsyncGenerator[App, None]:
    """A container's application, in which the agent has another model, as for `open_agent`."""
    container = load_container(app)
    own = None if model is None else _model_of(container, agent)
    with nullcontext() if own is None else overriding(container, {own: model}):
        async with application(container) as opened:
            yield opened


@asynccontextmanager
async def open_bare_agent(app: str, name: str, *hooks: Any) -> AsyncGenerator[RunnableAgent[Any], None]:
    """An agent with nothing but the model of a container's agent, which its runs build as that agent's would."""
    container = load_container(app)
    model = getattr(getattr(container, "providers", {}).get(name), "kwargs", {}).get("model")
    if model is None:
        raise Failed(f"'{name}' of {app} has no model among its arguments: there is nothing to ask")
    with overriding(container, {name: provide(Agent, model=model, hooks=hooks)}):
        async with application(container) as opened:
            yield opened.agent(name)


def tools_named(container: Any, name: str) -> list[Any]:
    """The providers of the tool of this name, also in embedded containers: an agent need not list them all."""
    return [
        provider
        for path, provider in names_in(container)
        if path.rpartition(".")[2] == name
        and getattr(product_of(provider), "name", None) == name
        and callable(getattr(product_of(provider), "handler", None))
    ][:1]


def _model_of(container: Any, agent: str) -> Any:
    """The provider that the agent's `model` argument comes from; None when it has no such argument."""
    provider = getattr(container, "providers", {}).get(agent)
    model = getattr(provider, "kwargs", {}).get("model")
    return model if hasattr(model, "override") else None
