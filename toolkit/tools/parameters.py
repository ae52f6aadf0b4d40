"""The parameters of a callable, with their annotations evaluated one by one, so that an error can name its culprit."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

from msgspec import UNSET, Struct, UnsetType

from toolkit.errors import ConfigurationError, repr_of
from toolkit.tools.inject import Inject, split_mark

__all__ = [
    "Parameter",
    "function_of",
    "is_async_callable",
    "label_of",
    "names_taken",
    "product_annotation",
    "read_parameters",
    "value_of_type",
    "without_none",
]


class Parameter(Struct, frozen=True):
    """One parameter. `annotation` is evaluated and without its `Inject` mark; UNSET where there is none."""

    name: str
    annotation: Any
    default: Any | UnsetType
    inject: Inject | None
    kind: Any  # of inspect.Parameter

    @property
    def is_required(self) -> bool:
        return self.default is UNSET

    @property
    def is_variadic(self) -> bool:
        return self.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def read_parameters(target: Callable[..., Any], owner: str) -> tuple[Parameter, ...]:
    """The parameters of a function, method or class; for a class those of its constructor.

    Args:
        target: What will be called. Decorated functions are looked through, and so is `functools.partial`: what it
            gives already is no parameter any more.
        owner: For error texts, such as `"tool 'get_weather'"`.

    Raises:
        ConfigurationError: an annotation names something that its module does not have at run time, or the mark
            `Inject()` stands where the default belongs.
    """
    try:
        taken = _parameters_of(target)
    except ValueError:  # a builtin without a text signature
        return ()
    namespace = _namespace_of(target)
    given = {name for partial in _partials_of(target) for name in partial.keywords}
    parameters: list[Parameter] = []
    for parameter in taken:
        if parameter.name in given:
            continue
        annotation: Any = UNSET
        if parameter.annotation is not inspect.Parameter.empty:
            annotation = _evaluated(parameter.annotation, namespace, parameter.name, owner)
        annotation, mark = split_mark(annotation)
        default = UNSET if parameter.default is inspect.Parameter.empty else parameter.default
        if isinstance(default, Inject) or default is Inject:
            raise ConfigurationError(
                f"parameter '{parameter.name}' of {owner} has Inject as its default, and a mark stands in the "
                f"annotation: {parameter.name}: Annotated[..., Inject()]"
            )
        parameters.append(Parameter(parameter.name, annotation, default, mark, parameter.kind))
    return tuple(parameters)


def names_taken(target: Callable[..., Any]) -> set[str]:
    """Every name that can't be passed through `**kwargs`: all parameters, with `self`, and what a partial gives."""
    taken = {name for partial in _partials_of(target) for name in partial.keywords}
    for signed in (target, function_of(target)):
        for parameter in _signature_of(signed).parameters.values():
            if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                taken.add(parameter.name)
    return taken


def product_annotation(function: Callable[..., Any]) -> Any:
    """What a function is annotated to return, evaluated; UNSET where it says nothing that can be read."""
    annotation = getattr(function_of(function), "__annotations__", {}).get("return", UNSET)
    if annotation is UNSET:
        return UNSET
    try:
        return _evaluated(annotation, _namespace_of(function), "return", "")
    except ConfigurationError:
        return UNSET


