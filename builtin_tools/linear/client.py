"""What is read from Linear: issues, and the names around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from builtin_tools.http import AnswerCache, Clock, HttpClient, Pace
from builtin_tools.linear import operations
from builtin_tools.linear.api import LinearApi, pace_of_requests, pace_of_searches
from builtin_tools.linear.directory import CYCLE_FLAGS, Filter, Kind, LinearDirectory, of_team_or_workspace
from builtin_tools.linear.readings import detail_of, issue_of
from builtin_tools.linear.references import invalid, issue_id, moment, priority_number, quoted
from builtin_tools.linear.results import IssueDetail, IssueList, Listing
from builtin_tools.linear.settings import LinearSettings
from builtin_tools.linear.wire import PageInfo
from builtin_tools.text import one_line

__all__ = ["IssueFilter", "LinearClient", "cache_of_names"]

_STATE_GROUPS: dict[str, Filter] = {
    "open": {"type": {"nin": ["completed", "canceled", "duplicate"]}},
    "closed": {"type": {"in": ["completed", "canceled", "duplicate"]}},
    **{
        kind: {"type": {"eq": kind}}
        for kind in ("triage", "backlog", "unstarted", "started", "completed", "canceled", "duplicate")
    },
}
_ALL_TEAMS = "all"


def cache_of_names(clock: Clock | None = None) -> AnswerCache:
    """Names and their ids, for 10 minutes."""
    return AnswerCache(seconds=600.0, clock=clock)


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """Which issues are wanted; what is None does not matter.

    Attributes:
        team: Key, name or id; `all` for every team; None for the team of the settings.
        state: A name or id, a type such as `started`, or `open` or `closed`.
        assignee: A name, e-mail address or id; `me`; `none`.
        labels: An issue has to have all of them.
        cycle: A name or number; `current`, `next`, `previous`; `none`.
        priority: 0 to 4, or its name.
        updated_since: A date, or a duration such as `-P7D`.
    """

    team: str | None = None
    state: str | None = None
    assignee: str | None = None
    labels: tuple[str, ...] = ()
    project: str | None = None
    cycle: str | None = None
    priority: int | str | None = None
    updated_since: str | None = None


class LinearClient:
    """Issues of one workspace, typed. Names are found out by a `LinearDirectory`; issues are never cached.

    Example:
        ```python
        client = LinearClient(http, LinearSettings(api_key=Secret("lin_api_...")))
        mine = await client.issues(IssueFilter(assignee="me", state="open"))
        ```

    Args:
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`; it stays open.
        pace: Shared by all clients of one application; its own when left out.
        search_pace: The same, for searches.
        names: The same, for what was found of names.

    Raises (all methods that ask):
        ServiceError: `not_configured` when there is no key; `not_found` and `ambiguous` for names; what Linear answers.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: LinearSettings,
        *,
        pace: Pace | None = None,
        search_pace: Pace | None = None,
        names: AnswerCache | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.http = http
        self.api = LinearApi(
            http,
            settings,
            pace=pace_of_requests(clock) if pace is None else pace,
            search_pace=pace_of_searches(clock) if search_pace is None else search_pace,
            clock=clock,
        )
        self.directory = LinearDirectory(self.api, cache_of_names(clock) if names is None else names, http)

    async def search(
        self,
        query: str,
        *,
        team: str | None = None,
        include_comments: bool = False,
        include_archived: bool = False,
        limit: int = 10,
        cursor: str | None = None,
    ) -> IssueList:
        """Issues whose text matches, best first. The team of the settings comes first, and hides no other."""
        term = one_line(query)
        if not term:
            raise invalid("the query is blank")
        found = await self.team_id(team)
        is_chosen = found is not None and team is not None
        variables = {
            "term": term,
            "first": limit,
            "after": cursor,
            "filter": {"team": {"id": {"eq": found}}} if is_chosen else None,
            "teamId": found,
            "includeComments": include_comments,
            "includeArchived": include_archived,
        }
        with self.directory.relied_on():
            reply = await self.api.read(operations.SEARCH, variables)
        page = reply.value
        return IssueList(
            f"for {quoted(term)}" + (f" in team {quoted(team or '')}" if is_chosen else ""),
            tuple(issue_of(node) for node in page.nodes),
            total=None if page.total_count is None else int(page.total_count),
            next_cursor=_next(page.page_info),
            notes=reply.notes,
        )

    async def issues(
        self,
        wanted: IssueFilter,
        *,
        order_by: Literal["updated", "created"] = "updated",
        limit: int = 10,
        cursor: str | None = None,
    ) -> IssueList:
        """Issues by what is set on them, newest first."""
        variables = {
            "filter": await self._filter(wanted) or None,
            "first": limit,
            "after": cursor,
            "orderBy": f"{order_by}At",
        }
        with self.directory.relied_on():
            reply = await self.api.read(operations.ISSUES, variables)
        return IssueList(
            f"with {_told(wanted, self.settings.team)}",
            tuple(issue_of(node) for node in reply.value.nodes),
            next_cursor=_next(reply.value.page_info),
            notes=reply.notes,
        )

    async def issue(self, reference: str, *, comments: int = 10) -> IssueDetail:
        """One issue, with its newest comments."""
        # At least one is asked for: Linear refuses a `first` of 0.
        variables = {"id": issue_id(reference), "comments": max(comments, 1)}
        reply = await self.api.read(operations.FULL_ISSUE, variables)
        return detail_of(reply.value, comments, reply.notes)

    async def entries(
        self, kind: Kind, *, team: str | None = None, query: str = "", limit: int = 50, cursor: str | None = None
    ) -> Listing:
        """Teams, states, labels, projects, users or cycles, as the other methods take their names."""
        notes: tuple[str, ...] = ()
        within: Filter = {}
        if kind in ("teams", "users"):
            notes = (f"{kind} are listed for the whole workspace",) if team is not None else ()
        elif (team_id := await self.team_id(team)) is not None:
            within = _within_team(kind, team_id)
        words = one_line(query)
        if words:
            within |= {"or": [{field: {"containsIgnoreCase": words}} for field in _SEARCHED[kind]]}
        found, next_cursor, reported = await self.directory.page(kind, within, limit, cursor)
        return Listing(
            f"{kind} with {quoted(words)} in their name" if words else kind,
            tuple(one.to_entry() for one in found),
            next_cursor,
            (*notes, *reported),
        )

    async def team_id(self, team: str | None) -> str | None:
        """The id of a team by key, name or id; of the settings' team for None; None for `all`, or when none is set."""
        chosen = self.settings.team if team is None else team
        if chosen is None or chosen.strip().casefold() == _ALL_TEAMS:
            return None
        return (await self.directory.team(chosen)).id

    async def _filter(self, wanted: IssueFilter) -> Filter:
        team_id = await self.team_id(wanted.team)
        found: Filter = {}
        if team_id is not None:
            found["team"] = {"id": {"eq": team_id}}
        if wanted.state is not None:
            found["state"] = await self._state_filter(wanted.state, team_id)
        if wanted.assignee is not None:
            found["assignee"] = await self._assignee_filter(wanted.assignee)
        if wanted.labels:
            found["and"] = [{"labels": {"some": await self._label_filter(name, team_id)}} for name in wanted.labels]
        if wanted.project is not None:
            found["project"] = {"id": {"eq": (await self.directory.project(wanted.project)).id}}
        if wanted.cycle is not None:
            found["cycle"] = _cycle_filter(wanted.cycle)
        if wanted.priority is not None:
            found["priority"] = {"eq": priority_number(wanted.priority)}
        if wanted.updated_since is not None:
            found["updatedAt"] = {"gte": moment(wanted.updated_since)}
        return found

    async def _state_filter(self, state: str, team_id: str | None) -> Filter:
        group = _STATE_GROUPS.get(state.strip().casefold())
        if group is not None:
            return group
        if team_id is not None:
            return {"id": {"eq": (await self.directory.state(state, team_id)).id}}
        return _any_of([one.id for one in await self.directory.states(state)])

    async def _assignee_filter(self, assignee: str) -> Filter:
        match assignee.strip().casefold():
            case "me":
                return {"isMe": {"eq": True}}
            case "none":
                return {"null": True}
            case _:
                return {"id": {"eq": (await self.directory.user(assignee)).id}}

    async def _label_filter(self, name: str, team_id: str | None) -> Filter:
        return _any_of([one.id for one in await self.directory.labels(name, team_id)])


_SEARCHED: dict[Kind, tuple[str, ...]] = {
    "teams": ("name", "key"),
    "states": ("name",),
    "labels": ("name",),
    "projects": ("name",),
    "users": ("displayName", "name", "email"),
    "cycles": ("name",),
}


def _any_of(ids: list[str]) -> Filter:
    return {"id": {"eq": ids[0]} if len(ids) == 1 else {"in": ids}}


def _cycle_filter(cycle: str) -> Filter:
    name = cycle.strip()
    if name.casefold() == "none":
        return {"null": True}
    if name.casefold() in CYCLE_FLAGS:
        return {CYCLE_FLAGS[name.casefold()]: {"eq": True}}
    return {"number": {"eq": int(name)}} if name.isdecimal() else {"name": {"eqIgnoreCase": name}}


def _within_team(kind: Kind, team_id: str) -> Filter:
    of_team: Filter = {"id": {"eq": team_id}}
    match kind:
        case "labels":
            return of_team_or_workspace(team_id)
        case "projects":
            return {"accessibleTeams": {"some": of_team}}
        case _:
            return {"team": of_team}


def _next(page: PageInfo) -> str | None:
    return page.end_cursor if page.has_next_page else None


def _told(wanted: IssueFilter, default_team: str | None) -> str:
    team = default_team if wanted.team is None else wanted.team
    parts = {
        "team": team or _ALL_TEAMS,
        "state": wanted.state,
        "assignee": wanted.assignee,
        "labels": ", ".join(wanted.labels) or None,
        "project": wanted.project,
        "cycle": wanted.cycle,
        "priority": wanted.priority,
        "updated since": wanted.updated_since,
    }
    return ", ".join(f"{name} {quoted(str(value))}" for name, value in parts.items() if value is not None)
