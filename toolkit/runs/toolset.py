"""The tools of a run: found in the container, described for the model, checked against each other."""

from __future__ import annotations

import difflib
import functools
import heapq
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence, Set
from typing import Any, cast

from msgspec import UNSET, Struct

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError
from toolkit.messages import ToolCall, ToolDefinition
from toolkit.tools.forgetting import make_room
from toolkit.tools.kept_specifications import specify, specify_class
from toolkit.tools.members import Look, gives_tools, look_at
from toolkit.tools.names import alike, folded
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe, Resolver
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.violations import printable

__all__ = ["ToolEntry", "ToolSet", "compile_tools", "kept_tools"]

_MAX_NAMES = 20

_MAX_KEPT = 64

_MAX_DEPTH = 32
"""Objects with `tools(ctx)` that give one another. Nobody means more, and one that gives itself would have no end."""

Build = Callable[[Recipe], Awaitable[Any]]
Started = Callable[[str, Callable[[], Any]], Awaitable[Any]]


class ToolEntry(Struct, frozen=True, eq=False):
    """One tool of a run.

    Attributes:
        recipe: How an instance comes about.
        specification: What is known of it.
        injections: The recipes of its handler's `Inject` parameters, by name.
        availability: Those of its `available_if`.
        look: At the instance or class that it was described by; None when it was built for the run.
    """

    recipe: Recipe
    specification: ToolSpecification
    injections: dict[str, Recipe]
    availability: dict[str, Recipe]
    look: Look | None


class ToolSet(Struct, frozen=True, eq=False):
    """The tools that a model can be told of. `definitions` are in the order of listing."""

    entries: dict[str, ToolEntry]
    definitions: tuple[ToolDefinition, ...]
    conditional: tuple[str, ...]  # the names of those with `available_if`
    listed: tuple[Any, ...]  # keeps alive what the place in the memory is named by
    needing_approval: frozenset[str]

    def is_current(self, calls: Iterable[ToolCall]) -> bool:
        """Whether no member of these calls' tools was set since, such as `needs_approval` on a class. To look at all
        tools would cost too much in each run: a change shows when the tool is called."""
        for call in calls:
            entry = self.entries.get(call.name)
            if entry is not None and entry.look is not None and not entry.look.finds_the_same():
                return False
        return True

    def unknown(self, name: str) -> str:
        """What the model is told when it calls a tool that does not exist: the names that do, nearest first."""
        name = printable(name, 64)
        if not self.entries:
            return f"unknown tool '{name}'; there are no tools"
        matcher = difflib.SequenceMatcher(b=name)

        def likeness(known: str) -> float:
            matcher.set_seq1(known)
            return matcher.quick_ratio()

        nearest = heapq.nlargest(2 * _MAX_NAMES, self.entries, key=likeness)  # the exact measure takes longer
        near = difflib.get_close_matches(name, nearest, n=_MAX_NAMES, cutoff=0.0)
        rest = [known for known in self.entries if known not in near]
        names = [*near, *rest]
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        return f"unknown tool '{name}'; the tools are {', '.join(names[:_MAX_NAMES])}{more}"


def kept_tools(listed: Sequence[Any], resolver: Resolver, value_types: Set[type]) -> ToolSet | None:
    """The tools of a run, where they were worked out before and are the same in each run; else None."""
    kept: dict[Any, ToolSet] = resolver.memory().get(_KEPT, _NOTHING_KEPT)
    known = kept.get((frozenset(value_types), *map(id, listed)))
    return None if known is None or known.conditional else known


async def compile_tools(
    listed: Sequence[Any],
    resolver: Resolver,
    value_types: Set[type],
    ctx: RunContext,
    build: Build,
    started: Started,
    *,
    anew: bool = False,
) -> ToolSet:
    """The tools of a run. What only depends on the listing is worked out once and kept in the resolver's memory.

    Args:
        listed: Classes, names, providers, function tools, instances. What gives objects with `tools(ctx)` may be listed
            in the same ways.
        value_types: Types of which the run has a value.
        ctx: What `tools(ctx)` and `available_if` are asked with.
        build: Builds tools that are not described by their class, and arguments of `available_if`.
        started: Calls `tools(ctx)` and `available_if`, and names what they raise.
        anew: Nothing is taken from the memory: a tool has changed.

    Raises:
        ConfigurationError: a tool can't be built or described, or two have one name.
    """
    memory: dict[Any, ToolSet] = resolver.memory().setdefault(_KEPT, {})
    place = (frozenset(value_types), *map(id, listed))
    known = None if anew else memory.get(place)
    if known is None:
        finding = _Finding(resolver, value_types, ctx, build, started, {}, {})
        recipes = await finding.recipes(listed)
        known = _compiled(listed, recipes, finding)
        if not finding.built and not finding.has_asked:
            make_room(memory, _MAX_KEPT)  # each run brings new instances
            memory[place] = known
    return await _available(known, ctx, build, started) if known.conditional else known


_KEPT = object()
_NOTHING_KEPT: dict[Any, ToolSet] = {}


