"""The examples in docstrings run: those that are written as a session, with `>>>`."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import builtin_tools
import containers
import toolkit
from tests.offline import refuse_connections

MODULES = [
    found.name
    for package in (toolkit, builtin_tools, containers)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_of_a_module_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_connections(monkeypatch)

    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)

    assert failed == 0
