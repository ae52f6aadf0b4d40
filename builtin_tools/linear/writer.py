"""What is changed in Linear. A change is made once, also when its answer is lost."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET

from builtin_tools.http import AnswerCache, Clock, ServiceError
from builtin_tools.linear import operations
from builtin_tools.linear.api import PROVIDER, Reply
from builtin_tools.linear.changes import IssueUpdate, NewIssue
from builtin_tools.linear.client import LinearClient
from builtin_tools.linear.operations import Operation
from builtin_tools.linear.readings import issue_of, time_of
from builtin_tools.linear.references import invalid, is_id, issue_id, priority_number
from builtin_tools.linear.results import CommentAdded, Issue, IssueChange, IssueDeleted
from builtin_tools.linear.wire import CommentPayload, FoundComment, IssueNode, IssuePayload

__all__ = ["LinearWriter", "memory_of_writes"]

T = TypeVar("T")
P = TypeVar("P", IssuePayload, CommentPayload)

_LOST = "Linear's first answer was lost; what it had made was found by its id, and nothing was made twice"


def memory_of_writes(clock: Clock | None = None) -> AnswerCache:
    """Ids of what may or may not have been made, for an hour: the same request then carries the same id again."""
    return AnswerCache(seconds=3600.0, clock=clock)


class LinearWriter:
    """Makes and changes issues and comments, as far as the settings allow.

    What is made gets its id here, so that a request may be sent again: Linear refuses a second thing of one id. When
    no answer came to any of the tries, the id is looked up; and until it is known that the thing was made, the same
    request carries the same id again, for an hour, whoever makes it. Changes and deletions have no such id and are sent
    once.

    Args:
        client: Finds names, and reads.
        open_writes: Shared by all writers of one application; its own when left out.
        new_id: Gives UUIDs of version 4.

    Raises (all methods):
        ServiceError: `not_configured` before anything is sent, when the settings do not allow it; else as
            `LinearClient`.
    """

    def __init__(
        self,
        client: LinearClient,
        *,
        open_writes: AnswerCache | None = None,
        new_id: Callable[[], uuid.UUID] = uuid.uuid4,
        clock: Clock | None = None,
    ) -> None:
        self.settings = client.settings
        self._client = client
        self._directory = client.directory
        self.open_writes = memory_of_writes(clock) if open_writes is None else open_writes
        self._new_id = new_id

    async def create_issue(self, new: NewIssue) -> IssueChange:
        """Makes an issue."""
        self._check_writes("create an issue")
        team_id = await self._client.team_id(new.team)
        if team_id is None:
            raise invalid(
                "an issue belongs to a team, and none is given",
                advice='Give a team, such as "ENG"; linear_list with kind="teams" lists them.',
            )
        fields: dict[str, Any] = {"teamId": team_id, "title": _title(new.title)}
        fields |= await self._fields(_given(new), team_id)
        if new.labels:
            fields["labelIds"] = await self._label_ids(new.labels, team_id)
        payload, notes = await self._made(operations.CREATE_ISSUE, fields, self._find_issue)
        return IssueChange("created", issue_of(payload.issue or IssueNode()), notes=notes)

    async def update_issue(self, update: IssueUpdate) -> IssueChange:
        """Changes the given fields of an issue, and tells what they were."""
        self._check_writes("update an issue")
        reply = await self._client.api.read(operations.FIND_ISSUE, {"id": issue_id(update.id)})
        before = issue_of(reply.value)
        given = {name: value for name, value in msgspec.structs.asdict(update).items() if value is not UNSET}
        given.pop("id")
        fields = await self._fields(given, before.team_id)
        if "title" in given:
            fields["title"] = _title(given["title"])
        for name, field in (
            ("labels", "labelIds"),
            ("add_labels", "addedLabelIds"),
            ("remove_labels", "removedLabelIds"),
        ):
            if name in given:
                fields[field] = await self._label_ids(given[name] or [], before.team_id)
        if not fields:
            raise invalid("nothing to change is given", advice="Give at least one field besides the id.")
        with self._directory.relied_on():
            written = await self._sent_once(operations.UPDATE_ISSUE, {"id": before.id, "input": fields})
        payload: IssuePayload = self._successful(written.value, operations.UPDATE_ISSUE)
        payload = await self._whole(payload, before.id, self._find_issue)
        after = issue_of(payload.issue or IssueNode())
        return IssueChange("updated", after, _differences(before, after, given), (*reply.notes, *written.notes))

    async def add_comment(self, issue: str, body: str, *, parent: str | None = None) -> CommentAdded:
        """Comments on an issue, in Markdown. `parent` is the id of the comment that this one answers."""
        self._check_writes("add a comment")
        if not body.strip():
            raise invalid("the comment is blank")
        fields: dict[str, Any] = {"issueId": issue_id(issue), "body": body}
        if parent is not None:
            if not is_id(parent.strip()):
                raise invalid("parent_comment is no id", advice="linear_get_issue tells the ids of comments.")
            fields["parentId"] = parent.strip().lower()
        payload, notes = await self._made(operations.CREATE_COMMENT, fields, self._find_comment)
        comment = payload.comment or FoundComment()
        name = comment.issue.identifier if comment.issue else fields["issueId"]
        return CommentAdded(comment.id, comment.url, name, time_of(comment.created_at), notes)

    async def delete_issue(self, reference: str) -> IssueDeleted:
        """Moves an issue to the trash, where it stays for 30 days."""
        if not self.settings.deletes:
            raise _off("delete an issue", "deleting issues of Linear", "linear.deletes")
        given = issue_id(reference)
        written = await self._sent_once(operations.DELETE_ISSUE, {"id": given})
        payload = self._successful(written.value, operations.DELETE_ISSUE)
        stub = payload.entity
        return IssueDeleted(stub.identifier if stub else given, stub.title if stub else "", written.notes)

    def _check_writes(self, operation: str) -> None:
        if not self.settings.writes:
            raise _off(operation, "writing to Linear", "linear.writes")

    async def _fields(self, given: dict[str, Any], team_id: str) -> dict[str, Any]:
        """Linear's fields for those that mean the same in a new issue and in a changed one."""
        found: dict[str, Any] = {}
        for name, (field, value_of) in self._readers(team_id).items():
            if name in given:
                value = given[name]
                found[field] = None if value is None else await value_of(value)
        if found.get("priority", 0) is None:
            found["priority"] = 0  # a number in Linear, so that there is no null to set
        return found

    def _readers(self, team_id: str) -> dict[str, tuple[str, Callable[[Any], Awaitable[Any]]]]:
        directory = self._directory

        async def state(name: str) -> str:
            return (await directory.state(name, team_id)).id

        async def assignee(name: str) -> str | None:
            return None if name.strip().casefold() == "none" else (await directory.user(name)).id

        async def project(name: str) -> str:
            return (await directory.project(name)).id

        async def cycle(name: str) -> str:
            return (await directory.cycle(name, team_id)).id

        return {
            "description": ("description", _as_it_is(str)),
            "priority": ("priority", _as_it_is(priority_number)),
            "state": ("stateId", state),
            "assignee": ("assigneeId", assignee),
            "project": ("projectId", project),
            "parent": ("parentId", _as_it_is(issue_id)),
            "due_date": ("dueDate", _as_it_is(date.isoformat)),
            "estimate": ("estimate", _as_it_is(int)),
            "cycle": ("cycleId", cycle),
        }

    async def _label_ids(self, names: list[str] | tuple[str, ...], team_id: str) -> list[str]:
        found = [(await self._directory.label(name, team_id)).id for name in names]
        return list(dict.fromkeys(found))

    async def _made(
        self, operation: Operation[P], fields: dict[str, Any], find: Callable[[str], Awaitable[P]]
    ) -> tuple[P, tuple[str, ...]]:
        """Sends what makes something, under an id of ours; what came of a lost answer is found by that id."""
        key = (self.settings.account, operation.name, msgspec.json.encode(fields, order="deterministic"))
        made_id: str = self.open_writes.get(self._client.http, key) or str(self._new_id())
        self.open_writes.put(self._client.http, key, made_id)
        payload: P
        notes: tuple[str, ...]
        try:
            with self._directory.relied_on():
                variables = {"input": {"id": made_id, **fields}}
                reply = await self._client.api.write(operation, variables, is_repeatable=True)
            payload, notes = self._successful(reply.value, operation), reply.notes
        except ServiceError as error:
            if not _may_be_made(error):
                raise
            payload, notes = await self._looked_for(made_id, find, error), (_LOST,)
        self.open_writes.put(self._client.http, key, None)
        return await self._whole(payload, made_id, find), notes

    async def _whole(self, payload: P, id: str, find: Callable[[str], Awaitable[P]]) -> P:
        """A success with what was made or changed, which is read where Linear left it out."""
        if not payload.is_bare:
            return payload
        try:
            return await find(id)
        except ServiceError as error:
            raise error.advised("It was done; do not repeat it.") from error

    async def _looked_for(self, made_id: str, find: Callable[[str], Awaitable[P]], error: ServiceError) -> P:
        try:
            return await find(made_id)
        except ServiceError as failure:
            known = "It was not made" if failure.kind == "not_found" else "Whether it was made is not known"
            raise error.advised(f"{known}; to call again with the same arguments makes no second one.") from error

    async def _find_issue(self, made_id: str) -> IssuePayload:
        return IssuePayload(True, (await self._client.api.read(operations.FIND_ISSUE, {"id": made_id})).value)

    async def _find_comment(self, made_id: str) -> CommentPayload:
        return CommentPayload(True, (await self._client.api.read(operations.FIND_COMMENT, {"id": made_id})).value)

    async def _sent_once(self, operation: Operation[T], variables: dict[str, Any]) -> Reply[T]:
        try:
            return await self._client.api.write(operation, variables)
        except ServiceError as error:
            if not _may_be_made(error):
                raise
            raise error.advised("Whether it was done is not known; look with linear_get_issue first.") from error

    def _successful(self, payload: Any, operation: Operation[Any]) -> Any:
        if payload.success:
            return payload
        raise ServiceError(
            "unavailable",
            f"Linear did not {operation.name}, and does not say why",
            advice="Tell the user; do not retry.",
            provider=PROVIDER,
            operation=operation.name,
            status=200,
            code="success: false",
        )


