"""For the tests of applications: a scripted model, and the error of a request that a test must not send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exports import attributes_of

if TYPE_CHECKING:
    from toolkit.testing.network import ModelRequestsBlocked
    from toolkit.testing.scripted import ScriptedModel, ScriptExhausted, call, calls, says
else:
    __getattr__, __dir__ = attributes_of(
        __name__,
        {
            "toolkit.testing.network": "ModelRequestsBlocked",
            "toolkit.testing.scripted": "ScriptedModel ScriptExhausted call calls says",
        },
    )

__all__ = ["ModelRequestsBlocked", "ScriptExhausted", "ScriptedModel", "call", "calls", "says"]
