"""`from_environment`: the model that the environment names."""

from __future__ import annotations

import os
from typing import Any

from toolkit.errors import ConfigurationError
from toolkit.models.keyword import KeywordModel
from toolkit.models.protocol import Model

__all__ = ["from_environment"]


def from_environment(*, http: Any = None) -> Model:
    """The model of `TOOLKIT_MODEL`.

    This version knows `keyword` only: models of providers are the next part of the project.

    Args:
        http: The HTTP client that a provider's model sends its requests with; it stays the caller's to close.

    Raises:
        ConfigurationError: nothing usable is set; the text says what to set.
    """
    wanted = os.environ.get("TOOLKIT_MODEL", "").strip()
    if wanted == "keyword":
        return KeywordModel()
    if not wanted:
        raise ConfigurationError(
            "no model is chosen; set TOOLKIT_MODEL=keyword for the keyword model, which needs no key and no network, "
            "or hand the agent a model of your own (an object with `async def respond(request)`)"
        )
    raise ConfigurationError(
        f"TOOLKIT_MODEL is {wanted!r}; this version knows 'keyword' only. Hand the agent a model of your own: an "
        f"object with `async def respond(request)`"
    )
