"""A triage desk on Linear that reads what it likes, and writes only what a guard allows.

It runs on the answers below; with LINEAR_API_KEY and a model's key set, on a workspace of yours."""

import asyncio
import os
from typing import Any

import httpx
from dependency_injector import containers, providers

from containers import BuiltinTools  # Toolwire's package; `containers` below is dependency-injector's module
from toolkit import Agent
from toolkit.hooks import Allow
from toolkit.injection import AppScoped, application, dep, provide
from toolkit.models import from_environment
from toolkit.testing import ScriptedModel, call, calls, says

IS_LIVE = "LINEAR_API_KEY" in os.environ
ISSUE = {"identifier": "ENG-7", "title": "Kettle never boils", "url": "https://linear.app/acme/issue/ENG-7"}
COMMENT = {"success": True, "comment": {"id": "c1", "url": f"{ISSUE['url']}#c1", "issue": ISSUE}}
DATA = {"issues": {"nodes": [ISSUE]}, "commentCreate": COMMENT}
ASK = call("linear_add_comment", {"issue": "ENG-7", "body": "Which kettle?"})
DELETE = call("linear_delete_issue", {"id": "ENG-7"})
SCRIPT = [calls(call("linear_list_issues", {"state": "triage"})), calls(ASK, DELETE), says("I asked for more.")]


class CommentsOnly:
    def on_before_call(self, ctx: Any, call: Any) -> Any:  # without an `Allow`, a tool that writes is denied
        return Allow() if call.name == "linear_add_comment" else None


class TriageDesk(containers.DeclarativeContainer):
    config = providers.Configuration()
    recorded = httpx.MockTransport(lambda request: httpx.Response(200, json={"data": DATA}))
    http = AppScoped(httpx.AsyncClient, transport=None if IS_LIVE else recorded)
    builtin = providers.Container(BuiltinTools, config=config, http=http)
    model = providers.Singleton(from_environment, http=http) if IS_LIVE else providers.Object(ScriptedModel(SCRIPT))
    tools = (builtin.linear_list_issues, builtin.linear_add_comment, builtin.linear_delete_issue)
    agent = provide(Agent, model=dep(model), hooks=[CommentsOnly()], tools=[*tools, builtin.linear_get_issue])


async def main() -> None:
    linear = {"writes": True, "deletes": True} | ({} if IS_LIVE else {"api_key": "none is needed"})
    async with application(TriageDesk(config={"linear": linear})) as app:
        run = await app.agent().run("Triage the newest issue.")
    for record in run.calls:
        print(f"{record.name}: {record.result.content.splitlines()[0]}")
    print(run.response)


asyncio.run(main())

# prints:
# linear_list_issues: 1 issue with team "all", state "triage" (Linear)
# linear_add_comment: commented on ENG-7 (comment c1)
# linear_delete_issue: tool 'linear_delete_issue' needs an approval, and none was given
# I asked for more.
