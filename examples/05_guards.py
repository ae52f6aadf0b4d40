"""Hooks: guards that are asked before each call, and hooks that are told after it. Here, of function tools."""

from typing import Any

from toolkit import Agent, RunContext, tool
from toolkit.context import RequestedCall
from toolkit.hooks import Allow, CallInfo, Deny, Modify, Replace
from toolkit.testing import ScriptedModel, call, calls, says


@tool(needs_approval=True)  # no guard says Allow(), no call
def refund(order: str, pounds: float) -> str:
    """Give a customer money back."""
    return f"refunded {pounds:g} pounds for {order}; card 4929 1234"


class Clerk:
    """Asked before each call. What is denied does not run, and neither does anything when the guard itself fails."""

    def on_before_call(self, ctx: RunContext, call: RequestedCall) -> Any:
        if call.arguments["order"] not in ctx.context["orders"]:
            return Deny("this customer has no such order")
        if call.arguments["pounds"] > 50:
            return Modify({**call.arguments, "pounds": 50})  # then every guard is asked once more
        return Allow()


class Redaction:
    """Told after each call; it may replace what the model reads."""

    def on_after_call(self, ctx: RunContext, info: CallInfo) -> Any:
        if info.ok:
            return Replace(info.result.content.replace("card 4929 1234", "[a card]"))
        return None


model = ScriptedModel(
    [
        calls(call("refund", {"order": "ORD-1", "pounds": 20}), call("refund", {"order": "ORD-1", "pounds": 900})),
        calls(call("refund", {"order": "ORD-2", "pounds": 20}), call("refund", {"order": "ORD-1", "pounds": "all"})),
        says("Done."),
    ]
)
agent = Agent(model, tools=[refund], hooks=[Clerk(), Redaction()])
run = agent.run_sync("I want my money back!", context={"orders": ["ORD-1"]})
for record in run.calls:
    print(record.result.content)

# prints:
# refunded 20 pounds for ORD-1; [a card]
# refunded 50 pounds for ORD-1; [a card]
# this customer has no such order
# $.pounds: 'all' is not of type 'number'
