"""`from_environment`: the model that the environment chooses."""

from __future__ import annotations

import os
from typing import Any

from toolkit.errors import ConfigurationError
from toolkit.models.catalogue import chosen_by, model_named, provider_named
from toolkit.models.protocol import Model

__all__ = ["from_environment"]


def from_environment(*, http: Any = None) -> Model:
    """The model of `TOOLKIT_MODEL=provider:model`, else that of the first key that is set.

    The keys are asked in this order: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`;
    each has a usual model (`toolkit.models.catalogue`). `TOOLKIT_BASE_URL`, only together with `TOOLKIT_MODEL`, is the
    server to ask; whoever sets both means the provider's key for it too. `TOOLKIT_MODEL=keyword` gives the keyword
    model.

    Args:
        http: The HTTP client that the model sends its requests with; it stays the caller's to close. The keyword
            model needs none.

    Raises:
        ConfigurationError: nothing usable is set; the text says what to set.
    """
    chosen, base_url = chosen_by()
    if chosen == "keyword":
        return model_named(chosen, http=http)
    provider = provider_named(chosen.partition(":")[0].strip(), base_url=base_url)
    if http is None:
        raise ConfigurationError(
            f"the model {chosen!r} needs an HTTP client: from_environment(http=httpx.AsyncClient())"
        )
    api_key = None
    if base_url is not None:
        api_key = next(filter(None, map(os.environ.get, provider.key_variables)), None)
    return model_named(chosen, http=http, api_key=api_key, base_url=base_url)
