"""What is not wrong with a container, but seldom meant: `check` warns of it."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, cast

from dependency_injector import providers

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import CALLING, call_of, describe, product_of, walk
from toolkit.injection.overlays import AnyProvider
from toolkit.injection.providers import Scoped
from toolkit.injection.sources import Kind
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe

__all__ = ["copied_arguments", "unowned_objects", "unprotected_generators"]


def copied_arguments(nodes: Iterable[AnyProvider]) -> Iterator[str]:
    """Values that dependency-injector copies for each container: a list that two objects were to share is two."""
    for node in nodes:
        if not isinstance(node, CALLING):
            continue
        source, args, kwargs = call_of(node)
        for name, value in [*(("", value) for value in args), *kwargs.items()]:
            if source is None or not _is_copied(source, name, value):
                continue
            yield (
                f"{describe(node)} is given a {type(value).__name__}, which dependency-injector copies for each "
                f"container; provide({label_of(source)}, ...) passes it as it is"
            )


def _is_copied(source: Any, name: str, value: Any) -> bool:
    if value in ([], {}, set()):
        return False
    if name in ("tools", "hooks") and hasattr(source, "bound_to") and isinstance(value, (list, tuple)):
        return any(_is_copied(source, "", item) for item in cast("list[Any]", value))  # an agent only reads its lists
    if providers.is_provider(value):
        return False
    try:
        return copy.deepcopy(value) is not value
    except Exception:  # noqa: BLE001 - then dependency-injector could not copy it either, and has said so
        return False


def unprotected_generators(nodes: Iterable[AnyProvider]) -> Iterator[str]:
    """Generators that would not close their object when the run fails: the error is thrown in at their `yield`."""
    for node in nodes:
        if isinstance(node, Scoped) and _is_generator(node.kind) and _skips_its_end(node.source):
            yield (
                f"{label_of(node.source)} goes on after its yield, and not in a `finally` or `with`: when the run "
                f"fails the error is raised at the yield, and what follows it is skipped"
            )


def _is_generator(kind: Kind) -> bool:
    return kind in (Kind.GENERATOR, Kind.ASYNC_GENERATOR)


def _skips_its_end(source: Any) -> bool:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(source)))
    except (OSError, TypeError, SyntaxError):
        return False  # no source to read
    function = next(
        (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None
    )
    return function is not None and _goes_on_after_yield(function.body)


def _goes_on_after_yield(body: list[ast.stmt]) -> bool:
    """True when a statement follows one that yields outside of `try` and `with`."""
    for place, statement in enumerate(body):
        if isinstance(statement, (ast.Try, ast.With, ast.AsyncWith, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if any(isinstance(node, ast.Yield) for node in ast.walk(statement)) and place + 1 < len(body):
            return True
    return False


def unowned_objects(recipes: Iterable[Recipe]) -> Iterator[str]:
    """Objects with `aclose` or `close` below something that runs build, and nobody closes them."""
    for recipe in recipes:
        try:
            nodes = list(walk(recipe.key))
        except ConfigurationError:
            continue  # reported as a fault
        for node in nodes:
            if recipe.is_owned and node is nodes[-1]:
                continue
            if not isinstance(node, CALLING):
                continue
            product = product_of(node)
            if isinstance(product, type) and (hasattr(product, "aclose") or hasattr(product, "close")):
                scope = "AppScoped" if isinstance(node, providers.BaseSingleton) else "RunScoped or AppScoped"
                yield f"{describe(node)} has to be closed, and nobody does; make it {scope}"
