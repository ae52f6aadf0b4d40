"""From the names that people use to the ids that Linear takes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from builtin_tools.http import AnswerCache, HttpClient, ServiceError
from builtin_tools.linear import operations
from builtin_tools.linear.api import PROVIDER, LinearApi
from builtin_tools.linear.operations import Operation
from builtin_tools.linear.references import invalid, is_id, quoted
from builtin_tools.linear.results import Entry
from builtin_tools.linear.wire import (
    Connection,
    CycleNode,
    LabelNode,
    PersonNode,
    ProjectNode,
    StateNode,
    TeamNode,
)
from builtin_tools.text import one_line, shortened

__all__ = ["KINDS", "Found", "Kind", "LinearDirectory"]

Kind: TypeAlias = Literal["teams", "states", "labels", "projects", "users", "cycles"]
Filter: TypeAlias = dict[str, Any]

_CHOICES = 10
_VALID_NAMES = 20
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Found:
    """Something of Linear's.

    Attributes:
        names: What it may be called by; the first is the one to tell.
        also: What it may be called by where nothing has such a name: the type of a state.
    """

    id: str
    names: tuple[str, ...]
    detail: str = ""
    also: str = ""

    def to_entry(self) -> Entry:
        return Entry(self.id, self.names[0], self.detail)

    def __str__(self) -> str:
        return shortened(one_line(f"{self.names[0]} ({self.detail})" if self.detail else self.names[0]), 120)


@dataclass(frozen=True, slots=True)
class _KindOfThing:
    """How things of one kind are asked for and told.

    Attributes:
        singular: As errors tell it.
        fields: The filter's fields that hold names.
        found: Reads a node.
        also: The filter's field that holds what it may be called by besides.
    """

    singular: str
    operation: Operation[Any]
    fields: tuple[str, ...]
    found: Callable[[Any], Found]
    also: tuple[str, ...] = ()


def _team(node: TeamNode) -> Found:
    return Found(node.id, (node.name, node.key), f"key {node.key}")


def _state(node: StateNode) -> Found:
    team = f", team {node.team.key}" if node.team else ""
    return Found(node.id, (node.name,), f"{node.type}{team}", node.type)


def _label(node: LabelNode) -> Found:
    facts = [
        f"group {node.parent.name}" if node.parent and node.parent.name else "",
        "a group of labels" if node.is_group else "",
        f"team {node.team.key}" if node.team else "whole workspace",
    ]
    return Found(node.id, (node.name,), ", ".join(fact for fact in facts if fact))


def _project(node: ProjectNode) -> Found:
    facts = [
        node.status.name if node.status else "",
        f"lead {node.lead.told}" if node.lead else "",
        f"target {node.target_date}" if node.target_date else "",
        node.url,
    ]
    return Found(node.id, (node.name, node.slug_id), ", ".join(fact for fact in facts if fact))


def _user(node: PersonNode) -> Found:
    name = node.display_name or node.name
    facts = [node.name if node.name != name else "", node.email]
    return Found(node.id, (name, node.name, node.email), ", ".join(fact for fact in facts if fact))


def _cycle(node: CycleNode) -> Found:
    facts = [
        f"number {node.number:g}" if node.name else "",
        "current" if node.is_active else "",
        f"{node.starts_at[:10]} to {node.ends_at[:10]}" if node.starts_at else "",
        f"team {node.team.key}" if node.team else "",
    ]
    name = node.name or f"Cycle {node.number:g}"
    return Found(node.id, (name, f"{node.number:g}"), ", ".join(fact for fact in facts if fact))


KINDS: dict[Kind, _KindOfThing] = {
    "teams": _KindOfThing("team", operations.TEAMS, ("key", "name"), _team),
    "states": _KindOfThing("state", operations.STATES, ("name",), _state, ("type",)),
    "labels": _KindOfThing("label", operations.LABELS, ("name",), _label),
    "projects": _KindOfThing("project", operations.PROJECTS, ("name", "slugId"), _project),
    "users": _KindOfThing("user", operations.USERS, ("displayName", "name", "email"), _user),
    "cycles": _KindOfThing("cycle", operations.CYCLES, ("name",), _cycle),
}


class LinearDirectory:
    """Finds teams, states, labels, projects, users and cycles by name.

    A UUID is taken as it is. Otherwise, without regard to case: an exact name or key, then the beginning of a name that
    only one has. What was found is kept for as long as the cache says; what was not found is not kept.

    Args:
        http: Whose answers the cache holds.

    Raises (all methods that find):
        ServiceError: `not_found` with the names that there are; `ambiguous` with the choices.
    """

    def __init__(self, api: LinearApi, cache: AnswerCache, http: HttpClient) -> None:
        self._api = api
        self._cache = cache
        self._http = http

    @contextmanager
    def relied_on(self) -> Generator[None, None, None]:
        """A block that uses ids found here. When Linear refuses them, all that was found is asked for anew."""
        try:
            yield
        except ServiceError as error:
            if error.kind in ("invalid_input", "not_found"):
                self._cache.clear(self._http)
            raise

    async def page(
        self, kind: Kind, within: Filter, limit: int, cursor: str | None
    ) -> tuple[tuple[Found, ...], str | None, tuple[str, ...]]:
        """One page of things, the cursor of the next one, and what Linear reported besides."""
        known = KINDS[kind]
        variables = {"filter": within or None, "first": limit, "after": cursor}
        reply = await self._api.read(known.operation, variables)
        connection: Connection[Any] = reply.value
        more = connection.page_info
        return (
            tuple(known.found(node) for node in connection.nodes),
            more.end_cursor if more.has_next_page else None,
            reply.notes,
        )

    async def team(self, name: str) -> Found:
        return await self._one("teams", name)

    async def state(self, name: str, team_id: str) -> Found:
        """A state of the team, by its name or by its type where only one state has that."""
        return await self._one("states", name, _of_team(team_id))

    async def states(self, name: str) -> list[Found]:
        """The states that any team calls so."""
        return await self._all("states", name, {})

    async def label(self, name: str, team_id: str) -> Found:
        """A label that issues of the team may have."""
        return await self._one("labels", name, _NO_GROUPS | of_team_or_workspace(team_id))

    async def labels(self, name: str, team_id: str | None) -> list[Found]:
        """The labels that the team, or any team, calls so."""
        within = {} if team_id is None else of_team_or_workspace(team_id)
        return await self._all("labels", name, _NO_GROUPS | within)

    async def user(self, name: str) -> Found:
        """A person; `me` is whose key is used."""
        if name.strip().casefold() == "me":
            viewer = (await self._api.read(operations.VIEWER, {})).value
            return Found(viewer.id, (viewer.display_name or viewer.name,))
        return await self._one("users", name)

    async def project(self, name: str) -> Found:
        return await self._one("projects", name)

    async def cycle(self, name: str, team_id: str) -> Found:
        """A cycle of the team by name or number; `current`, `next` or `previous`."""
        within = _of_team(team_id)
        flag = CYCLE_FLAGS.get(name.strip().casefold())
        if flag is not None:
            found, _, _ = await self.page("cycles", within | {flag: {"eq": True}}, 1, None)
            if not found:
                raise _missing("cycles", name, (), "The team has no such cycle.")
            return found[0]
        if name.strip().isdecimal():
            within |= {"number": {"eq": int(name)}}
            found, _, _ = await self.page("cycles", within, 1, None)
            if found:
                return found[0]
        return await self._one("cycles", name, _of_team(team_id))

    async def _one(self, kind: Kind, name: str, within: Filter | None = None) -> Found:
        found = await self._all(kind, name, {} if within is None else within)
        if len(found) > 1:
            raise _ambiguous(kind, name, found)
        return found[0]

    async def _all(self, kind: Kind, name: str, within: Filter) -> list[Found]:
        """The things that the name may mean: more than one only when they are all called the same."""
        wanted = name.strip()
        if not wanted:
            raise invalid(f"the name of a {KINDS[kind].singular} is blank")
        if is_id(wanted):
            return [Found(wanted.lower(), (wanted,))]
        key = (self._api.settings.account, kind, wanted.casefold(), repr(within))
        kept: list[Found] | None = self._cache.get(self._http, key)
        if kept is None:
            kept = await self._looked_up(kind, wanted, within)
            self._cache.put(self._http, key, kept)
        return kept

    async def _looked_up(self, kind: Kind, wanted: str, within: Filter) -> list[Found]:
        known = KINDS[kind]
        folded = wanted.casefold()
        exact = {"or": [{field: {"eqIgnoreCase": wanted}} for field in (*known.fields, *known.also)]}
        found, _, _ = await self.page(kind, within | exact, _AT_ONCE, None)
        same = [one for one in found if any(name.casefold() == folded for name in one.names)]
        if same:
            return same
        same = [one for one in found if one.also.casefold() == folded]
        if not same:
            begins = {"or": [{field: {"startsWithIgnoreCase": wanted}} for field in known.fields]}
            found, _, _ = await self.page(kind, within | begins, _AT_ONCE, None)
            same = [one for one in found if any(name.casefold().startswith(folded) for name in one.names)]
        if not same:
            valid, more, _ = await self.page(kind, within, _VALID_NAMES, None)
            raise _missing(kind, wanted, valid, "There are more; linear_list lists them all." if more else "")
        if len({one.names[0].casefold() for one in same}) > 1:
            raise _ambiguous(kind, wanted, same)
        return same


CYCLE_FLAGS = {"current": "isActive", "next": "isNext", "previous": "isPrevious"}
"""Cycles that are called by where they stand in time, with the filter's field."""


