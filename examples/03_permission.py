"""The application decides who may do what, by what it handed to the run, whatever the model asks for."""

import asyncio

from dependency_injector import containers, providers

from toolkit import Agent, Invocation, Tool, ToolError
from toolkit.injection import application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Wallets(dict[str, float]):
    """How many pounds everybody has."""


class PayTool(Tool):
    """Pay somebody from the customer's own wallet."""

    name = "pay"

    def __init__(self, wallets: Wallets, invocation: Invocation) -> None:  # the invocation comes from `run(...)`
        self.wallets = wallets
        self.payer, self.limit = invocation.actor_id, invocation.context["limit"]

    def handler(self, payee: str, pounds: float) -> str:
        if self.payer is None or not 0 < pounds <= self.limit:
            raise ToolError(f"{self.payer} may pay {self.limit} pounds at most")
        self.wallets[self.payer] -= pounds
        return f"{self.payer} paid {pounds:g} pounds to {payee}"


class Application(containers.DeclarativeContainer):
    wallets = providers.Singleton(Wallets, ada=100.0, grace=20.0)
    agent = provide(Agent, tools=[PayTool])


model = ScriptedModel(
    [
        calls(call("pay", {"payee": "grace", "pounds": 5}), call("pay", {"payee": "grace", "pounds": 500})),
        calls(call("pay", {"payee": "ada", "pounds": 5, "payer": "grace"})),  # no such argument
        says("That is all."),
    ]
)


async def main() -> None:
    async with application(Application()) as app:
        run = await app.agent().run("Pay Grace!", model=model, actor_id="ada", context={"limit": 50})
    for record in run.calls:
        print("error:" if record.error else "ok:", record.result.content)


asyncio.run(main())

# prints:
# ok: ada paid 5 pounds to grace
# error: ada may pay 50 pounds at most
# error: $.payer: Additional properties are not allowed ('payer' was unexpected)
