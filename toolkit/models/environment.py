"""`from_environment`: the model that the environment chooses."""

from __future__ import annotations

from toolkit.http import StreamingHttpClient
from toolkit.models.choice import ModelChoice
from toolkit.models.protocol import Model

__all__ = ["from_environment"]


def from_environment(*, http: StreamingHttpClient | None = None) -> Model:
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
    return ModelChoice.of_environment().make(http=http)
