"""For the tests of applications: a scripted model."""

from __future__ import annotations

from toolkit.testing.scripted import ScriptedModel, ScriptExhausted, call, calls, says

__all__ = ["ScriptExhausted", "ScriptedModel", "call", "calls", "says"]