class _Finding(Struct, eq=False):
    """How what is listed comes about, and what had to be built and asked to know it.

    Attributes:
        built: What is described, or gives tools, only once it is built.
        described: What is described by its class.
        has_asked: Some object gave tools for this run.
    """

    resolver: Resolver
    value_types: Set[type]
    ctx: RunContext
    build: Build
    started: Started
    built: dict[Recipe, Any]
    described: dict[Recipe, ToolSpecification]
    has_asked: bool = False

    async def recipes(self, listed: Iterable[Any], depth: int = 0) -> list[Recipe]:
        """One for each tool; an object that has `tools(ctx)` is replaced by what it gives, and that in turn."""
        found: list[Recipe] = []
        for recipe in [self.resolver.tool(item, self.value_types) for item in listed]:
            made = await self._made(recipe)
            if made is UNSET or not gives_tools(made):
                found.append(recipe)
            else:
                if depth >= _MAX_DEPTH:
                    raise ConfigurationError(
                        f"tools(ctx) of {label_of(type(made))} is asked by way of {_MAX_DEPTH} others, each of which "
                        f"gave the next: is it given by itself? Objects with tools(ctx) have to come to tools"
                    )
                found.extend(await self.recipes(await self._given_by(made), depth + 1))
        return found

    async def _made(self, recipe: Recipe) -> Any:
        """The instance that is there, or that has to be built already; else UNSET."""
        if recipe.instance is not UNSET:
            return recipe.instance
        if isinstance(recipe.product, type) and not gives_tools(recipe.product):
            specification = specify_class(recipe.product, self.value_types)
            if specification is not None:
                self.described[recipe] = specification
                return UNSET
        made = self.built[recipe] = await self.build(recipe)
        return made

    async def _given_by(self, giving: Any) -> Iterable[Any]:
        self.has_asked = True
        label = f"tools(ctx) of {label_of(type(giving))}"
        given: Any = await self.started(label, functools.partial(giving.tools, self.ctx))
        gather: Callable[[], Any]
        if isinstance(given, AsyncIterable):
            gather = functools.partial(_collected, cast("AsyncIterable[Any]", given))
        elif isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
            gather = functools.partial(list[Any], cast("Iterable[Any]", given))  # a generator runs here
        else:
            raise ConfigurationError(f"{label} gave {type(cast('Any', given)).__name__}; it gives a list of tools")
        return cast("list[Any]", await self.started(label, gather))


async def _collected(given: AsyncIterable[Any]) -> list[Any]:
    return [item async for item in given]


def _compiled(listed: Sequence[Any], recipes: list[Recipe], finding: _Finding) -> ToolSet:
    resolver, value_types = finding.resolver, finding.value_types
    entries: dict[str, ToolEntry] = {}
    seen: dict[str, Recipe] = {}
    for recipe in recipes:
        specification = _specification(recipe, finding)
        name = specification.name
        other = seen.setdefault(folded(name), recipe)
        if other is not recipe:
            if other.identity is recipe.identity:
                continue  # the same tool listed twice counts once
            first = next(known for known in entries if folded(known) == folded(name))
            raise ConfigurationError(alike(first, name, other.label, recipe.label))
        owner = specification.label
        entries[name] = ToolEntry(
            recipe,
            specification,
            _injections(specification.handler.injected, owner, resolver, value_types),
            _injections(specification.availability, f"available_if of {owner}", resolver, value_types),
            _look_at(recipe, specification, finding),
        )
    return ToolSet(
        entries,
        tuple(entry.specification.definition for entry in entries.values()),
        tuple(name for name, entry in entries.items() if entry.specification.available_if is not None),
        tuple(listed),
        frozenset(name for name, entry in entries.items() if entry.specification.needs_approval),
    )


def _specification(recipe: Recipe, finding: _Finding) -> ToolSpecification:
    if recipe in finding.described:
        return finding.described[recipe]
    return specify(finding.built[recipe] if recipe.instance is UNSET else recipe.instance, finding.value_types)


def _look_at(recipe: Recipe, specification: ToolSpecification, finding: _Finding) -> Look | None:
    """A look at what tells how the tool is described; None where that was built for the run."""
    if recipe.instance is not UNSET:
        return look_at(recipe.instance)
    return specification.look if recipe in finding.described else None


def _injections(parameters: Any, owner: str, resolver: Resolver, value_types: Set[type]) -> dict[str, Recipe]:
    found = {parameter.name: resolver.parameter(parameter, owner, value_types) for parameter in parameters}
    return {name: recipe for name, recipe in found.items() if recipe is not None}


async def _available(tools: ToolSet, ctx: RunContext, build: Build, started: Started) -> ToolSet:
    """The tools whose `available_if` says yes in this run."""
    hidden = {name for name in tools.conditional if not await _is_available(tools.entries[name], ctx, build, started)}
    if not hidden:
        return tools
    entries = {name: entry for name, entry in tools.entries.items() if name not in hidden}
    definitions = tuple(entry.specification.definition for entry in entries.values())
    return ToolSet(entries, definitions, tools.conditional, tools.listed, tools.needing_approval & entries.keys())


async def _is_available(entry: ToolEntry, ctx: RunContext, build: Build, started: Started) -> bool:
    condition: Any = entry.specification.available_if
    injected = {name: await build(recipe) for name, recipe in entry.availability.items()}
    label = f"available_if of {entry.specification.label}"
    return bool(await started(label, functools.partial(condition, ctx, **injected)))
