"""Which model an application uses: chosen by its configuration, else by the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec import Struct

from toolkit.errors import ConfigurationError
from toolkit.http import Secret, StreamingHttpClient
from toolkit.models.addresses import checked_address
from toolkit.models.catalogue import BY_KEY, Provider, parts_of, provider_named
from toolkit.models.keyword import KeywordModel
from toolkit.models.protocol import Model, ModelSettings

__all__ = ["ModelChoice", "NothingChosen"]


class NothingChosen(ConfigurationError):
    """Neither a configuration nor the environment says which model is meant."""


class ModelChoice(Struct, frozen=True):
    """A model by name, and what it is asked with.

    Attributes:
        provider: Where it comes from; None for the keyword model, which comes from nowhere.
        name: Its name there.
        base_url: Another address than the provider's own.
        api_key: None leaves it to the adapter, which looks into the environment for the provider's own address only.
        settings: Those of a request come before these.
        asked_as: The provider as it was named, where it was: `openai` with an address of its own means `openai-chat`.
    """

    provider: Provider | None
    name: str = ""
    base_url: str | None = None
    api_key: Secret | None = None
    settings: ModelSettings | None = None
    asked_as: str | None = None

    @classmethod
    def named(
        cls, text: str, *, base_url: str | None = None, environment: Mapping[str, str] | None = None
    ) -> ModelChoice:
        """The choice of `provider:model`, such as `anthropic:claude-sonnet-5-5`, or `keyword`.

        With a `base_url` the provider's key of the environment is meant for that address.

        Raises:
            ConfigurationError: the text names no model or an unknown provider, or `base_url` is no address, or is
                missing where the provider has none of its own.
        """
        environment = os.environ if environment is None else environment
        provider_name, name = parts_of(text)
        if provider_name == "keyword":
            return cls(None)
        provider = provider_named(provider_name, base_url=base_url)
        if base_url is not None:
            checked_address(base_url)
        elif provider.needs_address:
            raise ConfigurationError(
                f"{provider.name!r} has no address of its own; give base_url: on the command line --base-url, in the "
                f"environment TOOLKIT_BASE_URL together with TOOLKIT_MODEL"
            )
        key = None
        if base_url is not None:
            key = next((found for one in provider.key_variables if (found := environment.get(one, "").strip())), None)
        return cls(provider, name, base_url, None if key is None else Secret(key), asked_as=provider_name)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] | None = None) -> ModelChoice:
        """The choice of `TOOLKIT_MODEL` (with `TOOLKIT_BASE_URL`), else of the first key that is set.

        Raises:
            ConfigurationError: nothing usable is set; the text says what to set.
        """
        environment = os.environ if environment is None else environment
        wanted = environment.get("TOOLKIT_MODEL", "").strip()
        base_url = environment.get("TOOLKIT_BASE_URL", "").strip() or None
        if wanted:
            return cls.named(wanted, base_url=base_url, environment=environment)
        if base_url is not None:
            raise ConfigurationError(
                "TOOLKIT_BASE_URL is set and TOOLKIT_MODEL is not; set both, such as TOOLKIT_MODEL=openai:my-model, or "
                "neither"
            )
        for provider in BY_KEY:
            if any(environment.get(variable, "").strip() for variable in provider.key_variables):
                return cls(provider, provider.usual or "")
        keys = ", ".join(provider.key_variables[0] for provider in BY_KEY)
        raise NothingChosen(
            f"no model is chosen; set TOOLKIT_MODEL=provider:model (with TOOLKIT_BASE_URL for a server of your own), "
            f"or one of the keys {keys}; TOOLKIT_MODEL=keyword needs no key and no network, but is no language model"
        )

    @classmethod
    def read(cls, values: object = None, *, environment: Mapping[str, str] | None = None) -> ModelChoice:
        """The choice of a configuration: `model` (`provider:model`), `base_url`, `api_key`, `settings`.

        Without `model` the environment chooses; `settings` are those of `ModelSettings`, by name.

        Raises:
            ConfigurationError: a key or a value is wrong, or nothing is chosen.
        """
        if values is not None and not isinstance(values, Mapping):
            raise ConfigurationError(f"the configuration of models is {type(values).__name__}; give a mapping")
        given = {key: value for key, value in cast("Mapping[str, object]", values or {}).items() if value is not None}
        unknown = sorted(set(given) - {"model", "base_url", "api_key", "settings"})
        if unknown:
            raise ConfigurationError(
                f"the configuration of models has no key '{unknown[0]}'; it has model, base_url, api_key, settings"
            )
        model, base_url = _text(given, "model"), _text(given, "base_url")
        if model is None and base_url is not None:
            raise ConfigurationError("the configuration of models gives base_url and no model; give both, or neither")
        if model is None:
            choice = cls.of_environment(environment)
        else:
            choice = cls.named(model, base_url=base_url, environment=environment)
        key = given.get("api_key")
        if key is not None:
            key = key if isinstance(key, Secret) else Secret(_text(given, "api_key") or "")
            choice = msgspec.structs.replace(choice, api_key=key)
        return msgspec.structs.replace(choice, settings=_settings(given.get("settings")))

    def make(self, *, http: StreamingHttpClient | None) -> Model:
        """The model. The keyword model needs no client."""
        if self.provider is None:
            return KeywordModel()
        if http is None:
            raise ConfigurationError(f"the model '{self}' needs an HTTP client, such as http=httpx.AsyncClient()")
        return self.provider.make(
            self.name, http=http, api_key=self.api_key, base_url=self.base_url, settings=self.settings
        )

    @property
    def provider_name(self) -> str:
        """The word before the colon."""
        return "keyword" if self.provider is None else self.provider.name

    def __str__(self) -> str:
        """As somebody would name it, and did where somebody did."""
        return "keyword" if self.provider is None else f"{self.asked_as or self.provider.name}:{self.name}"


def _text(values: Mapping[str, object], key: str) -> str | None:
    value = values.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise ConfigurationError(f"the configuration of models has a '{key}' that is no text")
    return value.strip()


def _settings(values: object) -> ModelSettings | None:
    if values is None or isinstance(values, ModelSettings):
        return values
    unknown = set(cast("Mapping[str, object]", values)) if isinstance(values, Mapping) else set[str]()
    unknown -= set(ModelSettings.__struct_fields__)
    if unknown:
        raise ConfigurationError(f"the settings of a model have no '{min(unknown)}'")
    try:
        return msgspec.convert(values, ModelSettings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"the settings of a model are wrong: {error}") from error
