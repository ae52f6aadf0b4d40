"""`compile_schema`: a schema is checked when its tool is listed, and gives a `Validator` for every call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, Literal

import msgspec

from toolkit.errors import ConfigurationError
from toolkit.tools.arguments import refuse_non_json
from toolkit.tools.proofs import MAX_DEPTH
from toolkit.tools.validation.depths import depth_of
from toolkit.tools.validation.dialects import Dialect, dialect_of
from toolkit.tools.validation.judges import Judge, PythonJudge, RustJudge, rust_validator
from toolkit.tools.validation.keywords import OutOfBudget, budget, local_registry, validator_class
from toolkit.tools.validation.nested import containers_of, decode_nested
from toolkit.tools.validation.refusals import fault_of_pattern, fault_of_references, fault_of_rust, fault_of_schema
from toolkit.tools.validation.wording import Found, in_document_order, own_words_of_rust, worded
from toolkit.tools.violations import MAX_VIOLATIONS, InvalidArguments, Violation, printable

__all__ = ["Engine", "Validator", "compile_schema"]

Engine = Literal["rust", "python"]

_BUDGET: Final = 2_000


class Validator:
    """A compiled schema. Its values are JSON: what `parse_arguments` returned, or what was read from JSON.

    Attributes:
        is_valid: whether a value meets the schema. It is the compiled function itself, with nothing in between, and may
            raise ValueError for what is no JSON, such as a key that is no string. (`violations` has words for that.)

    Example:
        >>> validator = compile_schema({"type": "object", "required": ["city"]}, owner="tool 'get_weather'")
        >>> validator.is_valid({"city": "Oslo"})
        True
        >>> validator.violations({})
        [Violation(path='$.city', message="'city' is a required property")]
    """

    __slots__ = ("_candidates", "_dialect", "_is_bounded", "_judge", "_schema", "_words", "is_valid")

    is_valid: Callable[[Any], bool]

    def __init__(
        self, schema: dict[str, Any], dialect: Dialect, judge: Judge, is_valid: Callable[[Any], bool] | None
    ) -> None:
        self._schema = schema
        self._dialect: Dialect = dialect
        self._judge = judge
        self._words: Any = None
        self._is_bounded: bool | None = None
        self._candidates = containers_of(schema, dialect)
        self.is_valid = is_valid or self._has_no_words

    def decode_nested(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, with a string decoded where only an object or array can be meant and it is JSON of that type.

        Once, and only for the properties of the object itself. Returns a new dict then, else the same one.
        """
        return decode_nested(arguments, self._candidates) if self._candidates else arguments

    def is_bounded(self) -> bool:
        """Whether whatever meets the schema is nested at most `MAX_DEPTH` deep. Worked out when first asked for."""
        if self._is_bounded is None:
            depth = depth_of(self._schema, self._dialect)
            self._is_bounded = depth is not None and depth <= MAX_DEPTH
        return self._is_bounded

    def violations(self, value: Any) -> list[Violation]:
        """Every way in which a value breaks the schema, in the order of the value, at most `MAX_VIOLATIONS`.

        Empty for a valid value. Never raises: what can't be checked is itself a violation.
        """
        try:
            if self.is_valid(value):
                return []
        except (ValueError, RecursionError) as error:  # no JSON, or nested too deep for the validator
            return [Violation("$", f"the value can't be checked: {printable(str(error), 200)}")]
        found, is_bounded = self._found(value)
        if not found and isinstance(self._judge, RustJudge):
            found = own_words_of_rust(rust_validator(self._schema), value, only_first=is_bounded)
        listed = in_document_order(found, value) or [Violation("$", "the value does not meet the schema")]
        if is_bounded:
            listed.append(Violation("$", "there may be more: the check of so much was ended early"))
        return listed

    def _found(self, value: Any) -> tuple[list[Found], bool]:
        """What jsonschema finds, and whether its time was up before it was through."""
        found: list[Found] = []
        token = budget.set([_BUDGET] if isinstance(self._judge, RustJudge) else None)
        try:
            for error in self._worder().iter_errors(value):
                found.extend(worded(error))
                if len(found) > MAX_VIOLATIONS:
                    break
        except OutOfBudget:
            return found, True
        except _limits_of_jsonschema():
            return found, False
        finally:
            budget.reset(token)
        return found, False

    def _worder(self) -> Any:
        if self._words is None:
            worder = validator_class(self._dialect, self._judge, self._schema)
            self._words = worder(self._schema, registry=local_registry())
        return self._words

    def _has_no_words(self, value: Any) -> bool:
        try:
            return next(iter(self._worder().iter_errors(value)), None) is None
        except RecursionError:  # a schema that refers to itself without end
            return False


def compile_schema(schema: dict[str, Any], *, owner: str, engine: Engine | None = None) -> Validator:
    """A validator for a JSON Schema, in the dialect that its `$schema` names (drafts 4, 6, 7, 2019-09, 2020-12).

    The schema is copied, never changed. `format` is an annotation, as the standard has it. References are followed
    inside the schema only: nothing is ever fetched or opened. `engine` is chosen by what is installed.

    Raises:
        ConfigurationError: it is not valid JSON Schema, a pattern can't be compiled or a reference leads nowhere. The
            text names the owner, such as "tool 'get_weather'", and the path inside the schema.
    """
    if not isinstance(schema, dict):  # pyright: ignore[reportUnnecessaryIsInstance] -- MCP servers send null
        raise ConfigurationError(f"the schema of {owner} must be a dict, not {type(schema).__name__}")
    try:
        refuse_non_json(schema)
    except InvalidArguments as error:
        raise ConfigurationError(f"the schema of {owner} is not JSON: {error}") from None
    dialect = dialect_of(schema)
    if dialect is None:
        raise _refusal(
            owner,
            "$['$schema']",
            f"{schema['$schema']!r} is not a dialect known here: draft 4, 6, 7, 2019-09 or 2020-12",
        )
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(schema))
    if (engine or _installed_engine()) == "python":
        fault = (
            fault_of_schema(copy, dialect) or fault_of_pattern(copy, python=True) or fault_of_references(copy, dialect)
        )
        if fault is not None:
            raise _refusal(owner, *fault)
        return Validator(copy, dialect, PythonJudge(), None)
    try:
        compiled = rust_validator(copy)
    except ValueError as error:
        raise _refusal(owner, *fault_of_rust(copy, dialect, error)) from None
    fault = fault_of_pattern(copy, python=False)
    if fault is not None:
        raise _refusal(owner, *fault)
    return Validator(copy, dialect, RustJudge(copy), compiled.is_valid)


def _limits_of_jsonschema() -> tuple[type[Exception], ...]:
    """What jsonschema raises where it can't follow a schema that jsonschema-rs can. The value is refused already."""
    from jsonschema.exceptions import UnknownType
    from referencing.exceptions import Unresolvable

    return (
        *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
        *(UnknownType, Unresolvable),
    )


def _installed_engine() -> Engine:
    try:
        import_module("jsonschema_rs")
    except ImportError:
        return "python"
    return "rust"


def _refusal(owner: str, path: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"the schema of {owner} is not valid JSON Schema: {path}: {printable(what, 300)}")
