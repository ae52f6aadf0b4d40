from __future__ import annotations

import pytest

from tests.builtin_tools.every_tool.table import VARIABLES


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine is set up with decides nothing here."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
