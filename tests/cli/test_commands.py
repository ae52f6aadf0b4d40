"""`toolwire ask`, `tools`, `call` and `check`: what they print, and their exit status."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import Command

SHOP = ("--app", "shop:Shop")


def test_ask_prints_the_calls_and_the_answer(toolwire: Command) -> None:
    answer = toolwire("ask", 'echo "hello"', *SHOP)

    assert (answer.status, answer.err) == (0, "")
    assert [line.split(" ", 3)[2] for line in answer.out.splitlines()] == ["call", "result", "answer"]
    assert '  call   echo {"text": "hello"}\n  result hello  (' in answer.out


def test_ask_asks_the_agent_that_is_named(toolwire: Command) -> None:
    assert "The tools: echo, crash." in toolwire("ask", "?", *SHOP).out
    assert "The tools: echo." in toolwire("ask", "?", *SHOP, "--agent", "other").out


def test_ask_with_another_model_does_not_build_the_agents_own(toolwire: Command) -> None:
    answer = toolwire("ask", 'echo "hello"', "--app", "shop:Locked", "--model", "keyword")

    assert (answer.status, answer.err) == (0, "")
    assert "result hello" in answer.out


def test_ask_tells_the_tools_who_is_asking(toolwire: Command) -> None:
    question = ("ask", "Where is order ORD-1001?", "--model", "keyword")
    ada = toolwire(*question, "--actor-id", "ada", "--context", '{"account_id": "acme"}')
    nobody = toolwire(*question)

    assert "shipped" in ada.out
    assert "orders are told to signed-in customers only" in nobody.out


def test_a_call_that_fails_is_no_failure_of_the_run(toolwire: Command) -> None:
    answer = toolwire("ask", 'crash "here"', *SHOP)

    assert (answer.status, answer.err) == (0, "")
    assert "  error  tool 'crash' failed: LookupError  (" in answer.out


def test_ask_tells_why_a_call_failed_which_the_model_does_not_learn(toolwire: Command) -> None:
    answer = toolwire("ask", 'crash "here"', *SHOP)

    *_, cause, answered = answer.out.splitlines()
    assert cause == "  cause  LookupError: secret of the developer: here  (--traceback tells where)"
    assert answered.endswith("crash could not help: tool 'crash' failed: LookupError")


def test_ask_with_a_traceback_tells_no_more_how_to_get_one(toolwire: Command) -> None:
    traced = toolwire("ask", 'crash "here"', *SHOP, "--traceback")

    assert "\n  cause  LookupError: secret of the developer: here\n" in traced.out
    assert "LookupError: secret of the developer" in traced.err


def test_ask_tells_no_cause_where_the_model_was_told(toolwire: Command) -> None:
    assert "  cause  " not in toolwire("ask", 'echo "forbidden"', *SHOP).out


FAILING = """
import asyncio

from dependency_injector import containers

from toolkit import Agent, ConfigurationError, tool
from toolkit.hooks import Replace
from toolkit.injection import provide


class Odd:
    def on_before_call(self, ctx, call):
        if call.name == "guarded":
            raise OSError("the register is gone")

    def on_after_call(self, ctx, info):
        if info.call.name == "replaced":
            return Replace("all is well")


@tool
def configured():
    'Need a setting.'
    raise ConfigurationError("there is no till; set SHOP_TILL=1\\nand start again")


@tool
def silent():
    'Say nothing.'
    raise KeyError


@tool(timeout=0.01)
async def slow():
    'Wait.'
    await asyncio.sleep(60)


@tool(output_schema={"type": "integer"})
def mistaken():
    'Count.'
    return "three"


@tool
def guarded():
    'Be guarded.'


@tool
def steering():
    'Steer the terminal.'
    raise OSError("x\\x1b]0;owned\\x07")


@tool
def replaced():
    'Be replaced.'
    raise OSError("nothing is well")


