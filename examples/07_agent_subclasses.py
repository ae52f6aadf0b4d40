"""Agents as classes: a subclass says what it is by its attributes, and adds tools to those of its parent."""

from dataclasses import dataclass
from typing import Literal

from toolkit import Agent, Limits, RunContext, tool
from toolkit.testing import ScriptedModel, call, calls, says


@tool
def opening_hours() -> str:
    """Tell when the shop is open."""
    return "Monday to Friday, 9 to 17"


@tool
def order_status(order: str) -> str:
    """Tell where an order is."""
    return f"{order} is on its way"


class ShopAgent(Agent[str]):
    tools = (opening_hours,)
    limits = Limits(max_turns=5, on_limit="answer")

    @staticmethod
    def instructions(ctx: RunContext) -> str:  # asked at the start of each run
        return f"You work for a shop. The customer is {ctx.invocation.actor_id or 'unknown'}."


class OrderAgent(ShopAgent):
    name = "orders"
    tools = (order_status,)  # besides the opening hours


@dataclass
class Ticket:
    subject: str
    urgency: Literal["low", "high"]


class TriageAgent(Agent[Ticket]):  # the answer is a Ticket, and a type checker knows it
    name = "triage"
    output_type = Ticket


model = ScriptedModel([calls(call("order_status", {"order": "ORD-1"}), call("opening_hours")), says("On its way.")])
run = OrderAgent(model).run_sync("Where is ORD-1, and when are you open?", actor_id="ada")
print(model.requests[0].messages[0].text)
print([record.result.content for record in run.calls])

ticket = TriageAgent(ScriptedModel([says('{"subject": "ORD-1 is late", "urgency": "low"}')])).run_sync("...").output
print(ticket)

# prints:
# You work for a shop. The customer is ada.
# ['ORD-1 is on its way', 'Monday to Friday, 9 to 17']
# Ticket(subject='ORD-1 is late', urgency='low')
