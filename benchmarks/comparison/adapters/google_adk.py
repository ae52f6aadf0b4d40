"""google-adk: a model of its own interface and the runner in memory, with a session for each run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, is_remembered, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task

USER = "user"
AGENT = "agent"


class PlayedModel(BaseLlm):
    """Plays the script."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:
        sent = llm_request.contents
        turn = next_turn([content.model_dump_json() for content in sent] if is_remembered() else sent)
        parts = [
            types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=call.arguments))
            for call in turn.calls
        ]
        yield LlmResponse(
            content=types.Content(role="model", parts=parts or [types.Part(text=turn.text)]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(  # without it a warning is logged
                prompt_token_count=1, candidates_token_count=1, total_token_count=2
            ),
        )


class GoogleADK(Adapter):
    """google-adk. It takes earlier messages only one by one into a session, which is timed with the run."""

    async def build(self, task: Task) -> Any:
        tools = [FunctionTool(function) for function in task.functions]
        agent = LlmAgent(name=AGENT, model=PlayedModel(model="played"), instruction=INSTRUCTIONS, tools=tools)
        return InMemoryRunner(agent=agent, app_name="app"), RunConfig(max_llm_calls=task.max_turns + 5)

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        who = {"user": (USER, "user"), "assistant": (AGENT, "model")}
        return [(who[role][0], types.Content(role=who[role][1], parts=[types.Part(text=text)])) for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        runner, settings = built
        sessions = runner.session_service
        session = await sessions.create_session(app_name="app", user_id=USER)
        for author, content in history or ():
            await sessions.append_event(session, Event(author=author, content=content))
        prompt = types.Content(role="user", parts=[types.Part(text=PROMPT)])
        events = runner.run_async(user_id=USER, session_id=session.id, new_message=prompt, run_config=settings)
        answer = ""
        async for event in events:
            if event.content and event.content.parts and event.content.parts[0].text:
                answer = event.content.parts[0].text
        await sessions.delete_session(app_name="app", user_id=USER, session_id=session.id)
        return answer


ADAPTER = GoogleADK
