"""The commands, one function each: what they take, and in which order they do it."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, Any, cast

import msgspec
import typer

from toolkit.cli.demo import show_demo
from toolkit.cli.failures import Failed, failing_in_one_line, print_tracebacks
from toolkit.cli.loading import DEFAULT_APP, load_container
from toolkit.cli.models import choice_of, opened_model, ping, ping_of_app, show_models
from toolkit.cli.opening import open_agent, open_app, tools_named
from toolkit.cli.printing import cause_of, print_json, print_line, print_run, print_tools
from toolkit.cli.progress import run_with_progress
from toolkit.cli.run_json import run_to_json
from toolkit.context import RunContext
from toolkit.errors import ConfigurationError, LimitExceeded, OutputError, RunError, ToolError
from toolkit.injection import check
from toolkit.injection.drawing import draw
from toolkit.injection.runnable import RunOptions
from toolkit.models import Model
from toolkit.models.choice import ModelChoice
from toolkit.records import CallRecord, Run
from toolkit.testing import ScriptedModel, call, calls, says

__all__ = ["command_line"]

command_line = typer.Typer(
    name="toolwire",
    help="Agents whose tools are built by the application's own container.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

App = Annotated[
    str,
    typer.Option(
        "--app",
        metavar="MODULE:CONTAINER",
        help="The application's container: its class, a function that makes it, or one that is made.",
    ),
]
AgentName = Annotated[str, typer.Option("--agent", metavar="NAME", help="The provider of the agent.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Where the model of --model is asked; often ends in /v1."),
]
Actor = Annotated[str | None, typer.Option("--actor-id", metavar="ID", help="Who is asking.")]
Context = Annotated[
    str | None, typer.Option("--context", metavar="JSON", help="An object for the run's context, such as an account.")
]
Traceback = Annotated[bool, typer.Option("--traceback", help="Print the traceback of an error, too.")]

_MORE = "--traceback tells where"


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print_line(f"toolwire {version('toolwire')}")
        raise typer.Exit


@command_line.callback(invoke_without_command=True)
def toolwire(
    ctx: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        print_line(ctx.get_help())
        raise typer.Exit(2)


@command_line.command("ask")
def ask_agent(
    prompt: Annotated[str, typer.Argument(help="What to ask.")],
    app: App = DEFAULT_APP,
    agent: AgentName = "agent",
    model: Annotated[
        str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="Instead of the agent's model.")
    ] = None,
    base_url: BaseUrl = None,
    actor_id: Actor = None,
    context: Context = None,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """Ask an agent, and print its calls and its answer."""
    with failing_in_one_line(traceback):
        chosen = None if model is None and base_url is None else choice_of(model, base_url)
        run, error = asyncio.run(_asked_of(chosen, app, agent, prompt, actor_id, _context_of(context)))
        if as_json:
            print_json(run_to_json(run, error))
        else:
            print_run(run, "" if traceback else _MORE)
        if traceback:
            print_tracebacks(cause for record in run.calls for cause in _causes(record))
        if error is not None:
            raise error
        if run.outcome != "completed":
            raise Failed("a limit was reached, so the answer is partial")


@command_line.command("tools")
def list_tools(
    app: App = DEFAULT_APP,
    agent: AgentName = "agent",
    actor_id: Actor = None,
    context: Context = None,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List an agent's tools, with all that a model is shown of them."""
    with failing_in_one_line(traceback):
        model, listing = ScriptedModel([says("")]), _Listing()
        _, error = asyncio.run(_asked(app, agent, "", model, actor_id, _context_of(context), tools=[listing]))
        _raise_unless_of_the_script(error)
        tools, approvals = model.requests[0].tools, listing.needing_approval
        if as_json:
            print_json([msgspec.to_builtins(tool) | {"needs_approval": tool.name in approvals} for tool in tools])
        else:
            print_tools(tools, approvals)


class _Listing:
    """Stands beside the tools of a run, adds none, and learns which of them need approval: no model is told."""

    _ctx = RunContext()

    def tools(self, ctx: RunContext) -> list[Any]:
        self._ctx = ctx
        return []

    @property
    def needing_approval(self) -> frozenset[str]:
        return self._ctx.agent.needing_approval


@command_line.command("call")
def call_tool(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, as a model would send them.")] = "{}",
    app: App = DEFAULT_APP,
    agent: AgentName = "agent",
    actor_id: Actor = None,
    context: Context = None,
    traceback: Traceback = False,
) -> None:
    """Call one tool as a model would: in a run, through its guards. Prints what a model would read.

    It may be one that the agent does not list: of the application's container, or of one that is embedded there.
    """
    with failing_in_one_line(traceback):
        run, error = asyncio.run(_called(app, agent, name, arguments, actor_id, _context_of(context)))
        _raise_unless_of_the_script(error)
        [record] = run.calls
        if record.result.is_error:
            raise Failed(_failure_of(record, "" if traceback else _MORE), causes=_causes(record))
        print_line(record.result.content)


def _failure_of(record: CallRecord, hint: str) -> str:
    """What a model would read of a call that failed, and why it did, where a model is not told."""
    told, cause = record.result.content, cause_of(record)
    if not cause:
        return told
    before = told.removesuffix(f": {type(record.error).__name__}")  # the class is told; its text stands behind it
    return f"{before}: {cause}" + (f" ({hint})" if hint else "")


