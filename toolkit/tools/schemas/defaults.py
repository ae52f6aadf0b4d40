"""Defaults as JSON shows them."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import msgspec

from toolkit.tools.schemas.json_values import with_arrays

__all__ = ["json_form"]


def json_form(value: Any) -> Any:
    """The value in JSON (a date as ISO text, an enum by value), or UNSET where JSON has no form for it.

    Only shown, never judged: a default that breaks its own annotation is the author's choice.
    """
    try:
        form = msgspec.to_builtins(value, str_keys=True, order="deterministic", enc_hook=_other_form)
        json.dumps(form, allow_nan=False)
    except (TypeError, ValueError, NotImplementedError, RecursionError):
        return msgspec.UNSET
    return with_arrays(form)


def _other_form(value: object) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    dump = getattr(type(value), "model_dump", None)  # pydantic's, by name, so that it need not be imported
    if dump is not None:
        return dump(value, mode="json", by_alias=True)
    raise NotImplementedError
