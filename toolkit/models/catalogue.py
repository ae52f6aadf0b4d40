"""The providers of models that `provider:model` may name, and what their models are made by."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import Struct

from toolkit.errors import ConfigurationError
from toolkit.http import Secret, StreamingHttpClient
from toolkit.models.protocol import Model, ModelSettings
from toolkit.models.servers import SERVERS, Server

__all__ = ["BY_KEY", "PROVIDERS", "Provider", "parts_of", "provider_named"]


class Provider(Struct, frozen=True):
    """Where models come from.

    Attributes:
        name: The word before the colon.
        module: The adapter's module in `toolkit.models`, and `model` its class there.
        key_variables: The environment variables for its key; none for what needs no key.
        usual: The model that is taken when the environment has the key and names no model.
        server: The server's name, for those that speak OpenAI's chat format.
        needs_address: True where everybody runs their own, so that a `base_url` is needed.
    """

    name: str
    module: str
    model: str
    key_variables: tuple[str, ...] = ()
    usual: str | None = None
    server: str | None = None
    needs_address: bool = False

    def make(
        self,
        name: str,
        *,
        http: StreamingHttpClient,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        settings: ModelSettings | None = None,
    ) -> Model:
        """The model of this name. Without `api_key` the adapter looks into the environment itself."""
        adapter: Any = getattr(import_module(f"toolkit.models.{self.module}"), self.model)
        more: dict[str, Any] = {} if self.server is None else {"server": self.server}
        model: Model = adapter(name, http=http, api_key=api_key, base_url=base_url, settings=settings, **more)
        return model


def _of_server(server: Server) -> Provider:
    usual = "openrouter/auto" if server.name == "openrouter" else None
    name = "openai-chat" if server.name == "openai" else server.name
    return Provider(
        name, "openai_chat", "OpenAIChatModel", server.key_variables, usual, server.name, server.base_url is None
    )


_RESPONSES = Provider("openai", "openai_responses", "OpenAIResponsesModel", ("OPENAI_API_KEY",), "gpt-5.6")
_ANTHROPIC = Provider("anthropic", "anthropic", "AnthropicModel", ("ANTHROPIC_API_KEY",), "claude-sonnet-5-5")
_GEMINI = Provider("gemini", "gemini", "GeminiModel", ("GEMINI_API_KEY",), "gemini-3.8-flash")
_OF_SERVERS = tuple(map(_of_server, SERVERS))
_OPENAI_CHAT = next(provider for provider in _OF_SERVERS if provider.name == "openai-chat")

PROVIDERS: tuple[Provider, ...] = (_RESPONSES, _ANTHROPIC, _GEMINI, *_OF_SERVERS)
"""All that `provider:model` may name. `openai` means the responses API at OpenAI's own address, since its newer models
take tools only there (`gpt-5.6` answers 400 to them in chat completions), and chat completions at any other."""

BY_KEY = (_RESPONSES, _ANTHROPIC, _GEMINI, next(one for one in _OF_SERVERS if one.name == "openrouter"))
"""Those that a key in the environment chooses, in their order."""


def provider_named(name: str, *, base_url: str | None = None) -> Provider:
    """The provider of this name, in any case of letters.

    Raises:
        ConfigurationError: there is none; the text lists those that there are.
    """
    wanted = {"google": "gemini", "openai-responses": "openai"}.get(name.lower(), name.lower())
    if name.lower() == "openai" and base_url is not None:
        return _OPENAI_CHAT
    for provider in PROVIDERS:
        if provider.name == wanted:
            return provider
    known = ", ".join(provider.name for provider in PROVIDERS)
    raise ConfigurationError(f"no provider of models is named {name!r}; those known are {known}, and keyword")


def parts_of(text: str) -> tuple[str, str]:
    """The provider and the model of `provider:model`; the model is empty for `keyword`.

    Raises:
        ConfigurationError: the text names no model.
    """
    provider, colon, name = text.strip().partition(":")
    provider, name = provider.strip(), name.strip()
    if provider == "keyword" and not colon:
        return provider, name
    if not provider or not name or provider == "keyword":
        raise ConfigurationError(
            f"{text!r} names no model; give provider:model, such as 'openai:gpt-5.6', "
            f"'anthropic:claude-sonnet-5-5' or 'ollama:qwen3:8b', or 'keyword'"
        )
    return provider, name
