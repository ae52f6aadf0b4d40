"""A tool is an object: a description, a handler that the model may call, and what the handler works with."""

import json

from toolkit import Agent, Tool, ToolError, definition
from toolkit.testing import ScriptedModel, call, calls, says


class Stock:
    """Yours: a database, a client of some service, anything."""

    def __init__(self) -> None:
        self.pieces = {"teapot": 3, "kettle": 0}


class StockTool(Tool):
    """Tell how many pieces of an article are in stock."""  # what the model reads

    name = "stock"

    def __init__(self, stock: Stock) -> None:  # what the model never sees
        self.stock = stock

    def handler(self, article: str) -> int:  # what the model fills in
        """
        Args:
            article: Name of the article, such as "teapot".
        """
        if article not in self.stock.pieces:
            raise ToolError(f"there is no article {article!r}")  # the model reads exactly this
        return self.stock.pieces[article]


print(json.dumps(definition(StockTool).input_schema["properties"]))

# A scripted model says what its script says, so this needs no key. A real one takes its place.
model = ScriptedModel(
    [
        calls(
            call("stock", {"article": "teapot"}), call("stock", {"article": "samovar"}), call("stock", {"article": 7})
        ),
        says("We have three teapots."),
    ]
)
agent = Agent(model, tools=[StockTool(Stock())])
run = agent.run_sync("Do you have teapots or samovars?")
for record in run.calls:
    print("error:" if record.error else "ok:", record.result.content)
print(run.response)

# prints:
# {"article": {"type": "string", "description": "Name of the article, such as \"teapot\"."}}
# ok: 3
# error: there is no article 'samovar'
# error: $.article: 7 is not of type 'string'
# We have three teapots.
