"""The specification of a tool: all that is the same for each of its calls, and what its calls ask of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from toolkit.messages import ToolDefinition
from toolkit.tools.arguments import UNREADABLE, decode, parse_arguments, prove
from toolkit.tools.copies import copied_json
from toolkit.tools.handlers import HandlerPlan
from toolkit.tools.members import Look
from toolkit.tools.parameters import Parameter
from toolkit.tools.proofs import SHORT, has_no_repeated_key
from toolkit.tools.schemas.protocol import ConversionError
from toolkit.tools.validation import Validator
from toolkit.tools.violations import InvalidArguments, Violation, text_of

__all__ = ["ToolSpecification"]


class ToolSpecification(Struct, frozen=True, eq=False, weakref=True):
    """See `toolkit.tools.protocol.ITool` for what the flags mean."""

    definition: ToolDefinition
    label: str  # "tool 'get_weather'", for error texts
    handler: HandlerPlan
    validator: Validator
    output_validator: Validator | None
    exclusive: bool
    timeout: float | None
    needs_approval: bool
    max_result_tokens: int
    run_in_thread: bool
    has_before_hook: bool
    has_after_hook: bool
    available_if: Callable[..., Any] | None
    availability: tuple[Parameter, ...]
    described: type | None = None  # the class of what it was made of
    own: dict[str, Any] = {}  # the members that the described object had itself
    look: Look | None = None  # at the class, where that alone was described

    @property
    def name(self) -> str:
        return self.definition.name

    def read(self, raw: str | bytes | dict[str, Any] | None) -> dict[str, Any]:
        """What a model sent, as JSON values that meet the schema.

        Raises:
            InvalidArguments: it is no JSON object, or breaks the schema. Nothing is repaired, but for a JSON text where
                an object or array belongs.
        """
        if isinstance(raw, str):
            try:
                arguments: dict[str, Any] = decode(raw)  # or what else there is
            except UNREADABLE:
                return self._checked(parse_arguments(raw))  # blank, or it says what is wrong
            if arguments.__class__ is dict:
                return arguments if self._is_right(raw, arguments) else self._checked(prove(raw, arguments))
        return self._checked(parse_arguments(raw))

    def _is_right(self, raw: str, arguments: dict[str, Any]) -> bool:
        """Whether it is seen at once, as of most calls, that the text says no more than this, which meets the schema.

        Then no text in it stands for an object or array either. What is not seen to be right goes the whole way.
        """
        validator = self.validator
        if self.handler.reserved:
            return False
        if len(raw) <= SHORT:
            has_all_keys = raw.count(":") == len(arguments) or has_no_repeated_key(raw, arguments)
            return has_all_keys and validator.is_valid(arguments)
        try:
            return validator.is_bounded() and validator.is_valid(arguments) and has_no_repeated_key(raw, arguments)
        except ValueError:  # nested too deep for the validator
            return False

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments = self.validator.decode_nested(arguments)
        self.check(arguments)
        return arguments

    def check(self, arguments: dict[str, Any]) -> None:
        """Raises `InvalidArguments` unless JSON values meet the schema."""
        if not self.validator.is_valid(arguments):
            raise InvalidArguments(text_of(self.validator.violations(arguments)))
        handler = self.handler
        if handler.reserved and not handler.reserved.isdisjoint(arguments):
            taken = [name for name in arguments if name in handler.reserved]
            raise InvalidArguments(text_of(Violation(f"$.{name}", "is not an argument of this tool") for name in taken))

    def convert(self, arguments: dict[str, Any]) -> Any:
        """Arguments that meet the schema, as what the handler takes, which shares no dict or list with them.

        Raises:
            InvalidArguments: the handler's types refuse them: a schema can't say all that a type does.
        """
        shape = self.handler.shape
        if shape.convert is None:
            return copied_json(arguments)
        try:
            return shape.convert(arguments if shape.is_new else copied_json(arguments))
        except ConversionError as error:
            raise InvalidArguments(text_of(error.violations)) from error
