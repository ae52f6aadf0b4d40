"""Filling constructor and handler parameters by their types: a value of the run, or the one fitting provider."""

from __future__ import annotations

import inspect
import types
import typing
from abc import ABCMeta
from collections.abc import Callable, Iterable, Set
from typing import Any, cast

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.injection.nearest import names_near
from toolkit.tools.handlers import is_context_type
from toolkit.tools.parameters import Parameter, label_of, read_parameters, without_none

__all__ = ["Candidate", "Embedded", "GivenValue", "constructor_arguments", "find_for_parameter"]


class Candidate(Struct, frozen=True):
    """Something that can fill a parameter: its name, the class it gives, and what it is built by."""

    name: str
    product: Any
    key: Any


class Embedded(Struct, frozen=True):
    """What containers inside the container have. Only its nested name finds it, never its type.

    Attributes:
        at: What a nested name such as `"tools.http"` stands for; None when it stands for nothing.
        candidates: All that is there, by nested names: an error tells of what would have fitted.
    """

    at: Callable[[str], Any]
    candidates: Callable[[], Iterable[Candidate]]


class GivenValue(Struct, frozen=True):
    """The key of a parameter that a value of the run fills, or its `Invocation`, `Run` or `RunContext`."""

    wanted: type


def constructor_arguments(
    cls: Callable[..., Any],
    candidates: Iterable[Candidate],
    value_types: Set[type],
    label: str,
    embedded: Embedded | None = None,
) -> dict[str, Any]:
    """What fills each parameter of a class's constructor, or of a function: `{parameter: key}`.

    A default stands where nothing matches.

    Raises:
        ConfigurationError: some parameter can't be filled; all such are named, with the candidates.
    """
    if inspect.isabstract(cls):
        raise ConfigurationError(
            f"{label} can't be built: it is abstract in {', '.join(sorted(cast('Any', cls).__abstractmethods__))}"
        )
    offered = tuple(candidates)
    found: dict[str, Any] = {}
    problems: list[str] = []
    for parameter in read_parameters(cls, label):
        if parameter.is_variadic:
            continue
        try:
            key = find_for_parameter(parameter, offered, value_types, label, embedded)
        except ConfigurationError as error:
            problems.append(str(error))
            continue
        if key is UNSET:
            continue
        found[parameter.name] = key
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            problems.append(
                f"parameter '{parameter.name}' of {label} is positional only, and what is filled in is given by name; "
                f"declare the class with its arguments: provide({label}, ...)"
            )
    if problems:
        raise ConfigurationError("; ".join(problems))
    return found


def find_for_parameter(
    parameter: Parameter,
    candidates: Iterable[Candidate],
    value_types: Set[type],
    owner: str,
    embedded: Embedded | None = None,
) -> Any:
    """The key for one parameter; UNSET when nothing matches and it has a default.

    Raises:
        ConfigurationError: nothing matches, or more than one does; the candidates are listed.
    """
    offered = tuple(candidates)
    where = f"parameter '{parameter.name}' of {owner}"
    name = None if parameter.inject is None else parameter.inject.name
    if name is not None and (named := _by_name(name, offered, embedded)) is not None:
        return named
    wanted = without_none(parameter.annotation)
    origin = typing.get_origin(wanted)
    if isinstance(origin, type) and origin is not types.UnionType:
        wanted = origin  # a generic class counts as the class
    if is_context_type(wanted):
        return GivenValue(cast("type", wanted))
    given = _given(wanted, value_types)
    if len(given) == 1:
        return GivenValue(cast("type", wanted))
    if given:
        raise ConfigurationError(
            f"{where} takes {label_of(wanted)}, and more than one value of the run is that: "
            f"{', '.join(sorted(map(label_of, given)))}; annotate it with one of these"
        )
    if name is not None:  # which no other provider than that one fills
        if not parameter.is_required:
            return UNSET
        names = names_near(name, (candidate.name for candidate in offered), "there are")
        raise ConfigurationError(f"{where} asks for the provider {name!r}, and there is none; {names}")
    fitting = _by_type(wanted, offered)
    if len(fitting) == 1:
        return fitting[0].key
    if not fitting and not parameter.is_required:
        return UNSET
    inside = [] if embedded is None or fitting else _by_type(wanted, tuple(embedded.candidates()))
    if inside:
        raise ConfigurationError(_only_inside(parameter, wanted, inside, where))
    raise ConfigurationError(_unfilled(parameter, wanted, fitting, offered, where))


