"""The parameters of a callable, with their annotations evaluated one by one, so that an error can name its culprit."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import UNSET, Struct, UnsetType

from toolkit.errors import ConfigurationError
from toolkit.tools.inject import Inject, split_mark

__all__ = [
    "Parameter",
    "is_async_callable",
    "label_of",
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
        target: What will be called. `functools.partial` and decorated functions are looked through.
        owner: For error texts, such as `"tool 'get_weather'"`.

    Raises:
        ConfigurationError: an annotation names something that its module does not have at run time.
    """
    try:
        signature = inspect.signature(target)
    except ValueError:  # a builtin class without a text signature
        return ()
    namespace = _namespace_of(target)
    parameters: list[Parameter] = []
    for parameter in signature.parameters.values():
        annotation: Any = UNSET
        if parameter.annotation is not inspect.Parameter.empty:
            annotation = _evaluated(parameter.annotation, namespace, parameter.name, owner)
        annotation, mark = split_mark(annotation)
        default = UNSET if parameter.default is inspect.Parameter.empty else parameter.default
        parameters.append(Parameter(parameter.name, annotation, default, mark, parameter.kind))
    return tuple(parameters)


def product_annotation(function: Callable[..., Any]) -> Any:
    """What a function is annotated to return, evaluated; UNSET where it says nothing that can be read."""
    annotation = getattr(_function_of(function), "__annotations__", {}).get("return", UNSET)
    if annotation is UNSET:
        return UNSET
    try:
        return _evaluated(annotation, _namespace_of(function), "return", "")
    except ConfigurationError:
        return UNSET


def without_none(annotation: Any) -> Any:
    """`T | None` counts as `T`; any other annotation is returned as it is."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [part for part in typing.get_args(annotation) if part is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return annotation


def value_of_type(annotation: Any, values: Mapping[type, Any]) -> Any:
    """The value given for a type: for the type itself, else for the one subclass of it; UNSET where there is none."""
    plain = without_none(annotation)
    wanted = typing.get_origin(plain) or plain
    if wanted in values:
        return values[wanted]
    if not isinstance(wanted, type):
        return UNSET
    fitting = [value for kind, value in values.items() if issubclass(kind, wanted)]
    return fitting[0] if len(fitting) == 1 else UNSET


def is_async_callable(target: Callable[..., Any]) -> bool:
    """True when calling it gives a coroutine; `functools.partial` and objects with `__call__` are looked through."""
    while isinstance(target, functools.partial):
        target = target.func
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004


def label_of(target: Any) -> str:
    """A readable name of a class or function, for error texts."""
    return getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or repr(target)


def _function_of(target: Any) -> Any:
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
        elif not inspect.isroutine(target) and hasattr(cast("Any", type(target)), "__call__"):  # noqa: B004
            target = cast("Any", type(target)).__call__
        else:
            return target


def _namespace_of(target: Any) -> dict[str, Any]:
    return getattr(_function_of(target), "__globals__", {})


def _evaluated(annotation: Any, namespace: dict[str, Any], name: str, owner: str) -> Any:
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