def _off(operation: str, what: str, key: str) -> ServiceError:
    return ServiceError(
        "not_configured",
        f"{what} is switched off",
        advice=f"Tell the user that `{key}` would switch it on; do not retry.",
        provider=PROVIDER,
        operation=operation,
    )


def _may_be_made(error: ServiceError) -> bool:
    """Whether the change may have been made all the same: no answer came, or one that can't be read, or one that says
    that the id is taken. What Linear refuses with a reason it has not done."""
    if error.kind == "rate_limited":
        return False
    if error.code is not None:
        return error.is_temporary or "conflict on insert" in (error.body or "").lower()
    return error.status is None or error.status >= 500 or 200 <= error.status < 300


def _as_it_is(read: Callable[[Any], Any]) -> Callable[[Any], Awaitable[Any]]:
    async def value_of(value: Any) -> Any:
        return read(value)

    return value_of


def _given(new: NewIssue) -> dict[str, Any]:
    return {name: value for name in new.__slots__ if (value := getattr(new, name)) is not None}


def _title(title: str) -> str:
    if not title.strip():
        raise invalid("the title is blank")
    return title.strip()


def _differences(before: Issue, after: Issue, given: dict[str, Any]) -> tuple[str, ...]:
    """Each field that is another one now. Descriptions are not read back, so that one is told by its name."""
    fields = ("title", "priority", "state", "assignee", "labels", "project", "parent", "due", "estimate", "cycle")
    told = [
        f"{name} from {_worded(old)} to {_worded(new)}"
        for name in fields
        if (old := getattr(before, name)) != (new := getattr(after, name))
    ]
    return (*told, *(("description",) if "description" in given else ()))


def _worded(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(cast("tuple[str, ...]", value)) or "none"
    return "none" if value is None or value == "" else str(value)
