"""What is sent to Linear fits its schema, and what is read from it is asked for."""

from __future__ import annotations

import json
import typing
from datetime import date
from functools import cache
from typing import Any

import graphql
import msgspec
import pytest
from graphql import FieldNode, OperationDefinitionNode, SelectionSetNode

import toolkit
from builtin_tools.linear import (
    LinearAddComment,
    LinearCreateIssue,
    LinearDeleteIssue,
    LinearGetIssue,
    LinearList,
    LinearListIssues,
    LinearSearchIssues,
    LinearUpdateIssue,
)
from builtin_tools.linear.operations import OPERATIONS, Operation
from tests.builtin_tools.linear.answers import (
    ADA,
    BUG,
    COMMENT,
    CYCLE,
    ISSUE,
    PROJECT,
    TODO,
    answering,
    client_over,
    fields_sent,
    issue,
    label,
    page,
    state,
    team,
    user,
    writer_over,
)
from tests.http.clients import ManualClock
from tests.http.loopback import LoopbackServer, Received, serving
from tests.shared_files import shared

EACH_OPERATION = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


@cache
def schema() -> graphql.GraphQLSchema:
    return graphql.build_schema(shared("payloads/linear/schema.graphql").read_text(encoding="utf-8"))


def root_of(operation: Operation[Any]) -> FieldNode:
    (definition,) = graphql.parse(operation.document).definitions
    assert isinstance(definition, OperationDefinitionNode)
    (root,) = definition.selection_set.selections
    assert isinstance(root, FieldNode)
    return root


def selected(selections: SelectionSetNode | None, path: str = "") -> set[str]:
    """The paths of all selected fields."""
    found: set[str] = set()
    for node in selections.selections if selections else ():
        assert isinstance(node, FieldNode)
        name = f"{path}.{node.name.value}"
        found |= {name} | selected(node.selection_set, name)
    return found


def read(type_: Any, path: str = "") -> set[str]:
    """The paths of all fields that a type reads."""
    arms = [arm for arm in typing.get_args(type_) if arm is not type(None)]
    origin = typing.get_origin(type_)
    if origin is tuple:
        return read(arms[0], path)
    if (isinstance(origin, type) and issubclass(origin, msgspec.Struct)) or isinstance(type_, type):
        if not issubclass(origin or type_, msgspec.Struct):
            return set()
        found: set[str] = set()
        for field in msgspec.structs.fields(type_):
            name = f"{path}.{field.encode_name}"
            found |= {name} | read(field.type, name)
        return found
    return set().union(*(read(arm, path) for arm in arms))


@EACH_OPERATION
def test_a_document_is_valid_by_linears_schema(operation: Operation[Any]) -> None:
    assert graphql.validate(schema(), graphql.parse(operation.document)) == []


@EACH_OPERATION
def test_a_document_uses_nothing_that_is_deprecated(operation: Operation[Any]) -> None:
    document = graphql.parse(operation.document)

    assert graphql.validate(schema(), document, [graphql.NoDeprecatedCustomRule]) == []


@EACH_OPERATION
def test_a_document_asks_for_all_that_is_read_and_for_nothing_else(operation: Operation[Any]) -> None:
    root = root_of(operation)

    assert root.name.value == operation.field
    assert read(operation.result) == selected(root.selection_set)
    assert len(read(operation.result)) > 1


@EACH_OPERATION
def test_a_document_costs_less_than_what_linear_refuses(operation: Operation[Any]) -> None:
    most = {"first": 100 if operation.field not in ("issues", "searchIssues") else 50, "comments": 50}

    def cost(node: FieldNode) -> float:
        inner = node.selection_set
        if inner is None:
            return 0.1
        first = next((argument.value for argument in node.arguments or () if argument.name.value == "first"), None)
        is_list = any(isinstance(one, FieldNode) and one.name.value == "nodes" for one in inner.selections)
        assert (first is not None) is is_list, f"{node.name.value} has no `first`"
        times = 1
        if isinstance(first, graphql.VariableNode):
            times = most[first.name.value]
        elif isinstance(first, graphql.IntValueNode):
            times = int(first.value)
        return 1 + times * sum(cost(one) for one in inner.selections if isinstance(one, FieldNode))

    assert cost(root_of(operation)) < 10_000