@command_line.command("check")
def check_container(app: App = DEFAULT_APP, traceback: Traceback = False) -> None:
    """Find what is wrong with a container, without opening anything."""
    with failing_in_one_line(traceback), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        container = load_container(app)
        try:
            check(container)
        except ConfigurationError as error:
            findings = str(error).split("\n- ")
            for finding in findings[1:]:
                print_line(f"- {finding}")
            reason = findings[0] if len(findings) == 1 else f"{len(findings) - 1} faults"
            raise Failed(f"{app} is not wired well: {reason}", causes=(error,)) from error
        for warning in warned:
            print_line(f"warning: {warning.message}")
        print_line(f"{app} is wired well: {len(container.providers)} providers")


@command_line.command("graph")
def draw_container(app: App = DEFAULT_APP, traceback: Traceback = False) -> None:
    """Draw a container as Mermaid: what needs what, how long it lives."""
    with failing_in_one_line(traceback):
        print_line(draw(load_container(app)).removesuffix("\n"))


@command_line.command("demo")
def demo(
    live: Annotated[bool, typer.Option("--live", help="Ask a provider's model instead of the keyword model.")] = False,
    traceback: Traceback = False,
) -> None:
    """Ask the support desk three questions, with no key and no network."""
    with failing_in_one_line(traceback):
        asyncio.run(show_demo(choice_of(None if live else "keyword")))


@command_line.command("models")
def list_models(
    model: Annotated[str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="The model to ping.")] = None,
    base_url: BaseUrl = None,
    app: Annotated[
        str | None, typer.Option("--app", metavar="MODULE:CONTAINER", help="The container whose model to ping.")
    ] = None,
    agent: AgentName = "agent",
    is_pinged: Annotated[bool, typer.Option("--ping", help="Ask the chosen model one short question.")] = False,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List the providers of models, and what the environment chooses."""
    with failing_in_one_line(traceback):
        named = [option for option, given in (("--model", model), ("--base-url", base_url), ("--app", app)) if given]
        if not is_pinged:
            if named:
                raise Failed(f"{named[0]} says which model to ping; add --ping")
            show_models(as_json=as_json)
        elif app is None:
            asyncio.run(ping(choice_of(model, base_url), as_json=as_json))
        elif len(named) > 1:
            raise Failed(f"--app pings the container's own model; leave {named[0]} out")
        else:
            asyncio.run(ping_of_app(app, agent, as_json=as_json))


async def _asked_of(
    choice: ModelChoice | None, app: str, agent: str, prompt: str, actor_id: str | None, context: dict[str, Any]
) -> tuple[Run[Any], RunError | ConfigurationError | None]:
    """The run with the model that was chosen, or with the agent's own."""
    if choice is None:
        return await _asked(app, agent, prompt, None, actor_id, context)
    async with opened_model(choice) as model:
        return await _asked(app, agent, prompt, model, actor_id, context)


async def _asked(
    app: str,
    agent: str,
    prompt: str,
    model: Model | None,
    actor_id: str | None,
    context: dict[str, Any],
    *,
    tools: Sequence[Any] = (),
) -> tuple[Run[Any], RunError | ConfigurationError | None]:
    """The run, also when it failed, and what it ended with."""
    asked: RunOptions = {"model": model, "actor_id": actor_id, "context": context, "tools": tools}
    async with open_agent(app, agent, model) as opened:
        return await _ended(run_with_progress(opened, prompt, **asked))


async def _called(
    app: str, agent: str, name: str, arguments: str, actor_id: str | None, context: dict[str, Any]
) -> tuple[Run[Any], RunError | ConfigurationError | None]:
    """The run in which a model calls the tool."""
    model = ScriptedModel([calls(call(name, arguments)), says("")])
    async with open_app(app, agent, model) as opened:
        caller: dict[str, Any] = {"actor_id": actor_id, "context": context}
        ended = await _ended(run_with_progress(opened.agent(agent), "", model=model, **caller))
        more = tools_named(opened.container, name)
        if not more or not model.requests or name in {shown.name for shown in model.requests[0].tools}:
            return ended
        model = ScriptedModel([calls(call(name, arguments)), says("")])
        return await _ended(run_with_progress(opened.agent(agent), "", model=model, tools=more, **caller))


async def _ended(running: Awaitable[Run[Any]]) -> tuple[Run[Any], RunError | ConfigurationError | None]:
    try:
        return await running, None
    except (RunError, ConfigurationError) as error:
        if error.run is None:
            raise
        return error.run, error


def _raise_unless_of_the_script(error: RunError | ConfigurationError | None) -> None:
    """Raises what went wrong, but for what an agent has to find wrong with a model that only says nothing."""
    if error is not None and not isinstance(error, (LimitExceeded, OutputError)):
        raise error


def _causes(record: CallRecord) -> tuple[BaseException, ...]:
    """The exception of a failed call, unless its text is the result already."""
    return () if record.error is None or isinstance(record.error, ToolError) else (record.error,)


def _context_of(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        context: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise Failed(f"--context is no JSON: {error}") from error
    if not isinstance(context, Mapping):
        raise Failed('--context has to be a JSON object, such as {"account_id": "acme"}')
    return dict(cast("Mapping[str, Any]", context))