class Failing(containers.DeclarativeContainer):
    agent = provide(Agent, tools=[configured, silent, slow, mistaken, guarded, steering, replaced], hooks=[Odd()])
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param(
            "configured",
            "tool 'configured' failed: ConfigurationError: there is no till; set SHOP_TILL=1 and start again (MORE)",
            id="a configuration error",
        ),
        pytest.param("silent", "tool 'silent' failed: KeyError (MORE)", id="no text"),
        pytest.param("slow", "tool 'slow' took longer than 0.01 seconds", id="told to the model"),
        pytest.param(
            "mistaken",
            "tool 'mistaken' failed: OutputMismatch: $: 'three' is not of type 'integer' (MORE)",
            id="a wrong result",
        ),
        pytest.param(
            "guarded",
            "blocked by a guard: HookError: Odd.on_before_call raised OSError('the register is gone') (MORE)",
            id="a guard that fails",
        ),
        pytest.param(
            "steering", "tool 'steering' failed: OSError: x\\x1b]0;owned\\x07 (MORE)", id="control characters"
        ),
    ],
)
def test_call_tells_why_a_tool_failed(toolwire: Command, folder: Path, name: str, told: str) -> None:
    (folder / "failing.py").write_text(FAILING)

    answer = toolwire("call", name, "--app", "failing:Failing")

    assert (answer.status, answer.out) == (1, "")
    assert answer.err == f"toolwire: {told.replace('MORE', '--traceback tells where')}\n"


def test_ask_tells_a_cause_of_several_lines_without_control_characters(toolwire: Command, folder: Path) -> None:
    (folder / "failing.py").write_text(FAILING)

    configured, steering = (
        toolwire("ask", f"{name} now", "--app", "failing:Failing", "--model", "keyword").out
        for name in ("configured", "steering")
    )

    assert "\n  cause  ConfigurationError: there is no till; set SHOP_TILL=1\n         and start again  (" in configured
    assert "\n  cause  OSError: x\\x1b]0;owned\\x07  (" in steering


def test_ask_tells_no_cause_where_a_hook_made_a_success_of_it(toolwire: Command, folder: Path) -> None:
    (folder / "failing.py").write_text(FAILING)

    answer = toolwire("ask", "replaced now", "--app", "failing:Failing", "--model", "keyword")

    assert [line.split()[0] for line in answer.out.splitlines()] == ["call", "result", "answer"]


