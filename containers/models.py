"""A language model, chosen by configuration or by the environment: to use alone, or as a part of a container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dependency_injector import containers, providers

from containers.configuration import as_given
from toolkit.models import KeywordModel, ModelRequest, ModelResponse, RetryingModel
from toolkit.models.catalogue import PROVIDERS
from toolkit.models.choice import ModelChoice, NothingChosen
from toolkit.models.protocol import Model

__all__ = ["Models"]


def _name_of_provider(read: Callable[[], ModelChoice]) -> str:
    """Which provider is chosen. Where none is, the application starts all the same: its tests override the model."""
    try:
        return read().provider_name
    except NothingChosen:
        return "nothing"


class _NotChosen:
    """Stands where no model is chosen, and says so once it is asked: a run that brings its own model never does."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __repr__(self) -> str:
        return "<no model is chosen>"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Raises what there is to be said about a choice that nobody made."""
        raise NothingChosen(self._reason)


def _nothing(read: Callable[[], ModelChoice]) -> Model:
    try:
        return read().make(http=None)
    except NothingChosen as error:
        return _NotChosen(str(error))


def _made_of(choice: providers.Callable[Any], http: providers.Dependency[Any]) -> dict[str, providers.Factory[Any]]:
    """A factory for each provider that `provider:model` may name. Its adapter is imported when it makes a model."""
    return {
        provider.name: providers.Factory(ModelChoice.make, choice, http=http)  # the choice is read once for a model
        for provider in PROVIDERS
    }


class Models(containers.DeclarativeContainer):
    """`model` is the one that was chosen; `retrying_model` is the same, asked again after failures that may pass.

    Example:
        ```python
        models = Models(config={"model": "anthropic:claude-sonnet-5-5"}, http=http)
        agent = Agent(models.model(), tools=[WeatherTool])
        ```
        or, inside an application's container,
        ```python
        models = providers.Container(Models, config=config.models, http=http)
        agent = provide(Agent, model=dep(models.retrying_model), tools=[WeatherTool])
        ```

    Configuration, every key optional: `model` (`provider:model`, else `TOOLKIT_MODEL`, else by the first key in the
    environment), `base_url`, `api_key` (else the provider's environment variable), `settings` (see `ModelSettings`). It
    is read whenever a model is built. Where no model is chosen the application starts, and its runs fail when they ask
    for an answer, unless the model is overridden or the run brings its own. `http` is never closed here.
    """

    config = providers.Configuration()
    http: providers.Dependency[Any] = providers.Dependency()

    choice = providers.Callable(ModelChoice.read, providers.Callable(as_given, config.provider))
    keyword = providers.Factory(KeywordModel)
    nothing = providers.Factory(_nothing, choice.provider)
    model = providers.Selector(
        providers.Callable(_name_of_provider, choice.provider),
        nothing=nothing,
        keyword=keyword,
        **_made_of(choice, http),
    )
    retrying_model = providers.Factory(RetryingModel, model)
