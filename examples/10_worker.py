"""A worker: many runs at once over one application, and a shutdown after which nothing is left open."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from dependency_injector import containers

from toolkit import Agent, Inject, RunError, tool
from toolkit.injection import RunScoped, application, provide
from toolkit.models import KeywordModel


async def connect() -> AsyncIterator[str]:
    try:
        yield "connection"
    finally:
        print("closed")


@tool(description="Greet somebody.")
async def greet(name: str, connection: Annotated[str, Inject("connection")]) -> str:
    await asyncio.sleep(1_000_000 if name == "Godot" else 0)
    return f"hello {name}"


class Application(containers.DeclarativeContainer):
    connection = RunScoped(connect)
    agent = provide(Agent, model=KeywordModel(), tools=[greet])


async def work(app, jobs: asyncio.Queue) -> None:
    while (job := await jobs.get()) is not None:
        try:
            print((await app.agent().run(job, timeout=60)).response)
        except RunError as error:  # of this job: the worker goes on with the next
            print(job, error.run.outcome)


async def main() -> None:
    jobs = asyncio.Queue()
    async with application(Application()) as app:
        workers = [asyncio.create_task(work(app, jobs)) for _ in range(2)]
        for job in ('Greet "Ada"', 'Greet "Godot"', 'Greet "Grace"', *[None] * len(workers)):
            await jobs.put(job)  # None is what a shutdown adds, such as on SIGTERM
        _, late = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)  # yours gives them 30 seconds
        for worker in late:  # its run is cancelled with it, and closes what it has opened
            worker.cancel()
        await asyncio.wait(workers)


asyncio.run(main())

# prints:
# closed
# (keyword model, no language model) greet: hello Ada
# closed
# (keyword model, no language model) greet: hello Grace
# closed
