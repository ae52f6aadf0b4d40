"""What two requests differ in, path by path, and which of it is explained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MISSING = "nothing"


def differences(sent: Any, recorded: Any, path: str = "$") -> Iterator[str]:
    """One line for each place at which they differ, such as `$.tools[0].strict: true, recorded nothing`."""
    if isinstance(sent, Mapping) and isinstance(recorded, Mapping):
        for key in {**recorded, **sent}:
            yield from differences(sent.get(key, _MISSING), recorded.get(key, _MISSING), f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(recorded, list) and len(sent) == len(recorded):
        for number, (one, other) in enumerate(zip(sent, recorded, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif sent != recorded:
        yield f"{path}: {_shown(sent)}, recorded {_shown(recorded)}"


def unexplained(found: Sequence[str], explained: Mapping[str, str]) -> list[str]:
    """The differences that no pattern of the table matches. Patterns match whole lines; values are the reasons."""
    return [line for line in found if not any(re.fullmatch(pattern, line, re.DOTALL) for pattern in explained)]


def unused(found: Sequence[str], explained: Mapping[str, str]) -> list[str]:
    """The patterns of the table that explain nothing: it must not speak of differences that there are none of."""
    return [pattern for pattern in explained if not any(re.fullmatch(pattern, line, re.DOTALL) for line in found)]


def _shown(value: Any) -> str:
    return value if value == _MISSING else json.dumps(value, ensure_ascii=False)
