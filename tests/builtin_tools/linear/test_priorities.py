"""Priorities that a model may send."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.linear import LinearCreateIssue, LinearUpdateIssue
from tests.builtin_tools.linear.answers import answering, issue, writer_over
from tests.http.clients import ManualClock
from tests.http.loopback import serving


@pytest.mark.parametrize("priority", [5, -1, 1.5, True, "5", "highest"], ids=repr)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(LinearUpdateIssue, {"id": "ENG-1"}), (LinearCreateIssue, {"title": "Login", "team": "ENG"})],
    ids=["update", "create"],
)
async def test_a_priority_that_linear_does_not_have_is_refused_before_anything_is_sent(
    http: Any, clock: ManualClock, tool: type[Any], arguments: dict[str, Any], priority: Any
) -> None:
    async with serving(answering(issue=issue())) as server:
        result = await toolkit.execute(tool(writer_over(http, server, clock)), {**arguments, "priority": priority})

    assert result.is_error
    assert "$.priority" in result.content
    assert server.requests == []
