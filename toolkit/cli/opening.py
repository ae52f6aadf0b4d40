"""An agent of an application, open for one command."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from toolkit.cli.loading import load_container
from toolkit.errors import ConfigurationError
from toolkit.injection import application, overriding
from toolkit.injection.application import RunnableAgent
from toolkit.models import KeywordModel, Model

__all__ = ["model_named", "open_agent"]


@asynccontextmanager
async def open_agent(app: str, name: str, model: Model | None) -> AsyncGenerator[RunnableAgent, None]:
    """The agent of a container.

    With a `model` the agent's own is not built, so that its key may be missing. Pass the model to `run(...)`, too: it
    is needed there where the agent has none among its arguments.
    """
    container = load_container(app)
    own = None if model is None else _model_of(container, name)
    with nullcontext() if own is None else overriding(container, {own: model}):
        async with application(container) as opened:
            yield opened.agent(name)


def model_named(name: str) -> Model:
    """The model of `--model`. Raises `ConfigurationError` for one that this version has not."""
    if name == "keyword":
        return KeywordModel()
    raise ConfigurationError(
        f"--model is {name!r}, and this version has no models of providers; it has 'keyword', and the model that the "
        f"application's own container provides"
    )


def _model_of(container: Any, agent: str) -> Any:
    """The provider that the agent's `model` argument comes from; None when it has no such argument."""
    provider = getattr(container, "providers", {}).get(agent)
    model = getattr(provider, "kwargs", {}).get("model")
    return model if hasattr(model, "override") else None
