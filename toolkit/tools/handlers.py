"""How a handler is called: which parameters the model fills in, and which the run does."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Set
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError
from toolkit.records import Invocation, Run
from toolkit.tools.defaults import declared
from toolkit.tools.inject import Inject
from toolkit.tools.input_shapes import shape_and_parameter, shape_of_parameters
from toolkit.tools.parameters import Parameter, is_async_callable, names_taken, read_parameters, without_none
from toolkit.tools.schemas.protocol import Shape

__all__ = ["CONTEXT_TYPES", "HandlerPlan", "context_value", "is_context_type", "plan_handler", "types_taken"]

CONTEXT_TYPES = frozenset((RunContext, Run, Invocation))
"""What every run gives by its type."""


class HandlerPlan(Struct, frozen=True):
    """What is worked out once about a handler.

    Attributes:
        shape: What the model may send, and how it becomes what the handler takes.
        whole: The parameter that gets the arguments as one dict or instance; None when they are spread, as the
            parameters say it, or to the `**kwargs` of a handler that has a hand-written schema.
        contexts: Parameters filled with the `RunContext`, `Run` or `Invocation`, with the annotated type.
        injected: Parameters marked `Inject`.
        positional: Names of positional-only parameters, in order, with their defaults.
        reserved: Names that a model may never send, though the schema of a `**kwargs` handler is open.
        is_async: Calling the handler gives a coroutine.
        defaults: Defaults that are made anew for each call, by the parameter's name.
    """

    shape: Shape
    whole: str | None
    contexts: tuple[tuple[str, type], ...]
    injected: tuple[Parameter, ...]
    positional: tuple[tuple[str, Any], ...]
    reserved: frozenset[str]
    is_async: bool
    defaults: tuple[tuple[str, Callable[[], Any]], ...] = ()

    def bind(
        self, converted: Any, ctx: RunContext, injected: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and keyword arguments of one call of the handler, which gets what was converted itself."""
        keywords: dict[str, Any] = {self.whole: converted} if self.whole is not None else converted
        for name, wanted in self.contexts:
            keywords[name] = context_value(wanted, ctx)
        if injected:
            keywords.update(injected)
        for name, make in self.defaults:
            if name not in keywords:
                keywords[name] = make()
        if not self.positional:
            return (), keywords
        return tuple(keywords.pop(name, default) for name, default in self.positional), keywords


def is_context_type(annotation: Any) -> bool:
    """True for `RunContext`, `Run` (also `Run[T]`) and `Invocation`, also as `... | None` or `Annotated[...]`."""
    return _context_type(annotation) is not None


def _context_type(annotation: Any) -> type | None:
    plain = without_none(annotation)
    plain = typing.get_origin(plain) or plain
    return next((kind for kind in CONTEXT_TYPES if plain is kind), None)


def context_value(wanted: type, ctx: RunContext) -> Any:
    """What a parameter of one of the context types is filled with."""
    if wanted is RunContext:
        return ctx
    return ctx.run if wanted is Run else ctx.invocation


def _given_by_type(annotation: Any, given: Set[type]) -> type | None:
    """The type among `given` that an unmarked parameter is annotated with, also as `T | None` or `T[...]`.

    Never a builtin one: a text for the model to send is no less a text because the run has one.
    """
    wanted = without_none(annotation)
    wanted = typing.get_origin(wanted) or wanted
    found = next((kind for kind in given if kind is wanted), None)
    return None if found is None or found.__module__ == "builtins" else found


def types_taken(handler: Any, given: Set[type], owner: str) -> frozenset[type]:
    """Those of the given types that a handler takes without a mark, so that it has another plan with them."""
    if not callable(handler) or isinstance(handler, type):
        return frozenset()
    try:
        parameters = read_parameters(handler, owner)
    except TypeError:  # it does not tell its parameters, which is said where it is planned
        return frozenset()
    found = (_given_by_type(parameter.annotation, given) for parameter in parameters if parameter.inject is None)
    return frozenset(kind for kind in found if kind is not None)


def plan_handler(
    handler: Callable[..., Any], input_schema: Any, owner: str, given: Set[type] = frozenset()
) -> HandlerPlan:
    """Reads a handler that is already bound (or a plain function).

    Args:
        handler: What will be called, without `self` among its parameters.
        input_schema: None, a hand-written JSON Schema, or a type.
        owner: For error texts, such as `"tool 'get_weather'"`.
        given: Types of values that the run fills in, though the parameter is not marked.

    Raises:
        ConfigurationError: a parameter has no JSON Schema, or the handler can't take what the schema gives.
    """
    if inspect.isasyncgenfunction(handler) or inspect.isgeneratorfunction(handler):
        raise ConfigurationError(
            f"the handler of {owner} is a generator; return one value, and tell of progress with ctx.emit(...)"
        )
    _check_signature(handler, owner)
    declarations = [declared(_marked(parameter, given), owner) for parameter in read_parameters(handler, owner)]
    parameters = tuple(parameter for parameter, _ in declarations)
    contexts = tuple(
        (p.name, wanted)
        for p in parameters
        if (p.inject is None or p.inject.name is None) and (wanted := _context_type(p.annotation)) is not None
    )
    filled = {name for name, _ in contexts}
    injected = tuple(p for p in parameters if p.inject is not None and p.name not in filled)
    filled |= {p.name for p in injected}
    _check_kinds(parameters, filled, owner)
    offered = [p for p in parameters if p.name not in filled]
    if input_schema is None:
        shape, whole = shape_of_parameters(offered, handler, owner), None
    else:
        shape, whole = shape_and_parameter(input_schema, offered, owner)
    return HandlerPlan(
        shape=shape,
        whole=whole,
        contexts=contexts,
        injected=injected,
        positional=tuple((p.name, p.default) for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        reserved=_reserved(parameters, handler, {p.name for p in offered}),
        is_async=is_async_callable(handler),
        defaults=tuple((p.name, make) for p, make in declarations if make is not None),
    )


def _marked(parameter: Parameter, given: Set[type]) -> Parameter:
    if not given or parameter.inject is not None or _given_by_type(parameter.annotation, given) is None:
        return parameter
    return replace(parameter, inject=Inject())


def _check_signature(handler: Callable[..., Any], owner: str) -> None:
    try:
        inspect.signature(handler)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"the handler of {owner} is {handler!r}, which does not tell its parameters; wrap it in a function of your "
            f"own, with annotated parameters"
        ) from error


def _check_kinds(parameters: tuple[Parameter, ...], filled: set[str], owner: str) -> None:
    for place, parameter in enumerate(parameters):
        if place == 0 and parameter.name in ("self", "cls") and parameter.annotation is UNSET:
            raise ConfigurationError(
                f"the handler of {owner} takes '{parameter.name}', as a method does that no object is bound to; make a "
                f"class with a handler of it, or give Tool.define(handler=...) the method of an object"
            )
        if parameter.is_variadic and parameter.name in filled:
            stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
            raise ConfigurationError(
                f"parameter '{stars}{parameter.name}' of {owner} is marked as one that the run fills in, and it takes "
                f"any number of values; declare one parameter for each value"
            )


def _reserved(parameters: tuple[Parameter, ...], handler: Callable[..., Any], offered: set[str]) -> frozenset[str]:
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return frozenset()  # the schema is closed (or the arguments come as one value)
    return frozenset(names_taken(handler) - offered)
