"""The class of `jsonschema` that words violations: its own, with some keywords put otherwise.

- What Python answers slowly or wrongly (patterns, decimals, uniqueness, long enums) is asked of the judge.
- A property that is missing or unexpected has a violation of its own, at its own path.
- Parts that are valid are skipped, when the judge says so; and the work is bounded.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import chain, islice
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.judges import MAX_MATCHED, Judge, PythonJudge
from toolkit.tools.validation.subschemas import subschemas

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["OutOfBudget", "budget", "local_registry", "validator_class"]

_MAX_PER_BRANCH: Final = 20
_MANY: Final = 500
_MAX_OPTIONS: Final = 50
_SPARE_FRAMES: Final = 200
_NONE_FITS: Final = "the value is not valid under any of the given schemas"

budget: ContextVar[list[int] | None] = ContextVar("budget", default=None)
"""Parts of a value that may still be looked at while one refusal is worded. About 15 µs each."""

_Step = TypeVar("_Step", str, int)
_Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError]"]


class OutOfBudget(Exception):
    """Wording takes too long: an event loop waits for it."""


def validator_class(dialect: Dialect, judge: Judge, schema: dict[str, Any]) -> Any:
    """The class for one dialect and one schema, which its judge knows."""
    import jsonschema
    from jsonschema import validators

    base = getattr(jsonschema, f"{dialect}Validator")
    words = _Words(
        judge, base.VALIDATORS, dialect, has_patterns=any("patternProperties" in s for _, s in subschemas(schema))
    )
    replaced: dict[str, _Keyword] = {
        "$dynamicRef": words.reference("$dynamicRef"),
        "$recursiveRef": words.reference("$recursiveRef"),
        "$ref": words.reference("$ref"),
        "additionalProperties": words.additional_properties,
        "anyOf": words.any_of,
        "contains": words.contains,
        "dependentRequired": words.dependent_required,
        "enum": words.enum,
        "items": words.items,
        "multipleOf": words.multiple_of,
        "oneOf": words.one_of,
        "pattern": words.pattern,
        "patternProperties": words.pattern_properties,
        "prefixItems": words.prefix_items,
        "properties": words.properties,
        "propertyNames": words.property_names,
        "required": words.required,
        "unevaluatedItems": words.unevaluated_items,
        "unevaluatedProperties": words.unevaluated_properties,
        "uniqueItems": words.unique_items,
    }
    known = {name: function for name, function in replaced.items() if name in base.VALIDATORS}
    return cast("Any", validators).extend(base, known)


def local_registry() -> Any:
    """What a reference may lead to beside the schema itself: the schemas of schemas. It never fetches anything."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

    return cast("Any", REGISTRY)  # the package has no types


def _error(message: str, path: tuple[str | int, ...] = (), **more: Any) -> ValidationError:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message, path=path, **more)


def _stack_is_nearly_used_up() -> bool:
    """Whether a `RecursionError` is near. In the code of rpds-py, which resolves references, it would be a panic."""
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage] -- `inspect` reads files for it
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth > sys.getrecursionlimit() - _SPARE_FRAMES


