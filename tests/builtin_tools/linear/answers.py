"""Small answers in Linear's form, invented here, and clients that ask a loopback server for them."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from builtin_tools.http import Secret
from builtin_tools.linear import LinearClient, LinearSettings, LinearWriter
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, Received, Reply
from tests.shared_files import shared_json

KEY = "lin_api_qXk8Zm2Rw5Tv9Yb4"

TEAM = "11111111-1111-4111-8111-111111111111"
OTHER_TEAM = "22222222-2222-4222-8222-222222222222"
TODO = "33333333-3333-4333-8333-333333333333"
ADA = "44444444-4444-4444-8444-444444444444"
BUG = "55555555-5555-4555-8555-555555555555"
ISSUE = "66666666-6666-4666-8666-666666666666"
OURS = "77777777-7777-4777-8777-777777777777"
COMMENT = "88888888-8888-4888-8888-888888888888"
PROJECT = "99999999-9999-4999-8999-999999999999"
CYCLE = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"

Part: TypeAlias = "Reply | dict[str, Any] | Callable[[dict[str, Any]], Any] | Iterator[Any] | None"


def page(*nodes: dict[str, Any], cursor: str | None = None, **more: Any) -> dict[str, Any]:
    """A connection; with a cursor there is more."""
    return {"nodes": list(nodes), "pageInfo": {"hasNextPage": cursor is not None, "endCursor": cursor}, **more}


def team(key: str = "ENG", name: str = "Engineering", id: str = TEAM) -> dict[str, Any]:
    return {"id": id, "key": key, "name": name}


def state(name: str, type: str = "unstarted", id: str = TODO, team: str = "ENG") -> dict[str, Any]:
    return {"id": id, "name": name, "type": type, "team": {"key": team}}


def label(name: str, id: str = BUG, team: str | None = None, group: str | None = None) -> dict[str, Any]:
    return {
        "id": id,
        "name": name,
        "isGroup": False,
        "parent": {"name": group} if group else None,
        "team": {"key": team} if team else None,
    }


def user(name: str, display: str = "", email: str = "", id: str = ADA) -> dict[str, Any]:
    return {"id": id, "name": name, "displayName": display or name, "email": email or f"{name}@example.org"}


def issue(number: int = 1, title: str = "Login redirects twice", **more: Any) -> dict[str, Any]:
    return {
        "id": ISSUE,
        "identifier": f"ENG-{number}",
        "title": title,
        "url": f"https://linear.app/acme/issue/ENG-{number}/login",
        "priority": 2.0,
        "priorityLabel": "High",
        "estimate": None,
        "dueDate": None,
        "createdAt": "2026-11-01T08:00:00.000Z",
        "updatedAt": "2026-11-20T09:30:00.000Z",
        "completedAt": None,
        "archivedAt": None,
        "trashed": None,
        "state": {"name": "Todo", "type": "unstarted"},
        "team": {"id": TEAM, "key": "ENG"},
        "assignee": {"name": "Ada Lovelace", "displayName": "ada"},
        "project": None,
        "cycle": None,
        "parent": None,
        "labels": {"nodes": [{"name": "Bug"}]},
        **more,
    }


def failed(message: str, code: str = "INPUT_ERROR", type: str = "invalid input", **extensions: Any) -> Reply:
    """An error as Linear sends most of them: with status 200."""
    extensions = {"code": code, "type": type, "userError": True, **extensions}
    return Reply({"data": None, "errors": [{"message": message, "extensions": extensions}]})


NOT_FOUND = failed("Entity not found: Issue", userPresentableMessage="Could not find referenced Issue.")


def field_of(request: Received) -> str:
    """The query's or mutation's field."""
    found = re.search(r"\{ (\w+)", json.loads(request.body)["query"])
    assert found is not None
    return found[1]


def variables_of(request: Received) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.body)["variables"]
    return found


def answering(**parts: Part) -> Callable[[Received], Reply]:
    """Answers by the field that is asked for: a reply, the field's value, a function of the variables, or a queue."""

    def answer(request: Received) -> Reply:
        field = field_of(request)
        part = parts[field]
        if callable(part):
            part = part(variables_of(request))
        elif isinstance(part, Iterator):
            part = next(part)
        return part if isinstance(part, Reply) else Reply({"data": {field: part}})

    return answer


def sent(server: LoopbackServer, field: str) -> list[dict[str, Any]]:
    """The variables of every request for the field."""
    return [variables_of(request) for request in server.requests if field_of(request) == field]


def fields_sent(server: LoopbackServer) -> list[str]:
    return [field_of(request) for request in server.requests]


def settings_for(server: LoopbackServer, **settings: Any) -> LinearSettings:
    return LinearSettings(**{"api_key": Secret(KEY), "base_url": server.url, "timeout": GUARD, **settings})


def client_over(http: Any, server: LoopbackServer, clock: ManualClock, **settings: Any) -> LinearClient:
    return LinearClient(http, settings_for(server, **settings), clock=clock)


def writer_over(http: Any, server: LoopbackServer, clock: ManualClock, **settings: Any) -> LinearWriter:
    allowed = {"writes": True, "deletes": True, **settings}
    return LinearWriter(client_over(http, server, clock, **allowed), new_id=lambda: uuid.UUID(OURS), clock=clock)


def recorded(name: str) -> Sequence[Reply]:
    """The answers of a recording, with their statuses and headers, but for what belongs to its own transport."""
    return [
        Reply(
            exchange["response"],
            status=exchange["status"],
            headers={
                name: value
                for name, value in exchange["headers"].items()
                if name.lower() not in ("content-length", "content-encoding", "transfer-encoding", "connection")
            },
        )
        for exchange in shared_json(f"payloads/linear/{name}")
    ]
