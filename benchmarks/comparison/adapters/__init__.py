"""One file a toolkit. `adapter_of` imports the one that is asked for; the others' toolkits need not be installed."""

from __future__ import annotations

from importlib import import_module

from benchmarks.comparison.adapters.adapter import Adapter


def adapter_of(name: str) -> Adapter:
    """The adapter of a name, `toolkit` or `toolkit:variant`."""
    toolkit, _, variant = name.partition(":")
    found: Adapter = import_module(f"{__name__}.{toolkit}").ADAPTER(variant)
    return found
