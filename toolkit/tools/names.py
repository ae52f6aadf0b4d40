"""Names of tools: how they are derived, which are allowed, and which are too much alike."""

from __future__ import annotations

import re

from toolkit.errors import ConfigurationError

__all__ = ["alike", "check_name", "folded", "snake_case"]

_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(class_name: str) -> str:
    """`OrderStatusTool` → `order_status_tool`, `HTTPFetch` → `http_fetch`; the suffix stays."""
    return _WORD_BORDER.sub("_", class_name).lower()


def folded(name: str) -> str:
    """The name without the differences that a model, or a provider, may lose: case, and `-` against `_`."""
    return name.lower().replace("-", "_")


def alike(first: str, second: str, first_label: str, second_label: str) -> str:
    """What is said of two tools whose names are one when folded."""
    names = f"'{first}'" if first == second else f"'{first}' and '{second}'"
    return (
        f"two tools are named {names} (case, and '-' against '_', make no difference): {first_label} and "
        f'{second_label}; give one another name, for example name="{second[:62]}_2"'
    )


def check_name(name: str, owner: str) -> None:
    """Raises `ConfigurationError` unless `name` has 1 to 64 characters of `A-Z a-z 0-9 _ -`."""
    if _ALLOWED.fullmatch(name) is None:
        raise ConfigurationError(
            f"{owner} is named {name!r}; a tool's name has 1 to 64 characters out of A-Z a-z 0-9 _ -. "
            f"Set another one, for example name={_suggestion(name)!r}"
        )


def _suggestion(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "my_tool"
