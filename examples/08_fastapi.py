"""In FastAPI: the application is open while the server runs, and each request makes a run. Run this one by pytest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from dependency_injector import containers, providers
from fastapi import FastAPI, Header, Request
from fastapi.testclient import TestClient

from toolkit import Agent, Invocation, Tool
from toolkit.injection import application, provide
from toolkit.models import KeywordModel


class Orders(dict[str | None, list[str]]):
    """The orders of each customer. Yours would ask a database."""


class OrdersTool(Tool):
    """List the orders of the customer who is asking."""

    def __init__(self, orders: Orders, invocation: Invocation) -> None:
        self.orders, self.customer = orders, invocation.actor_id

    async def handler(self) -> list[str]:
        return self.orders.get(self.customer, [])


class Shop(containers.DeclarativeContainer):
    orders = providers.Singleton(Orders)
    agent = provide(Agent, model=KeywordModel(), tools=[OrdersTool])


@asynccontextmanager
async def lifespan(web: FastAPI) -> AsyncIterator[dict[str, Any]]:
    async with application(container) as app:
        yield {"app": app}  # becomes the `state` of each request


container, web = Shop(), FastAPI(lifespan=lifespan)  # uvicorn 08_fastapi:web --app-dir examples


@web.post("/ask")
async def ask(question: str, customer: Annotated[str, Header()], request: Request) -> str:
    run = await request.state.app.agent().run(question, actor_id=customer)  # yours takes it from the login
    return run.response


def test_customers_are_told_of_their_own_orders(override) -> None:
    override(container, orders=Orders(ada=["ORD-1"], grace=["ORD-2"]))
    with TestClient(web) as client:  # the block is what runs the lifespan
        answer = client.post("/ask?question=What are my orders?", headers={"customer": "ada"})
    assert answer.json() == '(keyword model, no language model) orders_tool: ["ORD-1"]'


# prints:
# 1 passed