class _Words:
    """Functions of jsonschema's form: `(validator, value of the keyword, instance, schema)` → errors."""

    def __init__(self, judge: Judge, base: Any, dialect: Dialect, *, has_patterns: bool) -> None:
        self._judge = judge
        self._base = base
        self._dialect = dialect
        self._has_patterns = has_patterns

    def reference(self, keyword: str) -> _Keyword:
        follow: _Keyword | None = self._base.get(keyword)

        def followed(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            if _stack_is_nearly_used_up():
                raise RecursionError("the value is nested too deep, or a reference leads back to itself")
            yield from (follow(validator, reference, instance, schema) if follow else ()) or ()

        return followed

    def required(self, validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name in names:
                if name not in instance:
                    yield _error(f"{name!r} is a required property", (name,))

    def dependent_required(self, validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name, others in names.items():
                for other in others if name in instance else ():
                    if other not in instance:
                        yield _error(f"{other!r} is a dependency of {name!r}", (other,))

    def properties(self, validator: Any, named: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name, child in named.items():
                if name in instance:
                    yield from self._descend(validator, instance[name], child, name, name)

    def additional_properties(self, validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if rest is True or not isinstance(instance, dict):
            return
        named, patterns = schema.get("properties", {}), list(schema.get("patternProperties", {}))
        others = (
            (name, value)
            for name, value in cast("dict[str, Any]", instance).items()
            if name not in named and not any(self._judge.meets("pattern", pattern, name) for pattern in patterns)
        )
        for name, value in self._wrong(rest, others):
            if rest is not False:
                yield from self._descend(validator, value, rest, name)
            elif patterns:
                yield _error(f"{name!r} does not match any of the regexes: {', '.join(map(repr, patterns))}", (name,))
            else:
                yield _error(f"Additional properties are not allowed ({name!r} was unexpected)", (name,))

    def unevaluated_properties(
        self, validator: Any, rest: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        many = isinstance(instance, dict) and len(cast("dict[str, object]", instance)) > _MANY
        if budget.get() is not None and (many or self._has_patterns):
            raise OutOfBudget  # jsonschema takes quadratic time here, and matches the patterns with Python's `re`
        for error in self._base["unevaluatedProperties"](validator, rest, instance, schema) or ():
            lead, _, names = error.message.partition("(")
            names, _, _ = names.rpartition(" w" if rest is False else " unevaluated")
            for name in dict.fromkeys(ast.literal_eval(f"[{names.removesuffix(' was').removesuffix(' were')}]")):
                yield _error(f"{lead}({name!r} was unexpected)", (name,))

    def pattern_properties(self, validator: Any, named: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for pattern, child in named.items():
                for name, value in self._wrong(child, cast("dict[str, Any]", instance).items()):
                    if self._judge.meets("pattern", pattern, name):
                        yield from self._descend(validator, value, child, name, pattern)

    def property_names(self, validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name, _ in self._wrong(names, ((name, name) for name in cast("dict[str, Any]", instance))):
                for error in self._descend(validator, name, names, None):
                    yield _error(f"the name {error.message}", (name,))

    def items(self, validator: Any, child: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(instance, list):
            return
        if isinstance(child, list):  # before 2020-12
            yield from self.prefix_items(validator, child, instance, schema)
        elif self._dialect == "Draft202012" and child is False:
            yield from self._base["items"](validator, child, instance, schema) or ()
        else:
            start = len(schema.get("prefixItems", ())) if self._dialect == "Draft202012" else 0
            members = enumerate(cast("list[object]", instance))
            for index, item in self._wrong(child, islice(members, start, None)):
                yield from self._descend(validator, item, child, index)

    def prefix_items(self, validator: Any, children: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, list):
            for index, (item, child) in enumerate(zip(cast("list[object]", instance), children, strict=False)):
                yield from self._descend(validator, item, child, index, index)

    def contains(self, validator: Any, child: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        is_valid = self._judge.of_subschema(cast("dict[str, Any]", child)) if isinstance(child, dict) else None
        if is_valid is None or not isinstance(instance, list):
            yield from self._base["contains"](validator, child, instance, schema) or ()
            return
        matching = sum(map(is_valid, cast("list[object]", instance)))
        counts: dict[str, Any] = schema if self._dialect in ("Draft201909", "Draft202012") else {}
        least, most = counts.get("minContains", 1), counts.get("maxContains", matching)
        if matching > most:
            yield _error(f"Too many items match the given schema (expected at most {most})")
        elif matching < least:
            few = f"Too few items match the given schema (expected at least {least} but only {matching} matched)"
            yield _error(few if matching else f"{instance!r} does not contain items matching the given schema")

    def unevaluated_items(self, validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, list) and len(cast("list[object]", instance)) > _MANY and budget.get() is not None:
            raise OutOfBudget  # as above: it takes quadratic time
        yield from self._base["unevaluatedItems"](validator, rest, instance, schema) or ()

    def any_of(self, validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        found = self._in_branches(validator, branches, instance)
        if all(found):
            yield _error(_NONE_FITS, context=list(chain.from_iterable(found)))

    def one_of(self, validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        found = self._in_branches(validator, branches, instance)
        fitting = sum(not errors for errors in found)
        if not fitting:
            yield _error(_NONE_FITS, context=list(chain.from_iterable(found)))
        elif fitting > 1:
            yield _error(f"{instance!r} fits {fitting} of the given schemas, of which exactly one may fit")

    def pattern(self, validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not self._judge.meets("pattern", pattern, instance):
            if isinstance(self._judge, PythonJudge) and len(instance) > MAX_MATCHED:
                yield _error(f"a string of over {MAX_MATCHED:,} characters can't be matched here against {pattern!r}")
            else:
                yield _error(f"{instance!r} does not match {pattern!r}")

    def multiple_of(self, validator: Any, factor: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "number") and not self._judge.meets("multipleOf", factor, instance):
            yield _error(f"{instance!r} is not a multiple of {factor!r}")

    def unique_items(self, validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if wanted and isinstance(instance, list) and not self._judge.meets("uniqueItems", wanted, instance):
            yield _error(f"{instance!r} has non-unique elements")

    def enum(self, validator: Any, options: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not self._judge.meets("enum", options, instance):
            more = f" and {len(options) - _MAX_OPTIONS:,} more" if len(options) > _MAX_OPTIONS else ""
            yield _error(f"{instance!r} is not one of {options[:_MAX_OPTIONS]!r}{more}")

    def _wrong(self, child: Any, members: Iterable[tuple[_Step, Any]]) -> Iterator[tuple[_Step, Any]]:
        """The members that a subschema refuses, by the judge's quick answer; all of them where it has none."""
        is_valid = self._judge.of_subschema(cast("dict[str, Any]", child)) if isinstance(child, dict) else None
        if is_valid is None:
            return iter(members)
        return ((step, member) for step, member in members if not is_valid(member))

    def _in_branches(self, validator: Any, branches: Any, instance: Any) -> list[list[ValidationError]]:
        return [
            list(islice(self._descend(validator, instance, branch, None, index), _MAX_PER_BRANCH))
            for index, branch in enumerate(branches)
        ]

    def _descend(
        self, validator: Any, value: Any, schema: Any, path: str | int | None, schema_path: str | int | None = None
    ) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError

        left = budget.get()
        if left is not None:
            left[0] -= 1
            if left[0] < 0:
                raise OutOfBudget
        if schema is False:  # jsonschema would leave out the path
            yield ValidationError(
                "no value is allowed here",
                path=() if path is None else (path,),
                schema_path=() if schema_path is None else (schema_path,),
                validator=cast("str", None),
                instance=value,
            )
        else:
            yield from validator.descend(value, schema, path=path, schema_path=schema_path)
