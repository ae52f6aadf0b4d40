"""`toolwire demo`: three questions to the support desk."""

from __future__ import annotations

from toolkit.cli.loading import DEFAULT_APP
from toolkit.cli.models import opened_model
from toolkit.cli.opening import open_agent
from toolkit.cli.printing import print_line, print_run
from toolkit.cli.progress import run_with_progress
from toolkit.models.choice import ModelChoice

__all__ = ["show_demo"]

_ACTOR, _ACCOUNT = "ada", "acme"  # a member and her account in the support desk's sample data

_QUESTIONS = (
    ("a ticket", "How is ticket SUP-481 getting on?"),
    ("an order of her own", "Where is my order ORD-1001?"),
    ("an order of somebody else, which she is not told", "Where is my order ORD-2002?"),
)


async def show_demo(choice: ModelChoice) -> None:
    """Asks each question in a run of its own, and prints calls, arguments, results and durations."""
    who = "keyword model" if choice.provider is None else f"model {choice}"
    async with opened_model(choice) as model, open_agent(DEFAULT_APP, "agent", model) as agent:
        print_line(f"The support desk, asked by {_ACTOR} of the account {_ACCOUNT}. The {who} chooses the tools:")
        if choice.provider is None:
            print_line("it matches words, and needs no key and no network.")
        for about, question in _QUESTIONS:
            print_line()
            print_line(f"{question}  ({about})", "bold")
            context = {"account_id": _ACCOUNT}
            print_run(await run_with_progress(agent, question, model=model, actor_id=_ACTOR, context=context))
