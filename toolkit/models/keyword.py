"""`KeywordModel`: no language model. It lets a demo run with no key and no network."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any, cast

from toolkit.errors import ConfigurationError
from toolkit.messages import Message, ToolCall, ToolDefinition, ToolMessage, UserMessage
from toolkit.models.protocol import ModelRequest, ModelResponse

__all__ = ["KeywordModel"]

_WORD = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r"[\"“«]([^\"”»]+)[\"”»]|'([^']+)'")
_IDENTIFIER = re.compile(r"\b[A-Za-z]+[-_]?\d+\b|#\d+\b")
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:\.\d+)?")  # the 12 of ORD-12 is not below zero
_NO_TOPIC = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at by can could do does for from get give how i in is it me my of on or please show "
        "tell the this to was what when where which who why with you your",
    )
)
_MAX_PROMPT = 2_000
_MAX_DEPTH = 4
_MAX_ITEMS = 20
_LONGEST_NUMBER = 300
"""Characters of a number that a float can surely hold."""


class KeywordModel:
    """Matches the words of the prompt with the tools, and fills their required parameters from it.

    It calls the tool whose name and description share most words with the prompt, then repeats what the tool said, and
    says in its answer what it is. It writes no JSON, so it can't answer an agent that has an `output_type`. It is used
    only when asked for: `TOOLKIT_MODEL=keyword`, or `toolwire demo`.
    """

    async def respond(self, request: ModelRequest) -> ModelResponse:
        if request.output_schema is not None:
            raise ConfigurationError(
                "the keyword model repeats what tools said, and can't give an answer of an output_type; take a "
                "language model, or in a test ScriptedModel([says('...')]) with the JSON of one"
            )
        results = _results_at_the_end(request.messages)
        if results:
            return ModelResponse(_answer(results), model="keyword")
        prompt = _last_prompt(request.messages)[:_MAX_PROMPT]
        tool = _best(prompt, request.tools)
        if tool is None:
            return ModelResponse(_nothing_found(request.tools), model="keyword")
        call = ToolCall("", tool.name, _arguments(prompt, tool.input_schema))
        return ModelResponse(tool_calls=(call,), model="keyword")


def _results_at_the_end(messages: Sequence[Message]) -> list[ToolMessage]:
    results: list[ToolMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        results.append(message)
    return results[::-1]


def _last_prompt(messages: Sequence[Message]) -> str:
    return next((message.text for message in reversed(messages) if isinstance(message, UserMessage)), "")


def _answer(results: list[ToolMessage]) -> str:
    lines = [
        f"{result.name} could not help: {result.content}" if result.is_error else f"{result.name}: {result.content}"
        for result in results
    ]
    return "(keyword model, no language model) " + "\n".join(lines)


def _nothing_found(tools: Sequence[ToolDefinition]) -> str:
    names = ", ".join(tool.name for tool in tools) or "none"
    return f"(keyword model, no language model) No word of the prompt matches a tool. The tools: {names}."


def _best(prompt: str, tools: Sequence[ToolDefinition]) -> ToolDefinition | None:
    words = _topics(prompt)
    scored = [(_score(words, prompt, tool), -place, tool) for place, tool in enumerate(tools)]
    best = max(scored, key=lambda item: item[:2], default=None)
    return best[2] if best is not None and best[0] > 0 else None


def _score(words: set[str], prompt: str, tool: ToolDefinition) -> int:
    """A word of the name counts three times one of the description; an identifier of the tool's own form as five."""
    score = 3 * len(words & _topics(tool.name.replace("_", " "))) + len(words & _topics(tool.description))
    patterns = [str(schema["pattern"]) for schema in _properties(tool.input_schema).values() if "pattern" in schema]
    return score + 5 * sum(_matching(pattern, prompt) is not None for pattern in patterns)


def _topics(text: str) -> set[str]:
    """The words that say something, singular."""
    return {word.removesuffix("s") for word in _WORD.findall(text.lower()) if word not in _NO_TOPIC}


def _properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: Any = schema.get("properties", {})
    return {name: inner for name, inner in found.items() if isinstance(inner, dict)}


def _arguments(
    prompt: str, schema: dict[str, Any], root: dict[str, Any] | None = None, depth: int = 0
) -> dict[str, Any]:
    root = schema if root is None else root
    properties = _properties(schema)
    required: list[str] = schema.get("required", [])
    if depth > 2 * _MAX_DEPTH:  # it holds itself without end
        return {}
    return {name: _value(prompt, properties.get(name, {}), root, depth + 1) for name in required}


