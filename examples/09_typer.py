"""A command line of your own with Typer: `python examples/09_typer.py "How is the weather in Oslo?" --customer ada`."""

import asyncio
import sys
from typing import Annotated

import typer
from dependency_injector import containers, providers

from toolkit import Agent, Limits, Run, ToolkitError, tool
from toolkit.injection import application, dep, provide
from toolkit.models import KeywordModel

cli = typer.Typer()


@tool
async def weather(city: str) -> str:
    """Get the current weather of a city."""
    return f"light rain in {city}"


class Application(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    limits = providers.Factory(Limits, max_turns=config.max_turns)
    agent = provide(Agent, model=KeywordModel(), tools=[weather], limits=dep(limits))


async def answer(question: str, customer: str, max_turns: int) -> Run:
    async with application(Application(config={"max_turns": max_turns})) as app:
        return await app.agent().run(question, actor_id=customer, timeout=60)


@cli.command()
def ask(
    question: str,
    customer: Annotated[str, typer.Option(help="Who is asking.")],
    max_turns: Annotated[int, typer.Option(min=1, help="How often the model may be asked.")] = 10,
) -> None:
    """Asks the agent, and prints its calls and its answer."""
    try:
        run = asyncio.run(answer(question, customer, max_turns))
    except ToolkitError as error:  # wired wrongly, or ended without an answer
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    for record in run.calls:
        typer.echo(f"{record.name} {record.arguments}")
    typer.echo(run.response)


if __name__ == "__main__":
    cli(sys.argv[1:] or ["How is the weather in Oslo?", "--customer", "ada"])

# prints:
# weather {'city': 'Oslo'}
# (keyword model, no language model) weather: light rain in Oslo