def test_ask_prints_the_run_as_json(toolwire: Command) -> None:
    answer = toolwire("ask", 'echo "hello"', *SHOP, "--json", "--actor-id", "ada")

    run = json.loads(answer.out)
    [call] = run["calls"]
    assert answer.status == 0
    assert (run["outcome"], run["error"], run["turns"], run["actor_id"]) == ("completed", None, 2, "ada")
    assert run["response"] == run["output"] == "(keyword model, no language model) echo: hello"
    assert (call["name"], call["arguments"], call["content"]) == ("echo", {"text": "hello"}, "hello")
    assert (call["is_error"], call["error"]) == (False, None)
    assert call["seconds"] >= 0
    assert [message["type"] for message in run["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_json_holds_neither_the_context_nor_the_text_of_an_exception(toolwire: Command) -> None:
    answer = toolwire("ask", 'crash "here"', *SHOP, "--json", "--context", '{"token": "tok-123"}')

    run = json.loads(answer.out)
    assert run["calls"][0]["error"] == "LookupError"
    assert "secret of the developer" not in answer.out
    assert "tok-123" not in answer.out


def test_json_of_a_run_that_failed_names_the_class_of_its_error_only(toolwire: Command) -> None:
    answer = toolwire("ask", "echo", *SHOP, "--agent", "broken", "--json")

    run = json.loads(answer.out)
    assert answer.status == 1
    assert (run["outcome"], run["error"]) == ("failed", "ModelError")
    assert "cable" not in answer.out


def test_the_status_is_not_0_when_a_limit_ends_the_run(toolwire: Command) -> None:
    raised = toolwire("ask", "echo", *SHOP, "--agent", "limited")
    answered = toolwire("ask", "echo", *SHOP, "--agent", "partial")

    assert (raised.status, raised.err) == (1, "toolwire: the run reached its limit max_turns=1\n")
    assert "call   echo" in raised.out
    assert (answered.status, answered.err) == (1, "toolwire: a limit was reached, so the answer is partial\n")


def test_tools_prints_what_a_model_is_shown(toolwire: Command) -> None:
    answer = toolwire("tools", *SHOP, "--agent", "other")

    name, description, *schema = answer.out.splitlines()
    assert (answer.status, answer.err) == (0, "")
    assert (name, description) == ("echo", "  Echo a text.")
    assert json.loads("".join(schema)) == {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }


def test_tools_tells_which_need_approval(toolwire: Command, folder: Path) -> None:
    (folder / "payments.py").write_text(PAYMENTS)

    listed = json.loads(toolwire("tools", "--app", "payments:Payments", "--json").out)
    names = [line for line in toolwire("tools", "--app", "payments:Payments").out.splitlines() if line[:1].isalpha()]

    assert {tool["name"]: tool["needs_approval"] for tool in listed} == {"balance": False, "pay": True, "given": True}
    assert names == ["balance", "pay  (needs approval)", "given  (needs approval)"]


PAYMENTS = """
from dependency_injector import containers
from toolkit import Agent, Tool, tool
from toolkit.injection import provide


@tool
def balance() -> str:
    'Tell the balance.'
    return "100"


class PayTool(Tool):
    'Pay somebody.'
    name, needs_approval = "pay", True

    def handler(self, payee: str) -> str:
        return payee


class Given:
    def tools(self, ctx):
        return [Tool.define(name="given", description="Give.", handler=lambda: "", needs_approval=True), Hidden]


class Hidden(PayTool):
    'Hide.'
    name = "hidden"

    @staticmethod
    def available_if(ctx):
        return False


class Payments(containers.DeclarativeContainer):
    agent = provide(Agent, tools=[balance, PayTool, Given()])
"""


def test_tools_needs_no_model(toolwire: Command) -> None:
    assert [tool["name"] for tool in json.loads(toolwire("tools", "--json").out)] == [
        "ticket_status",
        "order_status",
        "wikipedia_search",
    ]
    assert toolwire("tools", "--app", "shop:Locked").status == 0


def test_call_prints_what_a_model_would_read(toolwire: Command) -> None:
    answer = toolwire("call", "echo", '{"text": "one\\ntwo"}', *SHOP)

    assert (answer.status, answer.out, answer.err) == (0, "one\ntwo\n", "")


def test_call_needs_no_model_and_tells_who_is_asking(toolwire: Command) -> None:
    caller = ("--actor-id", "ada", "--context", '{"account_id": "acme"}')
    answer = toolwire("call", "order_status", '{"order_id": "ORD-1001"}', *caller)

    assert answer.status == 0
    assert json.loads(answer.out)["status"] == "shipped"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("wikipedia_page", '{"title": "Ada Lovelace"}'), ("linear_search_issues", '{"query": "login"}')],
)
def test_call_finds_a_tool_of_an_embedded_container_that_the_agent_does_not_list(
    toolwire: Command, monkeypatch: pytest.MonkeyPatch, name: str, arguments: str
) -> None:
    for variable in ("TOOLWIRE_CONTACT", "LINEAR_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    listed = toolwire("tools", "--json")
    answer = toolwire("call", name, arguments)

    assert name not in {tool["name"] for tool in json.loads(listed.out)}
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("toolwire: not configured: ")
    assert answer.err.count("\n") == 1


def test_call_leaves_a_tool_unknown_that_is_switched_off(toolwire: Command) -> None:
    answer = toolwire("call", "linear_create_issue", '{"title": "x"}')

    assert answer.err.startswith("toolwire: unknown tool 'linear_create_issue'")


@pytest.mark.parametrize("name", ["model", "database", "builtin_tools", "linear_client"])
def test_call_takes_no_other_provider_for_a_tool(toolwire: Command, name: str) -> None:
    assert toolwire("call", name, "{}").err.startswith(f"toolwire: unknown tool '{name}'")


@pytest.mark.parametrize("agent", ["typed", "limited", "partial"])
def test_tools_and_call_ask_for_no_answer(toolwire: Command, agent: str) -> None:
    called = toolwire("call", "echo", '{"text": "hello"}', *SHOP, "--agent", agent)
    listed = toolwire("tools", *SHOP, "--agent", agent)

    assert (called.status, called.out, called.err) == (0, "hello\n", "")
    assert (listed.status, listed.out[:5]) == (0, "echo\n")


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        pytest.param("ecko", "{}", "unknown tool 'ecko'; the tools are echo, crash", id="unknown tool"),
        pytest.param("echo", '{"text": ', "the arguments are not JSON", id="no JSON"),
        pytest.param("echo", '{"text": 1}', "$.text: 1 is not of type 'string'", id="wrong type"),
        pytest.param("echo", "{}", "$.text: ", id="missing argument"),
        pytest.param("echo", '{"text": "forbidden"}', "that word is forbidden", id="denied by a guard"),
        pytest.param(
            "crash",
            '{"text": "x"}',
            "tool 'crash' failed: LookupError: secret of the developer: x (--traceback tells where)",
            id="failing tool",
        ),
    ],
)
def test_call_fails_in_one_line_when_the_call_does(toolwire: Command, name: str, arguments: str, error: str) -> None:
    answer = toolwire("call", name, arguments, *SHOP)

    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith(f"toolwire: {error}")
    assert answer.err.count("\n") == 1


