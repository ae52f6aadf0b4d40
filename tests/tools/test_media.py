"""Images and documents that a tool gives: the model gets them beside the text."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit import Agent, ToolResult, tool
from toolkit.hooks import Replace
from toolkit.messages import (
    DocumentPart,
    ImagePart,
    TextPart,
    ToolMessage,
    messages_from_json,
    messages_to_json,
)
from toolkit.testing import ScriptedModel, call, calls, says
from toolkit.tools.results import result_of

CHART = ImagePart(data=b"\x89PNG" + b"x" * 1_996, media_type="image/png")
PAPER = DocumentPart(url="https://example.org/paper.pdf", media_type="application/pdf")


@pytest.mark.parametrize(
    ("value", "content", "media"),
    [
        (CHART, "[image: image/png, 2,000 bytes]", (CHART,)),
        (PAPER, "[document: application/pdf, https://example.org/paper.pdf]", (PAPER,)),
        (ImagePart(data=b"x"), "[image: 1 bytes]", (ImagePart(data=b"x"),)),
        (
            ["The chart:", CHART, {"source": 7}, PAPER],
            "The chart:\n[image: image/png, 2,000 bytes]\n"
            '{"source":7}\n[document: application/pdf, https://example.org/paper.pdf]',
            (CHART, PAPER),
        ),
        ((TextPart("See"), CHART), "See\n[image: image/png, 2,000 bytes]", (CHART,)),
        (["no", "media"], '["no","media"]', ()),
        ([], "[]", ()),
    ],
    ids=["image", "document", "untyped", "mixed", "parts", "texts", "empty"],
)
def test_media_stand_beside_the_text(value: Any, content: str, media: tuple[Any, ...]) -> None:
    result = result_of(value)

    assert (result.content, result.media) == (content, media)
    assert result.value is value


def test_a_result_of_the_handlers_own_keeps_its_media() -> None:
    assert result_of(ToolResult("v", "a chart", media=(CHART,))).media == (CHART,)


@tool
def draw() -> ImagePart:
    """Draw the chart."""
    return CHART


async def test_the_model_is_given_the_media_of_a_call_and_they_survive_json() -> None:
    model = ScriptedModel([calls(call("draw")), says("A chart.")])

    run = await Agent(model, tools=[draw]).run("Draw!")

    message = model.requests[1].messages[-1]
    assert isinstance(message, ToolMessage)
    assert message.media == (CHART,)
    assert messages_from_json(messages_to_json(run.messages)) == run.messages
    assert messages_from_json(messages_to_json(run.messages), trusted=False)[0] == run.messages[0]


async def test_an_after_hook_replaces_media_too() -> None:
    class NoPictures:
        def on_after_call(self, ctx: Any, info: Any) -> Replace:
            return Replace("a picture was here")

    run = await Agent(ScriptedModel([calls(call("draw")), says("")]), tools=[draw], hooks=[NoPictures()]).run("Draw!")

    assert (run.calls[0].result.content, run.calls[0].result.media) == ("a picture was here", ())


async def test_cutting_a_long_text_keeps_the_media() -> None:
    @tool(max_result_tokens=10)
    def describe() -> list[Any]:
        """Describe the chart."""
        return ["long " * 100, CHART]

    result = await describe.execute({})

    assert "bytes cut" in result.content
    assert result.media == (CHART,)