_NO_GROUPS: Filter = {"isGroup": {"eq": False}}


def _of_team(team_id: str) -> Filter:
    return {"team": {"id": {"eq": team_id}}}


def of_team_or_workspace(team_id: str) -> Filter:
    """A label's filter: workspace labels belong to no team, and go with every team's issues."""
    return {"and": [{"or": [_of_team(team_id), {"team": {"null": True}}]}]}


def _ambiguous(kind: Kind, name: str, found: Sequence[Found]) -> ServiceError:
    told = "; ".join(f"{one}, id {one.id}" for one in found[:_CHOICES])
    more = f"; and {len(found) - _CHOICES} more" if len(found) > _CHOICES else ""
    return ServiceError(
        "ambiguous",
        f"{quoted(name)} may be {len(found)} {kind} of Linear",
        advice=f"Call again with one of the choices, or its id: {told}{more}.",
        provider=PROVIDER,
        operation=KINDS[kind].operation.name,
    )


def _missing(kind: Kind, name: str, valid: Sequence[Found], more: str) -> ServiceError:
    names = "; ".join(dict.fromkeys(str(one) for one in valid))
    return ServiceError(
        "not_found",
        f"Linear has no {KINDS[kind].singular} {quoted(name)}",
        advice=" ".join(part for part in (f"There are: {names}." if names else "", more) if part) or None,
        provider=PROVIDER,
        operation=KINDS[kind].operation.name,
    )