def _value(prompt: str, schema: Any, root: dict[str, Any], depth: int) -> Any:
    schema = _described(schema)
    if depth > _MAX_DEPTH and {"type": "null"} in schema.get("anyOf", ()):
        return None
    schema = _plain(schema, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        options = cast("list[Any]", schema["enum"])
        return next((option for option in options if _has_word(prompt, str(option))), options[0])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in cast("list[str]", kind) if one != "null"), "null")
    if kind in ("integer", "number"):
        return _number(prompt, schema, whole=kind == "integer")
    if kind == "boolean":
        return not re.search(r"\b(no|not|without|false)\b", prompt.lower())
    if kind == "null":
        return None
    if kind == "array":
        first: list[Any] = schema.get("prefixItems") or []
        usual = 0 if first or depth > _MAX_DEPTH else 1  # a type that holds itself has an end
        usual = min(usual, int(schema.get("maxItems", usual)))
        more = min(max(int(schema.get("minItems", 0)) - len(first), usual), _MAX_ITEMS)
        return [_value(prompt, item, root, depth + 1) for item in (*first, *[schema.get("items")] * more)]
    if kind == "object":
        return _arguments(prompt, schema, root, depth)
    if schema.get("format") in _MOMENTS:
        return _moment(prompt, str(schema["format"]))
    text = _text(prompt, schema.get("pattern"))
    if len(text) < schema.get("minLength", 0):
        text = prompt
    return text[: int(schema.get("maxLength", len(text)))]


def _described(schema: Any) -> dict[str, Any]:
    """A schema as a dict: `true`, and what is not there, say nothing of a value."""
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}


def _has_word(prompt: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", prompt, re.IGNORECASE) is not None


def _plain(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A schema with its `$ref` followed, and the first of its alternatives that is not null."""
    for _ in range(8):  # a schema may refer to itself
        reference = str(schema.get("$ref", ""))
        alternatives = [_described(one) for one in schema.get("anyOf") or schema.get("oneOf") or ()]
        if reference.startswith("#/$defs/"):
            schema = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
        elif alternatives:
            schema = next((one for one in alternatives if one.get("type") != "null"), dict[str, Any]())
        else:
            break
    return schema


def _number(prompt: str, schema: dict[str, Any], *, whole: bool) -> float:
    """The first number of the prompt, else 1; the nearest to it that the schema's bounds allow."""
    found = _NUMBER.search(prompt)
    text = found.group() if found is not None and len(found.group()) <= _LONGEST_NUMBER else "1"
    number: float = int(text) if whole and "." not in text else float(text)  # an identifier may have many digits
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, _beside(schema["exclusiveMinimum"], math.inf, whole=whole))
    if "exclusiveMaximum" in schema:
        high = min(high, _beside(schema["exclusiveMaximum"], -math.inf, whole=whole))
    number = min(max(number, low), high)
    step = schema.get("multipleOf") or (1 if whole else 0)
    if step:
        above = -(-number // step) * step
        number = above if above <= high else number // step * step
    return int(number) if whole else number


def _beside(bound: float, towards: float, *, whole: bool) -> float:
    """The number next to a bound that is not allowed itself."""
    if not whole:
        return math.nextafter(bound, towards)
    return math.floor(bound) + 1 if towards > 0 else math.ceil(bound) - 1


_MOMENTS = {"date": r"\d{4}-\d{2}-\d{2}", "date-time": r"\d{4}-\d{2}-\d{2}T\S+", "time": r"\d{2}:\d{2}(:\d{2})?"}


def _moment(prompt: str, form: str) -> str:
    """The first date or time of the prompt, else now."""
    found = re.search(_MOMENTS[form], prompt)
    if found is not None:
        return found.group()
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    if form == "date-time":
        return now.isoformat()
    return now.date().isoformat() if form == "date" else now.time().isoformat()


def _text(prompt: str, pattern: str | None) -> str:
    if pattern is not None:
        matching = _matching(pattern, prompt)
        if matching is not None:
            return matching
    quoted = _QUOTED.search(prompt)
    if quoted is not None:
        return quoted.group(1) or quoted.group(2)
    identifier = _IDENTIFIER.search(prompt)
    if identifier is not None:
        return identifier.group()
    return _subject(prompt) or prompt


def _matching(pattern: str, prompt: str) -> str | None:
    """The first word of the prompt that meets the whole pattern."""
    try:
        compiled = re.compile(pattern)
    except re.error:
        return None
    words = (word.strip(".,;:!?()'\"") for word in prompt.split())
    return next((word for word in words if len(word) <= 64 and compiled.search(word)), None)


def _subject(prompt: str) -> str:
    """The part of a question that names something: capitalised words after the first, else the words with a topic."""
    words = [word.strip(".,;:!?()") for word in prompt.split()]
    names = [word for word in words[1:] if word[:1].isupper()]
    return " ".join(names or [word for word in words if word.lower() not in _NO_TOPIC])
