"""A function as a tool, an agent without a container, and a guard."""

from datetime import date
from typing import Any, Literal

from toolkit import Agent, RunContext, tool
from toolkit.context import RequestedCall
from toolkit.hooks import Deny
from toolkit.testing import ScriptedModel, call, calls, says


@tool
def days_until(day: date, ctx: RunContext, unit: Literal["days", "weeks"] = "days") -> str:
    """Count the days from today until a day.

    Args:
        day: The day, such as 2026-12-24.
        unit: What to count.
    """
    days = (day - ctx.context["today"]).days
    return f"{days // 7} weeks" if unit == "weeks" else f"{days} days"


class NoPast:
    """A guard: what it refuses does not run, and neither does anything when the guard itself fails."""

    def on_before_call(self, ctx: RunContext, call: RequestedCall) -> Any:
        if call.arguments["day"] < ctx.context["today"].isoformat():
            return Deny("that day is over")


model = ScriptedModel(
    [
        calls(
            call("days_until", {"day": "2026-12-24"}),
            call("days_until", {"day": "2026-12-24", "unit": "weeks"}),
            call("days_until", {"day": "1969-07-20"}),
            call("days_until", {"day": "Christmas"}),
        ),
        says("Soon!"),
    ]
)
agent = Agent(model, tools=[days_until], hooks=[NoPast()])
run = agent.run_sync("How long until Christmas?", context={"today": date(2026, 12, 1)})
for record in run.calls:
    print(record.result.content)
print(run.response)

# prints:
# 23 days
# 3 weeks
# that day is over
# $.day: 'Christmas' is not a date such as 2024-05-31
# Soon!
