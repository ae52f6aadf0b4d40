"""For the tests of applications: a scripted model, what to say about a run, and no accidental network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exports import attributes_of

if TYPE_CHECKING:
    from toolkit.testing.assertions import assert_calls, the_call, transcript_of
    from toolkit.testing.network import ModelRequestsBlocked
    from toolkit.testing.scripted import ScriptedModel, ScriptExhausted, call, calls, says
else:
    __getattr__, __dir__ = attributes_of(
        __name__,
        {
            "toolkit.testing.assertions": "assert_calls the_call transcript_of",
            "toolkit.testing.network": "ModelRequestsBlocked",
            "toolkit.testing.scripted": "ScriptedModel ScriptExhausted call calls says",
        },
    )

__all__ = [
    "ModelRequestsBlocked",
    "ScriptExhausted",
    "ScriptedModel",
    "assert_calls",
    "call",
    "calls",
    "says",
    "the_call",
    "transcript_of",
]
