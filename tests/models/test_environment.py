"""The model that the environment names."""

from __future__ import annotations

import pytest

from toolkit import ConfigurationError
from toolkit.models import KeywordModel, from_environment

KEYS = ["TOOLKIT_MODEL", "TOOLKIT_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in [*KEYS, "OPENROUTER_API_KEY"]:
        monkeypatch.delenv(key, raising=False)


def test_the_keyword_model_is_used_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "keyword")

    assert isinstance(from_environment(http=None), KeywordModel)


def test_with_nothing_set_the_error_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="set TOOLKIT_MODEL=keyword"):
        from_environment(http=None)


def test_an_unknown_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "nobody:nothing")

    with pytest.raises(ConfigurationError, match="'nobody:nothing'"):
        from_environment(http=None)
