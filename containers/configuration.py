"""Reading the configuration of a ready container, of which every key may be absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dependency_injector import errors

__all__ = ["as_given"]


def as_given(config: Callable[[], Any]) -> Any:
    """The configuration, or None where a strict parent has no such section."""
    try:
        return config()
    except errors.Error as error:
        if str(error).startswith("Undefined configuration option"):
            return None
        raise
