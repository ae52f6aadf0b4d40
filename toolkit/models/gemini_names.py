"""Names of tools as Google takes them: they begin with a letter or `_`."""

from __future__ import annotations

import functools
import re

from toolkit.models.names import sent_name

__all__ = ["own_name", "written_name"]

_WANTS_ONE = re.compile(r"_*[0-9-]", re.ASCII)
_HAS_ONE = re.compile(r"_+[0-9-]", re.ASCII)


@functools.lru_cache(maxsize=1_024)
def written_name(name: str) -> str:
    """The name as it is sent: one that begins otherwise gets a `_`, and so does one that would look like it."""
    name = sent_name(name)
    return f"_{name}" if _WANTS_ONE.match(name) else name


def own_name(name: str) -> str:
    """The name that `written_name` wrote so, as `sent_name` gives it."""
    return name[1:] if _HAS_ONE.match(name) else name
