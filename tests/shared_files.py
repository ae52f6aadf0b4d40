"""Material that lies beside the repository and is not part of it. Tests that need it skip where it is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

_SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def shared(path: str) -> Path:
    """A file or folder of the shared material; skips the test where it is missing."""
    found = _SHARED / path
    if not found.exists():
        pytest.skip(f"{found} is not here: it lies beside the repository and is not part of it")
    return found


def shared_json(path: str) -> Any:
    return json.loads(shared(path).read_text(encoding="utf-8"))


def names_in(folder: str, pattern: str) -> list[str]:
    """The names of shared files, to parametrize with; empty where the material is missing."""
    return sorted(found.name for found in (_SHARED / folder).glob(pattern))
