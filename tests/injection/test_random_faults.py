"""Random containers with random faults: `check` refuses exactly those in which using some provider fails."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from dependency_injector import containers, providers
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit import ConfigurationError
from toolkit.injection import check


class Thing:
    """What every provider gives; a subclass says what it takes."""


@dataclass(frozen=True)
class Node:
    """A provider: what its class takes, and what it is given. Sources are earlier nodes, by their number."""

    kind: str
    required: int
    optional: int
    positional: tuple[int, ...]
    named: tuple[tuple[str, int], ...]


def class_taking(required: int, optional: int) -> type:
    """A class whose constructor takes `a`, `b` and so on, the last ones with defaults."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for place, name in enumerate("abcd"[: required + optional]):
        default = inspect.Parameter.empty if place < required else None
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    source = f"def __init__{inspect.Signature(parameters)}: pass"
    members: dict[str, Any] = {}
    exec(source, members)
    return type("Made", (Thing,), {"__init__": members["__init__"]})


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    nodes: list[Node] = []
    for place in range(draw(st.integers(1, 6))):
        earlier = st.integers(0, place - 1)
        positional = draw(st.lists(earlier, max_size=3)) if place else []
        named = draw(st.dictionaries(st.sampled_from("abcdx"), earlier, max_size=2)) if place else {}
        is_right = draw(st.integers(0, 4)) > 0  # most are right, else no graph is sound
        if is_right:
            named = {}
            required, optional = len(positional), draw(st.integers(0, 1))
        else:
            required, optional = draw(st.integers(0, 3)), draw(st.integers(0, 1))
        kinds = ["Factory", "Factory", "Singleton", "ThreadLocalSingleton", "Dependency with default", "Dependency"]
        kind = draw(st.sampled_from(kinds if draw(st.integers(0, 3)) == 0 else kinds[:5]))
        nodes.append(Node(kind, required, optional, tuple(positional), tuple(sorted(named.items()))))
    return nodes


def container_of(nodes: list[Node]) -> Any:
    declared: dict[str, Any] = {}
    for place, node in enumerate(nodes):
        args = [declared[f"node_{source}"] for source in node.positional]
        named = {name: declared[f"node_{source}"] for name, source in node.named}
        made = class_taking(node.required, node.optional)
        factory = providers.Factory(made, *args, **named)
        provider: Any
        match node.kind:
            case "Dependency":
                provider = providers.Dependency(instance_of=Thing)
            case "Dependency with default":
                provider = providers.Dependency(instance_of=Thing, default=factory)
            case kind:
                provider = factory if kind == "Factory" else getattr(providers, kind)(made, *args, **named)
        declared[f"node_{place}"] = provider
    return type("Application", (containers.DeclarativeContainer,), declared)()


def fails_in_use(container: Any) -> list[str]:
    """The providers that can't be used, by dependency-injector's own word."""
    failing: list[str] = []
    for name, provider in container.providers.items():
        try:
            provider()
        except Exception:
            failing.append(name)
    return failing


@given(graphs())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_check_refuses_a_container_just_when_something_in_it_can_not_be_used(nodes: list[Node]) -> None:
    try:
        check(container_of(nodes))
        refused = ""
    except ConfigurationError as error:
        refused = str(error)

    failing = fails_in_use(container_of(nodes))

    assert bool(refused) == bool(failing), (refused, failing)
