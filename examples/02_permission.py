"""The application decides who may do what, by what it handed to the run, whatever the model asks for."""

import asyncio
from typing import Annotated

from dependency_injector import containers, providers
from msgspec import Meta

from toolkit import Agent, Invocation, Tool, ToolError
from toolkit.injection import application, provide
from toolkit.testing import ScriptedModel, call, calls, says

Pounds = Annotated[float, Meta(gt=0)]


class Wallets:
    def __init__(self) -> None:
        self.pounds = {"ada": 100.0, "grace": 20.0}


class PayTool(Tool):
    """Pay somebody from the customer's own wallet."""

    name = "pay"

    def __init__(self, wallets: Wallets, invocation: Invocation) -> None:  # the invocation comes from `run(...)`
        self.wallets = wallets
        self.payer = invocation.actor_id
        self.limit = invocation.context["limit"]

    def handler(self, payee: str, pounds: Pounds) -> str:
        if self.payer is None:
            raise ToolError("only a customer who is signed in can pay")
        if pounds > self.limit:
            raise ToolError(f"{self.payer} may pay {self.limit} pounds at most")
        self.wallets.pounds[self.payer] -= pounds
        return f"{self.payer} paid {pounds:g} pounds to {payee}"


class Application(containers.DeclarativeContainer):
    wallets = providers.Singleton(Wallets)
    agent = provide(Agent, tools=[PayTool])


async def main() -> None:
    model = ScriptedModel(
        [
            calls(
                call("pay", {"payee": "grace", "pounds": 5}),
                call("pay", {"payee": "grace", "pounds": 500}),
                call("pay", {"payee": "ada", "pounds": 5, "payer": "grace"}),  # no such argument
            ),
            says("That is all that I could do."),
        ]
    )
    async with application(Application()) as app:
        run = await app.agent().run("Pay Grace!", model=model, actor_id="ada", context={"limit": 50})
    for record in run.calls:
        print("error:" if record.error else "ok:", record.result.content)


asyncio.run(main())

# prints:
# ok: ada paid 5 pounds to grace
# error: ada may pay 50 pounds at most
# error: $.payer: Additional properties are not allowed ('payer' was unexpected)
