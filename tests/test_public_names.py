"""The names that users import: where they live, that nothing else is offered, and what importing them loads."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

NAMES = {
    "toolkit": (
        "Agent Run CallRecord Limits ITool Tool FunctionTool tool definition execute "
        "ToolDefinition ToolCall ToolResult RunContext Invocation Inject Usage "
        "ToolkitError ConfigurationError ToolError RunError LimitExceeded DeadlineExceeded RunAborted HookError "
        "ModelError OutputError CleanupError"
    ),
    "toolkit.hooks": "Allow Modify Deny Skip Abort Replace CallInfo",
    "toolkit.injection": (
        "AppScoped RunScoped CallScoped ScopeValue application check overriding provide dep Resolver resolver_for"
    ),
    "toolkit.models": (
        "Model ModelRequest ModelResponse ModelDelta TextDelta ReasoningDelta ToolCallDelta ModelDone ModelSettings "
        "KeywordModel from_environment RetryingModel FallbackModel OpenAIChatModel OpenAIResponsesModel AnthropicModel "
        "GeminiModel"
    ),
    "toolkit.messages": (
        "SystemMessage UserMessage AssistantMessage ToolMessage TextPart ImagePart DocumentPart ToolCall Usage "
        "messages_to_json messages_from_json"
    ),
    "toolkit.events": (
        "RunStarted TurnStarted TextDelta ReasoningDelta ToolCallStarted ToolCallFinished TurnFinished WarningRaised "
        "CustomEvent RunFinished"
    ),
    "toolkit.testing": "ScriptedModel says calls call ModelRequestsBlocked",
}
"""API.md, sections 6, 7 and 9."""

BESIDE = {
    "toolkit.events": "event_to_json",
    "toolkit.hooks": "Decision",
    "toolkit.messages": "Message Part ToolDefinition",
    "toolkit.testing": "ScriptExhausted assert_calls the_call transcript_of",
}
"""Names that a user may need beside the page's: in an annotation, an `except`, an assertion."""

HEAVY = "dependency_injector pydantic jsonschema jsonschema_rs httpx typer rich docstring_parser"


def words(text: str) -> set[str]:
    return set(text.split())


@pytest.mark.parametrize("module", NAMES)
def test_a_module_has_the_names_of_the_page(module: str) -> None:
    found = import_module(module)

    assert {name for name in words(NAMES[module]) if not hasattr(found, name)} == set()


@pytest.mark.parametrize("module", NAMES)
def test_a_module_offers_these_names_and_no_others(module: str) -> None:
    offered = import_module(module).__all__

    assert set(offered) == words(NAMES[module]) | words(BESIDE.get(module, ""))
    assert len(offered) == len(set(offered))


def test_a_name_has_one_meaning_wherever_it_is_offered() -> None:
    toolkit, messages, records = (import_module(f"toolkit{part}") for part in ("", ".messages", ".records"))

    assert toolkit.ToolCall is messages.ToolCall
    assert toolkit.Usage is messages.Usage
    assert toolkit.Run is records.Run


@pytest.mark.parametrize("package", ["toolkit", "toolkit.injection", "toolkit.models", "toolkit.testing"])
def test_a_name_is_no_module_whatever_was_imported_before(package: str) -> None:
    code = (
        "import sys, pkgutil; from importlib import import_module; from types import ModuleType; "
        f"package = import_module({package!r}); "
        "[import_module(f'{package.__name__}.{part.name}') for part in pkgutil.iter_modules(package.__path__)]; "
        "print([name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout == "[]\n"


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return words(done.stdout)


@pytest.mark.parametrize(
    "statement",
    [
        "from toolkit import *",
        "import toolkit.hooks, toolkit.messages, toolkit.events, toolkit.models",
        "from toolkit.testing import *",
    ],
)
def test_importing_the_core_loads_nothing_heavy(statement: str) -> None:
    loaded = loaded_by(statement)

    assert words(HEAVY) & loaded == set()
    assert "toolkit.tools.classes" in loaded_by("from toolkit import *")


@pytest.mark.parametrize("package", ["toolkit", "toolkit.testing"])
def test_a_package_loads_a_name_when_it_is_first_used(package: str) -> None:
    own = {"toolkit", "toolkit.exports", package}

    assert {name for name in loaded_by(f"import {package}") if name.split(".")[0] == "toolkit"} == own


def test_the_names_and_modules_of_a_package_are_found_as_if_it_had_loaded_them() -> None:
    code = (
        "import toolkit; print(toolkit.messages.UserMessage('hi').content, toolkit.Agent is toolkit.runs.agent.Agent, "
        "'Agent' in dir(toolkit), '__path__' in dir(toolkit), hasattr(toolkit, 'Agnet'), hasattr(toolkit, '_private'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "hi True True True False False\n"


def test_a_type_checker_knows_the_names_and_refuses_others(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from toolkit import Agent, Agnet\nfrom toolkit.testing import says, sais\nreveal_type(Agent)\n")

    done = subprocess.run([sys.executable, "-m", "mypy", str(wrong)], capture_output=True, text=True, check=False)

    assert 'has no attribute "Agnet"' in done.stdout
    assert 'has no attribute "sais"' in done.stdout
    assert "toolkit.runs.agent.Agent" in done.stdout
    assert done.stdout.count("error:") == 2


def test_declaring_tools_of_plain_types_loads_no_pydantic_and_no_container() -> None:
    loaded = loaded_by(
        "import toolkit; "
        "tool = toolkit.tool(name='t', description='Do it.')(lambda x: x); "
        "import asyncio; asyncio.run(tool.execute({'x': 1}))"
    )

    assert {
        name for name in ("pydantic", "dependency_injector", "jsonschema", "docstring_parser") if name in loaded
    } == set()