EVERYTHING = answering(
    teams=page(team()),
    workflowStates=page(state("Todo")),
    issueLabels=page(label("Bug")),
    projects=page({"id": PROJECT, "name": "Apollo", "slugId": "apollo-1"}),
    users=page(user("ada")),
    cycles=page({"id": CYCLE, "number": 7.0, "name": "Seven"}),
    viewer={"id": ADA, "name": "Ada", "displayName": "ada"},
    issues=page(issue()),
    searchIssues=page(issue()),
    issue=issue(),
    comment={"id": COMMENT},
    issueCreate={"success": True, "issue": issue()},
    issueUpdate={"success": True, "issue": issue()},
    commentCreate={"success": True, "comment": {"id": COMMENT, "url": "https://linear.app/c"}},
    issueDelete={"success": True, "entity": {"identifier": "ENG-1", "title": "Login"}},
)

NAMES = {"state": "Todo", "project": "Apollo", "cycle": "7"}

CALLS: list[tuple[type[Any], dict[str, Any]]] = [
    (LinearSearchIssues, {"query": "login"}),
    (LinearSearchIssues, {"query": "x", "team": "ENG", "include_comments": True, "include_archived": True}),
    (LinearListIssues, {}),
    (
        LinearListIssues,
        {
            **NAMES,
            "team": "ENG",
            "assignee": "ada",
            "labels": ["Bug", BUG],
            "priority": "urgent",
            "updated_since": "-P7D",
            "order_by": "created",
            "cursor": "abc",
        },
    ),
    (LinearListIssues, {"state": "Todo", "assignee": "me", "cycle": "current", "labels": ["Bug"], "priority": 0}),
    (LinearListIssues, {"state": "open", "assignee": "none", "cycle": "none", "updated_since": "2026-11-30"}),
    (LinearListIssues, {"state": "closed", "cycle": "Seven", "updated_since": "2026-11-30T08:00:00Z"}),
    (LinearListIssues, {"state": "started", "cycle": "next"}),
    (LinearGetIssue, {"id": "ENG-1"}),
    (LinearGetIssue, {"id": ISSUE, "comments": 0}),
    *[
        (LinearList, {"kind": kind, "query": "a"})
        for kind in ("teams", "states", "labels", "projects", "users", "cycles")
    ],
    *[(LinearList, {"kind": kind, "team": "ENG"}) for kind in ("states", "labels", "projects", "cycles")],
    (LinearCreateIssue, {"title": "x", "team": "ENG"}),
    (
        LinearCreateIssue,
        {
            **NAMES,
            "title": "x",
            "team": "ENG",
            "description": "y",
            "priority": 4,
            "assignee": "me",
            "labels": ["Bug"],
            "parent": "ENG-2",
            "due_date": date(2026, 12, 24).isoformat(),
            "estimate": 3,
        },
    ),
    (LinearUpdateIssue, {"id": "ENG-1", "title": "x", "add_labels": ["Bug"], "remove_labels": ["Bug"], **NAMES}),
    (LinearUpdateIssue, {"id": "ENG-1", "state": TODO, "labels": ["Bug"], "cycle": "current", "priority": "none"}),
    (
        LinearUpdateIssue,
        {
            "id": "ENG-1",
            **dict.fromkeys(
                ("description", "priority", "assignee", "labels", "project", "parent", "due_date", "estimate", "cycle")
            ),
        },
    ),
    (LinearAddComment, {"issue": "ENG-1", "body": "x", "parent_comment": COMMENT}),
    (LinearDeleteIssue, {"id": "ENG-1"}),
]


def refused_variables(server: LoopbackServer) -> list[str]:
    found: list[str] = []
    for request in server.requests:
        body = json.loads(request.body)
        (definition,) = graphql.parse(body["query"]).definitions
        assert isinstance(definition, OperationDefinitionNode)
        values = graphql.execution.get_variable_values(
            schema(), definition.variable_definitions or (), body["variables"]
        )
        found += [str(error) for error in values] if isinstance(values, list) else []
    return found


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda part: getattr(part, "name", None))
async def test_the_variables_that_a_tool_sends_fit_the_schema(
    http: Any, clock: ManualClock, tool: type[Any], arguments: dict[str, Any]
) -> None:
    schema()
    async with serving(EVERYTHING) as server:
        source = client_over if tool.__module__.endswith(".tools") else writer_over
        result = await toolkit.execute(tool(source(http, server, clock)), arguments)

    assert not result.is_error, result.content
    assert refused_variables(server) == []
    assert fields_sent(server) != []


def test_a_variable_that_does_not_fit_would_be_found() -> None:
    body = {"query": "query X($first: Int!) { teams(first: $first) { nodes { id } } }", "variables": {"first": "ten"}}
    server = LoopbackServer(EVERYTHING)
    server.requests.append(Received("POST", "/graphql", {}, json.dumps(body).encode()))

    assert refused_variables(server) != []
