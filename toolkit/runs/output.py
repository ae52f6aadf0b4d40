"""The typed answer of a run: the schema that the model is told, and the value that its text gives."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolkit.errors import ConfigurationError, OutputError, repr_of
from toolkit.tools.arguments import parse_json
from toolkit.tools.forgetting import make_room
from toolkit.tools.schemas import shape_of_type
from toolkit.tools.schemas.protocol import ConversionError, Shape
from toolkit.tools.validation import Validator, compile_schema
from toolkit.tools.violations import InvalidArguments, text_of

__all__ = ["REPAIR", "Output", "output_of"]

REPAIR = (
    "Your last answer does not have the form that was asked for. Answer again, with nothing but JSON that meets the "
    "required schema."
)
"""What a model is told, once, after an answer that misses the type. It repeats nothing that the model wrote."""


class Output(Struct, frozen=True):
    """How an `output_type` is asked for and read."""

    shape: Shape
    validator: Validator

    def read(self, text: str) -> Any:
        """The value that an answer gives. Raises `OutputError` when it does not meet the type."""
        try:
            value = parse_json(text)
        except InvalidArguments as error:
            raise _mismatch(
                str(error).replace("the arguments are", "the answer is").replace("the arguments", "the answer")
            ) from error
        try:
            if not self.validator.is_valid(value):
                raise _mismatch(text_of(self.validator.violations(value)))
            return value if self.shape.convert is None else self.shape.convert(value)
        except OutputError:
            raise
        except ConversionError as error:
            raise _mismatch(text_of(error.violations)) from error
        except Exception as error:  # a validator of the type's own may raise anything
            raise _mismatch(f"{type(error).__name__} was raised") from error


def _mismatch(reason: str) -> OutputError:
    return OutputError(f"the model's answer does not meet the output_type: {reason}")


_MAX_KEPT = 64

_outputs: dict[Any, Output] = {}


def output_of(output_type: Any) -> Output | None:
    """The output of an agent's `output_type`, worked out once for each type; None for the text itself.

    Raises:
        ConfigurationError: the type has no JSON Schema.
    """
    if output_type is None or output_type is str:
        return None
    try:
        known = _outputs.get(output_type)
    except TypeError:  # an annotation that can't be hashed
        return _made(output_type)
    if known is None:
        known = _made(output_type)
        make_room(_outputs, _MAX_KEPT)  # a type may be made for a run
        _outputs[output_type] = known
    return known


def _made(output_type: Any) -> Output:
    try:
        shape = shape_of_type(output_type)
    except ConfigurationError as error:
        raise ConfigurationError(f"output_type is {repr_of(output_type)}: {error}") from error
    return Output(shape, compile_schema(shape.schema, owner="the output_type"))
