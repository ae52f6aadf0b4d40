"""The back ends as an application has them: a database for each conversation, kept between its runs."""

from __future__ import annotations

import inspect
import pickle
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import cache, wraps
from typing import Annotated, Any

from dependency_injector import containers, providers

from tests.workload.scenarios import BACK_ENDS, Call, Function, Scenario, Turn, class_of, functions_of, loaded
from toolkit import Agent, Inject, Invocation, Tool, definition
from toolkit.injection import AppScoped, RunScoped, ScopeValue, provide

WHOLE = 1_000_000
"""More tokens than any result has: results are compared, so none is to be cut."""

_ONE_AT_A_TIME = threading.Lock()
"""The package keeps a weather report and a precision in its modules, which calls of two runs must not share."""


class Database:
    """The back ends of one conversation, in use by one run."""

    def __init__(self, instances: dict[str, Any]) -> None:
        self.instances = instances
        self.has_left = False
        self._is_in_a_call = False

    def call(self, function: Function, *positional: Any, **named: Any) -> Any:
        assert not self.has_left, "a call came after its run had given its database back"
        assert not self._is_in_a_call, "two calls of exclusive tools overlap"
        self._is_in_a_call = True
        time.sleep(0.0001)  # lets another thread in, where one waits
        try:
            with _ONE_AT_A_TIME:
                value = getattr(self.instances[function.back_end], function.name)(*positional, **named)
                return pickle.loads(pickle.dumps(value))  # as it is now: some are the package's own and change later
        finally:
            self._is_in_a_call = False


class Databases:
    """Keeps the conversations' databases, as bytes: what a run does is seen by the next one only once it is kept."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}
        self._in_use: set[str] = set()
        self.committed = 0
        self.rolled_back = 0

    def take(self, session_id: str, scenario: Scenario) -> Database:
        assert session_id not in self._in_use, f"two runs at once have the database of {session_id!r}"
        self._in_use.add(session_id)
        return Database(self.instances(session_id, scenario))

    def commit(self, session_id: str, database: Database) -> None:
        self._kept[session_id] = pickle.dumps(database.instances)
        self.committed += 1

    def give_back(self, session_id: str, database: Database) -> None:
        database.has_left = True
        self._in_use.remove(session_id)

    def instances(self, session_id: str, scenario: Scenario) -> dict[str, Any]:
        """What a conversation has come to so far; of one that has called nothing yet, what it begins with."""
        kept = self._kept.get(session_id)
        return loaded(scenario) if kept is None else pickle.loads(kept)

    @property
    def are_all_given_back(self) -> bool:
        return not self._in_use


async def open_database(databases: Databases, session_id: str, scenario: Scenario) -> AsyncIterator[Database]:
    database = databases.take(session_id, scenario)
    try:
        yield database
    except BaseException:
        databases.rolled_back += 1
        raise
    else:
        databases.commit(session_id, database)
    finally:
        databases.give_back(session_id, database)


class Application(containers.DeclarativeContainer):
    databases = AppScoped(Databases)
    invocation = ScopeValue(Invocation)
    scenario = ScopeValue(Scenario)
    database = RunScoped(open_database, databases, invocation.provided.session_id, scenario)
    agent: Any = provide(Agent)


def shown_functions(scenario: Scenario, turn: Turn) -> list[Function]:
    """The functions that the model may call in a turn."""
    every = [function for back_end in scenario.back_ends for function in functions_of(back_end)]
    return [function for function in every if function.name not in scenario.excluded | turn.missing]


def documented_tools(scenario: Scenario, turn: Turn) -> list[Any]:
    """One tool for all runs, by the package's own schema. The run's database is injected into each call."""
    return [documented_tool(function) for function in shown_functions(scenario, turn)]


def method_tools(scenario: Scenario, turn: Turn) -> list[Any]:
    """The methods themselves, bound to the run's database: built at each run's start, with schemas from signatures."""
    return [method_provider(function) for function in shown_functions(scenario, turn)]


@cache
def documented_tool(function: Function) -> Any:
    def handler(arguments: dict[str, Any], database: Annotated[Database, Inject()]) -> Any:
        return database.call(function, **arguments)

    return Tool.define(
        name=function.name,
        description=function.description,
        handler=handler,
        input_schema=documented_schema(function),
        exclusive=True,
        max_result_tokens=WHOLE,
    )


@cache
def method_provider(function: Function) -> Any:
    def made(database: Database):  # type: ignore[no-untyped-def]  # so that it is built at the run's start
        return Tool.define(
            name=function.name,
            description=function.description,
            handler=_bound(database, function),
            exclusive=True,
            max_result_tokens=WHOLE,
        )

    return providers.Factory(made, Application.database)


def _bound(database: Database, function: Function) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(database.instances[function.back_end], function.name)

    @wraps(method)
    def called(*positional: Any, **named: Any) -> Any:
        return database.call(function, *positional, **named)

    return called


_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def json_schema(documented: dict[str, Any]) -> dict[str, Any]:
    """The package writes Python's names of types into its schemas; JSON Schema has others."""
    schema: dict[str, Any] = dict(documented)
    if (named := schema.get("type")) in _TYPES:
        schema["type"] = _TYPES[named]
    if "properties" in schema:
        schema["properties"] = {name: json_schema(inner) for name, inner in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = json_schema(schema["items"])
    return schema


@cache
def documented_schema(function: Function) -> dict[str, Any]:
    """The schema that the package documents."""
    return json_schema(function.parameters)


@cache
def signature_schema(function: Function) -> dict[str, Any]:
    """The schema that the toolkit makes of the method's signature."""
    method = getattr(class_of(function.back_end)(), function.name)
    schema: dict[str, Any] = definition(Tool.define(name="any", description="Any.", handler=method)).input_schema
    return schema


@cache
def parameters_of(name: str) -> tuple[str, ...]:
    """The names of a function's parameters. No two back ends have a function of one name."""
    methods = (getattr(class_of(back_end), name, None) for back_end in BACK_ENDS)
    method = next(found for found in methods if found is not None)
    return tuple(inspect.signature(method).parameters)[1:]


def arguments_of(call: Call) -> dict[str, Any]:
    """A call's arguments by name, as a model sends them."""
    return dict(zip(parameters_of(call.name), call.positional, strict=False)) | call.named


def contents(value: Any, *above: int) -> Any:
    """All that a back end holds, as plain values that compare: but for the clock's times and a folder's way up."""
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, dict):
        return {key: contents(inner, *above) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [contents(inner, *above) for inner in value]
    if isinstance(value, set):
        return frozenset(value)
    if not hasattr(value, "__dict__"):
        return value
    if id(value) in above:  # some calls put a folder into itself
        return f"what is {len(above) - above.index(id(value))} above"
    held = {key: inner for key, inner in vars(value).items() if key not in ("parent", "_last_modified")}
    return type(value).__name__, {key: contents(inner, *above, id(value)) for key, inner in held.items()}