def test_check_says_that_a_container_is_wired_well(toolwire: Command) -> None:
    answer = toolwire("check")

    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("containers.support_desk:SupportDesk is wired well: ")


def test_check_lists_every_fault(toolwire: Command) -> None:
    answer = toolwire("check", "--app", "shop:Miswired")

    assert answer.status == 1
    assert all(line.startswith("- '") for line in answer.out.splitlines())
    assert "'missing': this dependency is not defined" in answer.out
    assert "KeywordModel takes 0 positional arguments and is given 1" in answer.out
    assert answer.err == f"toolwire: shop:Miswired is not wired well: {len(answer.out.splitlines())} faults\n"


def test_check_passes_on_what_was_warned_of(toolwire: Command) -> None:
    answer = toolwire("check", "--app", "shop:Copying")

    assert answer.status == 0
    assert answer.out.startswith("warning: Factory(Agent) is given a KeywordModel")


@pytest.mark.parametrize("app", ["shop:Shop", "shop:make", "shop:made"], ids=["class", "function", "container"])
def test_an_application_is_a_class_a_function_or_a_container(toolwire: Command, app: str) -> None:
    assert toolwire("check", "--app", app).status == 0


def test_the_help_says_what_may_be_given_as_an_application(toolwire: Command) -> None:
    told = " ".join(toolwire("check", "--help").out.split())

    assert "its class, a function that makes it, or one that is made." in told


def test_graph_draws_a_container_as_mermaid(toolwire: Command) -> None:
    answer = toolwire("graph", "--app", "shop:Shop")

    assert answer.status == 0
    assert answer.out.startswith("flowchart LR\n")
    assert "<br/>KeywordModel" in answer.out


def test_the_version_is_that_of_the_distribution(toolwire: Command) -> None:
    answer = toolwire("--version")

    assert (answer.status, answer.out, answer.err) == (0, f"toolwire {version('toolwire')}\n", "")


def test_the_help_lists_every_command_in_a_whole_sentence(toolwire: Command) -> None:
    listed = toolwire("--help").out.partition("Commands:")[2].strip().splitlines()

    assert [line.split()[0] for line in listed] == ["ask", "tools", "call", "check", "graph", "demo", "models"]
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []
