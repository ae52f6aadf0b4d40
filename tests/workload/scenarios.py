"""Conversations and back ends of the Berkeley Function Calling Leaderboard, read where its package lies.

The package `bfcl-eval` (Apache 2.0) is not part of this repository, and nothing of it is copied here. `make workload`
fetches it and names its folder in BFCL_SOURCES. Of what it holds, the multi-turn conversations are used: eight back
ends in plain Python (a file system, a car, tickets, trades, trips, ...), what they hold when a conversation starts, and
for each of the user's turns the calls that a good model makes.
"""

from __future__ import annotations

import ast
import contextvars
import copy
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "bfcl_eval"
BACK_ENDS = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "TwitterAPI",
    "VehicleControlAPI",
)
VARIANTS = ("base", "miss_param", "miss_func", "long_context")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the package's answers: as it is written there, and read."""

    source: str
    name: str
    positional: tuple[Any, ...]
    named: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, the calls that answer it, and the functions that are kept from the model."""

    prompt: str
    calls: tuple[Call, ...]
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation, and what the back ends hold at its start."""

    id: str
    back_ends: tuple[str, ...]
    initial: dict[str, Any]
    excluded: frozenset[str]
    turns: tuple[Turn, ...]

    @property
    def is_long(self) -> bool:
        """Whether the back ends are to fill their data up with much that nobody asked for."""
        return "long_context" in self.id


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of a back end, as the package documents it for a model."""

    name: str
    back_end: str
    description: str
    parameters: dict[str, Any]


def sources() -> Path:
    """The folder that the package was installed into; skips the test where there is none."""
    folder = os.environ.get("BFCL_SOURCES")
    if not folder:
        pytest.skip("`make workload` fetches the package bfcl-eval, and sets BFCL_SOURCES to its folder")
    found = Path(folder).resolve()
    if str(found) not in sys.path:
        sys.path.append(str(found))
    return found / PACKAGE


@cache
def scenarios(variant: str) -> tuple[Scenario, ...]:
    """The 200 conversations of a variant."""
    data = sources() / "data"
    name = f"BFCL_v4_multi_turn_{variant}.json"
    answers = {entry["id"]: entry["ground_truth"] for entry in _lines_of(data / "possible_answer" / name)}
    return tuple(_scenario(entry, answers[entry["id"]]) for entry in _lines_of(data / name))


def with_the_calls_of_another(all_scenarios: tuple[Scenario, ...]) -> Iterator[Scenario]:
    """Each conversation with the turns of the next one that has the same back ends: so, many calls that fail."""
    for place, scenario in enumerate(all_scenarios):
        others = all_scenarios[place + 1 :] + all_scenarios[:place]
        other = next((one for one in others if set(one.back_ends) == set(scenario.back_ends)), None)
        if other is not None:
            yield replace(scenario, id=f"{scenario.id}_by_{other.id}", turns=other.turns, excluded=other.excluded)


def with_a_spoilt_call_before_each(scenario: Scenario) -> Scenario:
    """The conversation, where the model first sends each call with values of the right types that mean nothing."""
    turns = []
    for turn in scenario.turns:
        calls = [each for call in turn.calls for each in (_spoilt(call), call)]
        turns.append(replace(turn, calls=tuple(calls)))
    return replace(scenario, id=f"{scenario.id}_spoilt", turns=tuple(turns))


@cache
def functions_of(back_end: str) -> tuple[Function, ...]:
    """The functions that the package documents for a back end."""
    documents = _configuration().MULTI_TURN_FUNC_DOC_FILE_MAPPING
    lines = _lines_of(sources() / "data" / "multi_turn_func_doc" / documents[back_end])
    return tuple(Function(doc["name"], back_end, doc["description"], doc["parameters"]) for doc in lines)


@cache
def class_of(back_end: str) -> type[Any]:
    sources()
    module = importlib.import_module(_configuration().CLASS_FILE_PATH_MAPPING[back_end])
    found: type[Any] = getattr(module, back_end)
    return found


def loaded(scenario: Scenario) -> dict[str, Any]:
    """New back ends that hold what they do at the start of a scenario."""
    instances = {}
    for back_end in scenario.back_ends:
        instances[back_end] = class_of(back_end)()
        if back_end not in _configuration().STATELESS_CLASSES:
            initial = copy.deepcopy(scenario.initial.get(back_end, {}))
            instances[back_end]._load_scenario(initial, long_context=scenario.is_long)
    return instances


def executed_directly(
    scenario: Scenario, is_to_run: Callable[[Turn, Call], bool]
) -> Iterator[tuple[list[str | None], dict[str, Any]]]:
    """What the package's own executor comes to: turn by turn the text of each call's result, and the back ends by then.

    The text is what it would give a model: a text as it is, a dict as JSON, `str()` of all else, or what went wrong. A
    call that is not to run has none.
    """
    module = importlib.import_module(f"{PACKAGE}.eval_checker.multi_turn_eval.multi_turn_utils")
    before = dict(vars(module))

    def execute(calls: list[str]) -> tuple[list[str], dict[str, Any]]:
        made: tuple[list[str], dict[str, Any]] = module.execute_multi_turn_func_call(
            func_call_list=calls,
            initial_config=scenario.initial,
            involved_classes=list(scenario.back_ends),
            model_name="direct",
            test_entry_id=scenario.id,
            long_context=scenario.is_long,
        )
        return made

    instances = execute([])[1]
    try:
        for turn in scenario.turns:
            # A copy of the context for each call, as a handler has it: some functions change the decimal precision.
            yield (
                [
                    contextvars.copy_context().run(execute, [call.source])[0][0] if is_to_run(turn, call) else None
                    for call in turn.calls
                ],
                instances,
            )
    finally:
        for name in set(vars(module)) - set(before):  # the executor keeps the instances as its globals, for ever
            delattr(module, name)


def _configuration() -> Any:
    sources()
    return importlib.import_module(f"{PACKAGE}.constants.executable_backend_config")


def _lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _scenario(entry: dict[str, Any], answers: list[list[str]]) -> Scenario:
    given_later = {int(place): names for place, names in entry.get("missed_function", {}).items()}
    turns = []
    for place, (said, sources) in enumerate(zip(entry["question"], answers, strict=True)):
        missing = [name for turn, names in given_later.items() if place < turn for name in names]
        prompt = "\n".join(message["content"] for message in said) or "There are more functions now. What of it?"
        # Where the user asks for what nothing that is shown can do, a model may call the function all the same.
        expected = [_call(source) for source in sources or [*answers, []][place + 1]]
        calls = [call for call in expected if sources or call.name in missing]
        turns.append(Turn(prompt, tuple(calls), frozenset(missing)))
    return Scenario(
        entry["id"],
        tuple(entry["involved_classes"]),
        entry["initial_config"],
        frozenset(entry.get("excluded_function", ())),
        tuple(turns),
    )


def _call(source: str) -> Call:
    expression = ast.parse(source.strip(), mode="eval").body
    assert isinstance(expression, ast.Call), source
    assert isinstance(expression.func, ast.Name), source
    # Literals only: the package's executor evaluates the text.
    positional = tuple(ast.literal_eval(value) for value in expression.args)
    named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in expression.keywords}
    return Call(source, expression.func.id, positional, named)


def _spoilt(call: Call) -> Call:
    positional = tuple(_meaningless(value) for value in call.positional)
    named = {name: _meaningless(value) for name, value in call.named.items()}
    written = [repr(value) for value in positional] + [f"{name}={value!r}" for name, value in named.items()]
    return Call(f"{call.name}({', '.join(written)})", call.name, positional, named)


def _meaningless(value: Any) -> Any:
    if isinstance(value, str):
        return "no such thing"
    if isinstance(value, list):
        return []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return type(value)(-1)
    return value