def without_none(annotation: Any) -> Any:
    """`T | None` and `Annotated[T, ...]` count as `T`; any other annotation is returned as it is."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            annotation = typing.get_args(annotation)[0]
            continue
        if origin in (typing.Union, types.UnionType):
            rest = [part for part in typing.get_args(annotation) if part is not type(None)]
            if len(rest) == 1:
                annotation = rest[0]
                continue
        return annotation


def value_of_type(annotation: Any, values: Mapping[type, Any]) -> Any:
    """The value given for a type: for the type itself, else for the one subclass of it; UNSET where there is none.

    Builtin types have no subclasses here: they say too little. Nor have Protocols that can't be asked.
    """
    wanted = without_none(annotation)
    if wanted in values:
        return values[wanted]
    wanted = typing.get_origin(wanted) or wanted
    if wanted in values:
        return values[wanted]
    if not isinstance(wanted, type) or wanted.__module__ == "builtins":
        return UNSET
    fitting = [value for kind, value in values.items() if _is_subclass(kind, wanted)]
    return fitting[0] if len(fitting) == 1 else UNSET


def _is_subclass(kind: Any, wanted: type) -> bool:
    try:
        return issubclass(kind, wanted)
    except TypeError:  # a generic alias, or a Protocol that is not runtime_checkable
        return False


def is_async_callable(target: Callable[..., Any]) -> bool:
    """True when calling it gives a coroutine; `functools.partial` and objects with `__call__` are looked through."""
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        return False
    method = getattr(target, "__call__", None)  # noqa: B004 - it asks how it is called, and not whether it can be
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(method)


def label_of(target: Any) -> str:
    """A readable name of a class or function, for error texts."""
    return getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or repr_of(target)


def function_of(target: Any) -> Any:
    """The plain function behind a class, partial, bound method, decorated function or callable object."""
    while True:
        if isinstance(target, functools.partial):
            target = target.func
        elif isinstance(target, type):
            constructor = inspect.getattr_static(target, "__init__", None)
            target = constructor if constructor is not object.__init__ else target.__new__
        elif hasattr(target, "__wrapped__"):
            target = target.__wrapped__
        elif inspect.ismethod(target):
            target = target.__func__
        elif not inspect.isroutine(target) and hasattr(cast("Any", type(target)), "__call__"):  # noqa: B004 - it is read
            target = cast("Any", type(target)).__call__
        else:
            return target


def _is_plain_class(target: Any) -> bool:
    """Whether it is a class that no metaclass makes objects of in its own way."""
    return target.__class__ is type


def _parameters_of(target: Any) -> Sequence[inspect.Parameter]:
    """The parameters. A class whose constructor is a plain `__init__`, or none, is asked for it: that costs less."""
    if _is_plain_class(target) and target.__new__ is object.__new__ and not hasattr(target, "__signature__"):
        constructor = target.__init__
        if constructor is object.__init__:
            return ()
        if type(constructor) is types.FunctionType and constructor.__code__.co_argcount:  # it takes `self` by place
            return [*_signature_of(constructor).parameters.values()][1:]
    return [*_signature_of(target).parameters.values()]


def _signature_of(target: Any) -> inspect.Signature:
    if isinstance(target, functools.partial):  # one with `__wrapped__` would show what it gives already
        given = cast("functools.partial[Any]", target)
        target = functools.partial(given.func, *given.args, **given.keywords)
    return inspect.signature(target)


def _partials_of(target: Any) -> Iterator[functools.partial[Any]]:
    while True:
        if isinstance(target, functools.partial):
            partial = cast("functools.partial[Any]", target)
            yield partial
            target = partial.func
        elif hasattr(target, "__wrapped__"):
            target = target.__wrapped__
        else:
            return


def _namespace_of(target: Any) -> dict[str, Any]:
    return getattr(function_of(target), "__globals__", {})


def _evaluated(annotation: Any, namespace: dict[str, Any], name: str, owner: str) -> Any:
    found = namespace.get(annotation) if isinstance(annotation, str) else annotation
    if _is_plain_class(found):  # a class, by its name or itself, as most are: nothing in it to be evaluated
        return found
    holder = types.SimpleNamespace(__annotations__={name: annotation})
    try:
        return typing.get_type_hints(holder, namespace, include_extras=True)[name]
    except (NameError, AttributeError) as error:
        missing = getattr(error, "name", None) or str(annotation)
        raise ConfigurationError(
            f"parameter '{name}' of {owner} is annotated {str(annotation)!r}, and its module has no '{missing}' at run "
            f"time (it is imported under TYPE_CHECKING only, or local to a function). Import or define it at the top "
            f"of the module"
        ) from error
    except Exception as error:
        raise ConfigurationError(
            f"parameter '{name}' of {owner} is annotated {str(annotation)!r}, which can't be evaluated: {error}"
        ) from error
