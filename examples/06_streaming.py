"""A run's events as they happen: text, tool calls, and events of the tools' own."""

import asyncio

from toolkit import Agent, RunContext, tool
from toolkit.events import CustomEvent, RunFinished, TextDelta, ToolCallFinished, ToolCallStarted
from toolkit.testing import ScriptedModel, call, calls, says


@tool
async def count_words(titles: list[str], ctx: RunContext) -> int:
    """Count the words of some books."""
    for place, title in enumerate(titles, 1):
        ctx.emit(CustomEvent("progress", f"{place} of {len(titles)}: {title}"))
        await asyncio.sleep(0)  # here the work would be done
    return 1_234


def script() -> ScriptedModel:
    return ScriptedModel([calls(call("count_words", {"titles": ["Emma", "Ulysses"]})), says("There are 1,234 words.")])


async def main() -> None:
    agent = Agent(tools=[count_words])
    async with agent.stream("How many words?", model=script()) as stream:
        async for event in stream:
            match event:
                case TextDelta(text=text):
                    print(text, end="")
                case ToolCallStarted(call=call):  # its arguments: from a provider they are JSON text
                    print(f"[{call.name}]")
                case CustomEvent(name="progress", data=data):
                    print(f"  {data}")
                case ToolCallFinished(record=record):
                    print(f"[{record.name}: {record.result.content}]")
                case RunFinished(run=run):  # the last one: everything is closed
                    print(f"\n{run.outcome} after {run.turns} turns")

    async with agent.stream("How many words?", model=script()) as stream:
        async for event in stream:
            if isinstance(event, ToolCallStarted):
                break  # whoever leaves early cancels the run; it is closed when the block ends
    print(stream.run.outcome)


asyncio.run(main())

# prints:
# [count_words]
#   1 of 2: Emma
#   2 of 2: Ulysses
# [count_words: 1234]
# There are 1,234 words.
# completed after 2 turns
# cancelled
