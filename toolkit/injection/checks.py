"""`check`: what is wrong with a container, all at once, before anything is opened."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Set
from typing import Any

from toolkit.errors import ConfigurationError
from toolkit.injection.advice import copied_arguments, unowned_objects, unprotected_generators
from toolkit.injection.agents import AgentFindings
from toolkit.injection.futures import misuses_in
from toolkit.injection.graph import CyclicDependency, walk
from toolkit.injection.named_providers import is_container, not_a_container
from toolkit.injection.overlays import AnyProvider
from toolkit.injection.providers import AppScoped
from toolkit.injection.survey import Survey
from toolkit.injection.wiring import problems_of

__all__ = ["check", "check_wiring"]


def check(container: Any) -> None:
    """Finds what is wrong with a container: `application` does this first.

    Undefined dependencies and options, wrong and missing constructor arguments, cycles, app-wide objects that would
    hold an object of a run, classes that can't be built, parameters that nothing fills, and two tools of one name.

    Raises:
        ConfigurationError: its text lists every finding, each with the path of names that leads to it.

    Warns:
        UserWarning: an argument that a plain `Factory` copies for each container (`provide` does not); a generator that
            skips its end when a run fails; an object with `close` that nobody closes; a parameter that asks for a
            provider by a name that there is not, and has a default. `application` tells of none of these: where
            warnings are errors, advice must not keep an application from starting.
    """
    if not is_container(container):
        raise ConfigurationError(not_a_container("check", container))
    survey, agents = _survey(container)
    _warn(
        [
            *copied_arguments(survey.paths),
            *unprotected_generators(survey.paths),
            *unowned_objects(agents.recipes),
            *agents.advice,
        ]
    )


def check_wiring(container: Any) -> None:
    """As `check`, without its advice: for a container that is about to be opened."""
    _survey(container)


def _survey(container: Any) -> tuple[Survey, AgentFindings]:
    survey = Survey(container)
    findings: dict[str, None] = dict.fromkeys(survey.circles)  # a set that keeps its order
    for node, path in survey.paths.items():
        if node in survey.sections:
            continue
        for problem in problems_of(node):
            findings.setdefault(f"{path}: {problem}")
    agents = AgentFindings(container)
    findings.update(dict.fromkeys(agents.problems))
    findings.update(dict.fromkeys(_futures_in(survey, known=agents.futures)))
    if len(findings) == 1:
        raise ConfigurationError(next(iter(findings)))
    if findings:
        raise ConfigurationError(
            f"the container has {len(findings)} faults:\n" + "\n".join(f"- {finding}" for finding in findings)
        )
    return survey, agents


def _futures_in(survey: Survey, known: Set[AnyProvider]) -> Iterator[str]:
    """What gives a future below an object that the application opens, with an agent or without."""
    for node in survey.paths:
        if not isinstance(node, AppScoped):
            continue
        try:
            below = list(walk(node))
        except CyclicDependency:
            continue  # reported by itself
        for culprit, misuse in misuses_in(below):
            if culprit not in known:
                yield f"{survey.paths[culprit]}: {misuse}"


def _warn(texts: Iterable[str]) -> None:
    for text in dict.fromkeys(texts):
        warnings.warn(text, UserWarning, stacklevel=3)
