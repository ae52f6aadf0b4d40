"""A thousand runs at once: they share what is the application's, and nothing of a run's."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from typing import Any

from dependency_injector import containers, providers

from toolkit import Agent, Invocation, RunContext, Tool
from toolkit.injection import AppScoped, RunScoped, ScopeValue, application, dep, overriding, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import call, calls, says

RUNS = 1_000


class Client:
    """The application's own."""

    def __init__(self, name: str = "the client") -> None:
        self.name = name


class Connection:
    """A run's own."""

    def __init__(self, client: Client, actor_id: str | None) -> None:
        self.client = client
        self.actor_id = actor_id
        self.is_open = True


class Seen:
    """What the runs saw. It keeps none of a run's objects alive: ids are compared while all of them live."""

    def __init__(self, runs: int) -> None:
        self.meeting = asyncio.Barrier(runs)
        self.living: weakref.WeakSet[Any] = weakref.WeakSet()
        self.opened = 0
        self.clients: list[Client] = []
        self.most: dict[type, int] = {}
        self.actors: list[tuple[str | None, ...]] = []

    def note_who_lives(self) -> None:
        for kind in (Connection, LookUp, Hook):
            living = sum(isinstance(one, kind) for one in self.living)
            self.most[kind] = max(living, self.most.get(kind, 0))


async def open_client() -> AsyncIterator[Client]:
    try:
        yield Client()
    finally:
        pass


async def open_connection(client: Client, invocation: Invocation, seen: Seen) -> AsyncIterator[Connection]:
    connection = Connection(client, invocation.actor_id)
    seen.living.add(connection)
    seen.opened += 1
    await asyncio.sleep(0)  # others open theirs in between
    try:
        yield connection
    finally:
        connection.is_open = False


class Hook:
    """A run's own too: it is made anew for each."""

    def __init__(self, connection: Connection, seen: Seen) -> None:
        self.connection = connection
        seen.living.add(self)

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        assert self.connection.actor_id == ctx.invocation.actor_id


class LookUp(Tool):
    """Look it up."""

    name = "look_up"

    def __init__(self, connection: Connection, seen: Seen) -> None:
        self.connection = connection
        self.seen = seen
        seen.living.add(self)

    async def handler(self, actor_id: str, ctx: RunContext) -> str:
        if await self.seen.meeting.wait() == 0:  # every run is inside of its handler now, and one of them counts
            self.seen.note_who_lives()
        assert self.connection.is_open
        self.seen.clients.append(self.connection.client)
        self.seen.actors.append((actor_id, ctx.invocation.actor_id, self.connection.actor_id))
        return self.connection.client.name


class AskingModel:
    """Calls the tool with the prompt, then says what it gave."""

    async def respond(self, request: ModelRequest) -> ModelResponse:
        first: Any = request.messages[0]
        last: Any = request.messages[-1]
        await asyncio.sleep(0)
        if first is last:
            return calls(call("look_up", {"actor_id": first.content}))
        return says(f"{first.content}: {last.content}")


class Application(containers.DeclarativeContainer):
    seen: Any = providers.Dependency(instance_of=Seen)
    client = AppScoped(open_client)
    connection = RunScoped(open_connection, client=client, invocation=ScopeValue(Invocation), seen=seen)
    look_up = provide(LookUp, connection=dep(connection), seen=dep(seen))
    hook = provide(Hook, connection=dep(connection), seen=dep(seen))
    model = providers.Singleton(AskingModel)
    agent: Any = provide(Agent, model=dep(model), tools=["look_up"], hooks=["hook"])


async def test_a_thousand_runs_at_once_share_the_applications_client_and_no_object_of_a_run_and_none_survives() -> None:
    seen = Seen(RUNS)
    actors = [f"actor {number}" for number in range(RUNS)]

    async with application(Application(seen=providers.Object(seen))) as app:
        agent = app.agent()
        async with asyncio.timeout(60):  # a run that never comes to its handler keeps all others waiting
            runs = await asyncio.gather(*(agent.run(actor, actor_id=actor) for actor in actors))
        answers = [run.response for run in runs]
        del runs
        gc.collect()
        survivors = list(seen.living)

    assert survivors == []
    assert answers == [f"{actor}: the client" for actor in actors]
    assert seen.most == {Connection: RUNS, LookUp: RUNS, Hook: RUNS}
    assert seen.opened == RUNS
    assert sorted(seen.actors) == sorted((actor, actor, actor) for actor in actors)
    assert len(seen.clients) == RUNS
    assert len(set(map(id, seen.clients))) == 1


async def test_what_a_kept_run_holds_is_no_object_that_its_scope_opened() -> None:
    seen = Seen(1)

    async with application(Application(seen=providers.Object(seen))) as app:
        run = await app.agent().run("ada", actor_id="ada")
        gc.collect()

        assert run.response == "ada: the client"
        assert not seen.living


async def test_five_tasks_with_overlapping_overrides_of_one_provider_each_see_their_own() -> None:
    names = ["first", "second", "third", "fourth", "fifth"]
    seen = Seen(len(names))
    container = Application(seen=providers.Object(seen))
    began, ended = asyncio.Barrier(len(names)), [asyncio.Event() for _ in names]

    async with application(container) as app:
        agent = app.agent()

        async def one(place: int) -> tuple[str, str, str]:
            with overriding(container, client=Client(names[place])):
                await began.wait()  # all five blocks are open, and all five runs meet in their handlers
                early = await agent.run("ada", actor_id="ada")
                await began.wait()
                if place:  # the blocks end in the order in which they began: each outlives the one before
                    await ended[place - 1].wait()
                seen.meeting = asyncio.Barrier(1)
                late = await agent.run("ada", actor_id="ada")
            ended[place].set()
            after = await agent.run("ada", actor_id="ada")
            return early.response, late.response, after.response

        async with asyncio.timeout(60):
            responses = await asyncio.gather(*(one(place) for place in range(len(names))))

    assert responses == [(f"ada: {name}", f"ada: {name}", "ada: the client") for name in names]
