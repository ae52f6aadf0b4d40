"""What can be wrong with one provider of a container, found without calling what it calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from dependency_injector import errors, providers

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import RESOURCES, CyclicDependency, call_of, describe, short_label, walk
from toolkit.injection.overlays import AnyProvider, effective, original_of
from toolkit.injection.providers import AppScoped, CallScoped, RunScoped, ScopeValue
from toolkit.injection.twins import ApplicationTwin
from toolkit.tools.parameters import label_of

__all__ = ["argument_problems", "problems_of", "refuse_captives"]

_APP_WIDE = (providers.BaseSingleton, AppScoped, *RESOURCES)
_SHORT = (RunScoped, CallScoped, ScopeValue)
_HOLDING = (*_APP_WIDE, RunScoped)
_ABSTRACT = (providers.AbstractFactory, providers.AbstractSingleton, providers.AbstractCallable)


def problems_of(node: AnyProvider) -> Iterator[str]:
    """Everything that is wrong with the provider itself; not with what it needs."""
    if isinstance(node, providers.Dependency):
        if effective(node) is node and cast("Any", node).default is None:
            yield "this dependency is not defined; give it to the container: Container(name=provider)"
        return
    if isinstance(node, (providers.ConfigurationOption, providers.TypedConfigurationOption)):
        yield from _problems_of_option(node)
        return
    if isinstance(node, providers.Selector):
        yield from _problems_of_selector(node)
        return
    if isinstance(node, _ABSTRACT) and effective(node) is node:
        yield f"{describe(node)} is abstract, and nothing overrides it"
        return
    yield from _captives(node)
    source, args, kwargs = call_of(node)
    if source is None:
        return
    if isinstance(source, type) and (inspect.isabstract(source) or getattr(source, "_is_protocol", False)):
        yield f"{label_of(source)} can't be built: {_missing_members(source)}"
        return
    yield from argument_problems(source, args, kwargs)


def _missing_members(source: type) -> str:
    missing = sorted(getattr(source, "__abstractmethods__", ()))
    return f"it is abstract in {', '.join(missing)}" if missing else "it is a Protocol"


def _problems_of_option(option: AnyProvider) -> Iterator[str]:
    try:
        option()
    except errors.Error as error:  # a strict or required option that nobody set
        yield f"{error}; set it: Container(config={{...}}), or container.config.from_dict({{...}})"
    except Exception as error:  # noqa: BLE001 - a value that can't be converted
        yield f"{error}"


def _problems_of_selector(selector: providers.Selector) -> Iterator[str]:
    inner = cast("Any", selector)
    branches = ", ".join(f"'{name}'" for name in inner.providers) or "none"
    chooser = short_label(inner.selector) if providers.is_provider(inner.selector) else label_of(inner.selector)
    try:
        chosen = inner.selector()
    except ConfigurationError as error:  # it says what is wrong and what to do; which function found it does not help
        yield str(error)
        return
    except Exception as error:  # noqa: BLE001 - whatever the chooser raises, nothing is chosen
        yield f"{chooser} chooses nothing ({error}); it has {branches}"
        return
    if chosen not in inner.providers:
        yield f"{chooser} chooses {chosen!r}, and there is no such branch; there are {branches}"


def _captives(holder: AnyProvider) -> Iterator[str]:
    """Objects that live for less long than the one that would hold them."""
    if not isinstance(holder, _HOLDING):
        return
    try:
        yield from _captives_among(list(walk(holder)), holder)
    except CyclicDependency:
        return  # it is reported, and what is below it can't be listed


def _captives_among(nodes: Iterable[AnyProvider], holder: AnyProvider) -> Iterator[str]:
    """Those of what is below a provider that live for less long than its object, each in words."""
    shorter: tuple[type, ...] = (CallScoped,) if isinstance(holder, RunScoped) else _SHORT
    life = "the run" if isinstance(holder, RunScoped) else "the application"
    for node in nodes:
        if node is not holder and isinstance(node, shorter):
            short = "call" if isinstance(node, CallScoped) else "run"
            yield (
                f"{describe(holder)} lives as long as {life} and would hold {describe(node)}, which lives for one "
                f"{short}; make it {'Call' if short == 'call' else 'Run'}Scoped, or take the {short}'s object where it "
                f"is used"
            )


def refuse_captives(nodes: Sequence[AnyProvider], open_app_wide: Container[AnyProvider]) -> None:
    """Refuses what `check` could not know of: a branch that was selected, or an override that was made, since then.

    Args:
        nodes: As `walk` gives them.
        open_app_wide: What the application has made: it is not made again.

    Raises:
        ConfigurationError: an object of a run or a call would be kept by one that outlives it.
    """
    if not any(isinstance(node, _SHORT) for node in nodes):
        return
    for node in nodes:
        holder = cast("AnyProvider", original_of(node)) if isinstance(node, ApplicationTwin) else node
        if isinstance(holder, _APP_WIDE) and holder not in open_app_wide:
            for problem in _captives_among(walk(node), holder):
                raise ConfigurationError(problem)


def argument_problems(
    source: Callable[..., Any] | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[str]:
    """Every wrong and every missing argument: `Signature.bind` names the first only."""
    if source is None:
        return
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
        is_named = parameter.name in kwargs and parameter.kind is not parameter.POSITIONAL_ONLY
        if parameter.default is parameter.empty and not is_named:
            yield f"{label} needs an argument for '{parameter.name}', and none is given"
