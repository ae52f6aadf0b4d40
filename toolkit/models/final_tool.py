"""A typed answer from servers that have no way of their own for it: a tool whose arguments are the answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolkit.messages import ToolCall, ToolDefinition
from toolkit.models.protocol import ModelDelta, ModelDone, ModelRequest, ModelResponse, TextDelta, ToolCallDelta

__all__ = ["FinalTool", "final_tool_for"]

_DESCRIPTION = "Give the final answer. Call this alone and once, when everything else is done."


class FinalTool(Struct, frozen=True):
    """The tool of one request. The run never sees it: its arguments become the text of the answer.

    `is_wrapped` is true when the answer is no object: then it is the argument `value`, since arguments are one.
    """

    definition: ToolDefinition
    is_wrapped: bool

    def added_to(self, request: ModelRequest) -> ModelRequest:
        """The request with this tool in place of its `output_schema`. The model has to call some tool."""
        choice = request.tool_choice
        if choice == "none" or not request.tools:
            choice = self.definition.name
        elif choice in (None, "auto"):
            choice = "required"
        return replace(request, tools=(*request.tools, self.definition), tool_choice=choice, output_schema=None)

    def taken_from(self, response: ModelResponse) -> ModelResponse:
        """The response with the answer as its text.

        Beside other calls the final one is dropped: the model gave it before it had their results. Two final answers
        are none.
        """
        name = self.definition.name
        final = [call for call in response.tool_calls if call.name == name]
        if not final:
            return response
        others = tuple(call for call in response.tool_calls if call.name != name)
        if others:
            return replace(response, tool_calls=others)
        text = self._answer(final[0]) if len(final) == 1 else ""
        return replace(response, text=text, tool_calls=(), stop_reason="stop")

    async def taken_from_stream(self, deltas: AsyncIterator[ModelDelta]) -> AsyncGenerator[ModelDelta, None]:
        """The stream with the answer as pieces of text; one that is no object comes as one piece at the end."""
        final: set[int] = set()
        async for delta in deltas:
            if isinstance(delta, ToolCallDelta):
                if delta.name == self.definition.name:
                    final.add(delta.index)
                if delta.index not in final:
                    yield delta
                elif delta.arguments and not self.is_wrapped:
                    yield TextDelta(delta.arguments)
            elif isinstance(delta, ModelDone):
                response = self.taken_from(delta.response)
                if self.is_wrapped and final and response.text and not response.tool_calls:
                    yield TextDelta(response.text)
                yield ModelDone(response)
            else:
                yield delta

    def _answer(self, call: ToolCall) -> str:
        arguments: Any = call.arguments
        if not self.is_wrapped:
            return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
        try:
            value = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
            return msgspec.json.encode(value["value"]).decode()
        except (msgspec.DecodeError, KeyError, TypeError):
            return ""


def final_tool_for(request: ModelRequest) -> FinalTool:
    """The tool for a request that has an `output_schema`, under a name that no other tool has."""
    schema = request.output_schema or {}
    is_wrapped = schema.get("type") != "object"
    if is_wrapped:
        inner = {key: value for key, value in schema.items() if key not in ("$defs", "$schema")}
        outer: dict[str, Any] = {key: schema[key] for key in ("$defs", "$schema") if key in schema}
        schema = {
            **outer,
            "type": "object",
            "properties": {"value": inner},
            "required": ["value"],
            "additionalProperties": False,
        }
    taken = {tool.name for tool in request.tools}
    name = "final_answer"
    while name in taken:
        name += "_"
    return FinalTool(ToolDefinition(name, _DESCRIPTION, schema), is_wrapped)
