"""The typed answer of a run: the schema that the model is told, and the value that its text gives."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolkit.errors import ConfigurationError, OutputError
from toolkit.tools.arguments import parse_arguments
from toolkit.tools.schemas import shape_of_type
from toolkit.tools.schemas.protocol import ConversionError, Shape
from toolkit.tools.validation import Validator, compile_schema
from toolkit.tools.violations import InvalidArguments, text_of

__all__ = ["Output", "output_of"]


class Output(Struct, frozen=True):
    """How an `output_type` is asked for and read."""

    shape: Shape
    validator: Validator

    def read(self, text: str) -> Any:
        """The value that an answer gives. Raises `OutputError` when it does not meet the type."""
        try:
            value: Any = parse_arguments(text)
            if not self.validator.is_valid(value):
                raise InvalidArguments(text_of(self.validator.violations(value)))
            return value if self.shape.convert is None else self.shape.convert(value)
        except (InvalidArguments, ConversionError) as error:
            raise OutputError(f"the model's answer does not meet the output_type: {error}") from error


_outputs: dict[Any, Output] = {}


def output_of(output_type: Any) -> Output | None:
    """The output of an agent's `output_type`, worked out once for each type.

    Raises:
        ConfigurationError: the type's JSON is no object.
    """
    if output_type is None:
        return None
    if output_type not in _outputs:
        shape = shape_of_type(output_type)
        if shape.schema.get("type") != "object":
            raise ConfigurationError(
                f"output_type is {output_type!r}; it has to be a type whose JSON is an object (dataclass, TypedDict, "
                f"msgspec Struct, pydantic model)"
            )
        _outputs[output_type] = Output(shape, compile_schema(shape.schema, owner="the output_type"))
    return _outputs[output_type]