def _given(wanted: Any, value_types: Set[type]) -> list[type]:
    """The types of values that fit: the type itself, else its subclasses."""
    if any(kind is wanted for kind in value_types):
        return [wanted]
    return [kind for kind in value_types if _fits(kind, wanted)] if _is_matchable(wanted) else []


def _by_name(name: str, offered: tuple[Candidate, ...], embedded: Embedded | None) -> Any:
    """The key of the provider of a name, which may be nested; None when there is none."""
    for candidate in offered:
        if candidate.name == name:
            return candidate.key
    return None if embedded is None else embedded.at(name)


def _by_type(wanted: Any, offered: tuple[Candidate, ...]) -> list[Candidate]:
    if not _is_matchable(wanted):
        return []
    fitting: list[Candidate] = []
    for candidate in offered:
        if not _fits(candidate.product, wanted):
            continue
        if all(candidate.key is not found.key for found in fitting):  # one provider under two names counts once
            fitting.append(candidate)
    return fitting


def _is_matchable(wanted: Any) -> bool:
    """Only classes match by type; builtin ones and Protocols say too little."""
    if not isinstance(wanted, type) or wanted.__module__ in ("builtins", "typing"):
        return False
    return not getattr(wanted, "_is_protocol", False)


def _fits(product: Any, wanted: Any) -> bool:
    """True for a subclass that is declared so; `Callable` and `Hashable` also take what only looks so."""
    if not isinstance(product, type) or product.__module__ == "builtins":
        return False
    if wanted in product.__mro__:
        return True
    return isinstance(wanted, ABCMeta) and "__subclasshook__" not in vars(wanted) and issubclass(product, wanted)


def _only_inside(parameter: Parameter, wanted: Any, inside: list[Candidate], where: str) -> str:
    """What is said where only an embedded container has what fits."""
    label, first = label_of(wanted), inside[0].name
    names = ", ".join(f"'{candidate.name}'" for candidate in inside)
    give = "gives it" if len(inside) == 1 else "give it"
    return (
        f"{where} takes {label}, and types are matched among the container's own names only; {names} {give}: write "
        f'{parameter.name} = {first} in the container, or Annotated[{label}, Inject("{first}")]'
    )


def _unfilled(
    parameter: Parameter, wanted: Any, fitting: list[Candidate], offered: tuple[Candidate, ...], where: str
) -> str:
    if wanted is UNSET:
        return f"{where} has no annotation, so nothing can fill it; annotate it with the class of a provider"
    label = label_of(wanted)
    if fitting:
        names = ", ".join(f"'{candidate.name}'" for candidate in fitting)
        return (
            f"{where} takes {label}, and more than one provider gives that: {names}; "
            f'choose one: Annotated[{label}, Inject("{fitting[0].name}")]'
        )
    if not _is_matchable(wanted):
        example = offered[0].name if offered else "name"
        return (
            f"{where} takes {label}, and only classes are matched by type (no builtins, no Protocols); "
            f'name the provider: Annotated[{label}, Inject("{example}")]'
        )
    known = ", ".join(f"'{c.name}' ({label_of(c.product)})" for c in offered if isinstance(c.product, type)) or "none"
    return (
        f"{where} takes {label}, and no provider gives that; add one, or pass values={{{label}: ...}} to run(...), "
        f"which a container declares as ScopeValue({label}). Providers by type: {known}{_untyped(offered, label)}"
    )


def _untyped(offered: tuple[Candidate, ...], label: str) -> str:
    """Of the providers that nothing is known of, such as one of `sqlite3.connect`: one of them may be meant."""
    names = [candidate.name for candidate in offered if candidate.product is UNSET]
    if not names:
        return ""
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f". Of an unknown type: {listed}; if one of these is meant, annotate what its function returns, or name it: "
        f'Annotated[{label}, Inject("{names[0]}")]'
    )
