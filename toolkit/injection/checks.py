"""`check`: what is wrong with a container, all at once, before anything is opened."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.container import ContainerResolver
from toolkit.injection.graph import CyclicDependency, dependencies, describe, product_of, walk
from toolkit.injection.overlays import AnyProvider, effective
from toolkit.injection.providers import AppScoped, CallScoped, Literal, RunScoped, Scoped, ScopeValue
from toolkit.injection.scopes import Scope
from toolkit.tools.names import folded
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe
from toolkit.tools.specification import ToolSpecification, specify, specify_class

__all__ = ["check"]

_SHARED = (AppScoped, providers.BaseSingleton, providers.Resource)
_PER_RUN = (RunScoped, CallScoped, ScopeValue)


def check(container: Any) -> None:
    """Finds what is wrong with a container: `application` does this first.

    Undefined dependencies and options, wrong or missing constructor arguments, cycles, app-wide objects that would hold
    an object of a run, tools that can't be built or described, and two tools of one name.

    Raises:
        ConfigurationError: its text lists every finding, each with the path of names that leads to it.

    Warns:
        UserWarning: an argument that a plain `Factory` copies for each container; `provide` does not.
    """
    findings: dict[str, None] = {}  # a set that keeps its order
    for name, provider in container.providers.items():
        for finding in _findings_below(name, provider):
            findings.setdefault(finding)
    if not findings:  # what follows builds on a graph that is whole
        for finding in _findings_of_agents(container):
            findings.setdefault(finding)
    if not findings:
        return
    if len(findings) == 1:
        raise ConfigurationError(next(iter(findings)))
    raise ConfigurationError(
        f"the container has {len(findings)} faults:\n" + "\n".join(f"- {finding}" for finding in findings)
    )


def _findings_below(name: str, root: AnyProvider) -> Iterator[str]:
    try:
        nodes = list(walk(root))
    except CyclicDependency as error:
        yield str(error)
        return
    for node in nodes:
        for problem in _problems_of(node):
            yield f"{_path_to(name, root, node)}: {problem}"


def _problems_of(node: AnyProvider) -> Iterator[str]:
    if isinstance(node, providers.Dependency) and effective(node) is node:
        if not cast("Any", node).is_defined:
            yield "this dependency is not defined; give it to the container: Container(name=provider)"
        return
    if isinstance(node, (providers.ConfigurationOption, providers.TypedConfigurationOption)):
        yield from _problems_of_option(node)
        return
    if isinstance(node, _SHARED):
        yield from _captives(node)
    source, args, kwargs = _call_of(node)
    if source is not None:
        yield from _argument_problems(source, args, kwargs)
        _warn_of_copies(node, source, args, kwargs)


def _problems_of_option(option: Any) -> Iterator[str]:
    try:
        option()
    except Exception as error:  # noqa: BLE001 - a strict option that is undefined, or can't be converted
        yield f"{error}"


def _captives(shared: AnyProvider) -> Iterator[str]:
    for node in walk(shared):
        if node is not shared and isinstance(node, _PER_RUN):
            life = "call" if isinstance(node, CallScoped) else "run"
            yield (
                f"{describe(shared)} lives as long as the application and would hold {describe(node)}, which lives for "
                f"one {life}; make it RunScoped, or take the {life}'s object where it is used"
            )


def _call_of(node: AnyProvider) -> tuple[Callable[..., Any] | None, tuple[Any, ...], dict[str, Any]]:
    """What a provider calls, and with which arguments."""
    inner = cast("Any", node)
    if isinstance(node, Scoped):
        return node.source, tuple(node.arguments.args), dict(node.arguments.kwargs)
    if isinstance(node, (providers.Factory, providers.BaseSingleton, providers.Callable)):
        source = inner.provides
        return (source if callable(source) else None), tuple(inner.args), dict(inner.kwargs)
    return None, (), {}


def _argument_problems(source: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[str]:
    """Every wrong and every missing argument: `Signature.bind` names the first only."""
    try:
        parameters = list(inspect.signature(source).parameters.values())
    except (TypeError, ValueError):
        return  # a builtin without a signature
    label = label_of(source)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if len(args) > len(positional) and not takes_more:
        yield f"{label} takes {len(positional)} positional arguments and is given {len(args)}"
    filled = {p.name for p in positional[: len(args)]}
    for name in kwargs:
        if name not in named and not takes_any:
            known = ", ".join(sorted(named)) or "none"
            yield f"{label} has no parameter '{name}'; it has {known}"
        elif name in filled:
            yield f"{label} is given '{name}' twice"
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name in filled:
            continue
        if parameter.default is parameter.empty and parameter.name not in kwargs:
            yield f"{label} needs an argument for '{parameter.name}', and none is given"


def _warn_of_copies(node: AnyProvider, source: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    if isinstance(node, Scoped):
        return
    for value in (*args, *kwargs.values()):
        if not providers.is_provider(value) and isinstance(value, (list, dict, set)) and value:
            warnings.warn(
                f"{describe(node)} is given a {type(cast('Any', value)).__name__}, which dependency-injector copies "
                f"for each container; provide({label_of(source)}, ...) passes it as it is",
                UserWarning,
                stacklevel=4,
            )


def _path_to(name: str, root: AnyProvider, target: AnyProvider) -> str:
    """`agent -> WeatherTool -> WeatherClient`: how one gets from a named provider to a node below it."""
    path: list[str] = []

    def found(provider: AnyProvider) -> bool:
        provider = effective(provider)
        path.append(describe(provider))
        if provider is target or any(found(dependency) for dependency in dependencies(provider)):
            return True
        path.pop()
        return False

    found(root)
    return " -> ".join((f"'{name}'", *path[1:]))


def _findings_of_agents(container: Any) -> Iterator[str]:
    resolver = ContainerResolver(container, Scope("app"))
    for name, provider in container.providers.items():
        answering = effective(provider)
        product = product_of(answering)
        if product is UNSET or not hasattr(product, "bound_to"):
            continue
        yield from (f"'{name}': {finding}" for finding in _findings_of_tools(resolver, _listed(answering, product)))


def _listed(provider: AnyProvider, product: Any) -> list[Any]:
    """The tools that an agent's class and its provider list; those that only exist in a run are found there."""
    listed: list[Any] = list(getattr(product, "tools", ()))
    given: Any = _call_of(provider)[2].get("tools", ())
    if isinstance(given, Literal):
        given = cast("Literal[Any]", given).value
    return [*listed, *given] if isinstance(given, (list, tuple)) else listed


def _findings_of_tools(resolver: ContainerResolver, listed: list[Any]) -> Iterator[str]:
    named: dict[str, Recipe] = {}
    for item in listed:
        if not isinstance(item, (str, type)) and not providers.is_provider(item) and hasattr(item, "tools"):
            continue
        try:
            recipe = resolver.recipe(item, frozenset())
            specification = _specified(recipe)
        except ConfigurationError as error:
            yield str(error)
            continue
        if specification is None:
            continue
        name = specification.definition.name
        other = named.setdefault(folded(name), recipe)
        if other.identity is not recipe.identity:
            yield f"two tools are named '{name}': {other.label} and {recipe.label}; give one another name"


def _specified(recipe: Recipe) -> ToolSpecification | None:
    if isinstance(recipe.product, type):
        return specify_class(recipe.product)
    return None if recipe.product is None else specify(recipe.product)
