"""What an agent lists, by its class and by its provider, and what is known of it before a run builds it."""

from __future__ import annotations

from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.injection.agent_arguments import arguments_by_name
from toolkit.injection.graph import call_of, class_made_by, product_of
from toolkit.injection.listing import is_made_as_agent, listed_tools
from toolkit.injection.overlays import AnyProvider, object_of
from toolkit.injection.providers import Literal
from toolkit.tools.members import gives_tools
from toolkit.tools.resolver import Recipe
from toolkit.tools.specification import ToolSpecification, specify, specify_class

__all__ = ["ListedParts", "specification_of"]


class ListedParts:
    """What an agent's class and its provider list.

    Attributes:
        tools: The tools, and what gives tools in a run.
        hooks: The hooks that a run builds.
        models: The model, where a run builds it.
        are_known: The agent has these lists and no others: no function makes it, and no constructor of a subclass.
    """

    def __init__(self, provider: AnyProvider) -> None:
        there = object_of(provider)
        source: Any = product_of(provider) if there is UNSET else there
        given = {} if there is not UNSET else _arguments_of(provider)
        self.tools = _together(source, given, "tools")
        self.hooks = [hook for hook in _together(source, given, "hooks") if _is_to_be_built(hook)]
        model = given.get("model", getattr(source, "model", None))
        self.models = [model] if _is_to_be_built(model) else []
        made = class_made_by(provider)
        self.are_known = there is not UNSET or (made is not None and is_made_as_agent(made))


def _together(source: Any, given: dict[str, Any], name: str) -> list[Any]:
    """What the class lists, and what the provider adds; a provider of a list can't be looked into."""
    listed: list[Any] = []
    for items in (getattr(source, name, ()), given.get(name, ())):
        if isinstance(items, (list, tuple)):
            listed.extend(cast("list[Any]", items))
    return listed


def _arguments_of(provider: AnyProvider) -> dict[str, Any]:
    source, args, kwargs = call_of(provider)
    if not isinstance(source, type):
        return {}  # a function makes the agent: what it lists is known in a run
    given = arguments_by_name(source, args, kwargs)
    listed = {
        name: cast("Any", value).value if isinstance(value, Literal) else listed_tools(value)
        for name, value in given.items()
    }
    return {
        name: value
        for name, value in listed.items()
        if isinstance(given[name], Literal) or not providers.is_provider(value)
    }


def _gives_tools(recipe: Recipe) -> bool:
    """True for an object with `tools(ctx)`, or what makes one: a run asks it."""
    made = recipe.product if recipe.instance is UNSET else recipe.instance
    return made is not None and gives_tools(made)


def _is_to_be_built(part: Any) -> bool:
    return isinstance(part, (str, type)) or providers.is_provider(part)


def specification_of(recipe: Recipe, given: frozenset[type]) -> ToolSpecification | None:
    """What is known of a tool before a run; None of what gives tools, and of what is not known before it is built."""
    if _gives_tools(recipe):
        return None
    if recipe.instance is not UNSET:
        return specify(recipe.instance, given)
    return specify_class(recipe.product, given) if isinstance(recipe.product, type) else None
