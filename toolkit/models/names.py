"""Tool names as every provider takes them: 1 to 64 of `A-Z a-z 0-9 _ -`."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable

from toolkit.messages import ToolCall, ToolDefinition

__all__ = ["sent_name", "with_original_names"]

_FINE = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)


@functools.lru_cache(maxsize=1_024)
def sent_name(name: str) -> str:
    """The name as it is sent: itself, or its first 51 characters made harmless, `_` and 12 hexadecimal digits.

    The toolkit's own tools never need it; definitions from elsewhere may.
    """
    if _FINE.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_OTHER.sub('_', name)[:51]}_{digest}"


def with_original_names(calls: Iterable[ToolCall], tools: Iterable[ToolDefinition]) -> tuple[ToolCall, ...]:
    """The calls of an answer under the names that the tools really have."""
    renamed = {sent: tool.name for tool in tools if (sent := sent_name(tool.name)) != tool.name}
    if not renamed:
        return tuple(calls)
    return tuple(ToolCall(call.id, renamed.get(call.name, call.name), call.arguments) for call in calls)
