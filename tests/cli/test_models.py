"""`toolwire models`: what there is, what the environment chooses, and whether it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.cli.conftest import Command
from toolkit.models.catalogue import PROVIDERS


class Chat(BaseHTTPRequestHandler):
    """A server of chat completions that always says the same."""

    asked: ClassVar[list[tuple[str, str | None]]] = []
    """The path and the key of each request."""

    def do_POST(self) -> None:
        self.asked.append((self.path, self.headers["authorization"]))
        self.rfile.read(int(self.headers["content-length"]))
        usage = {"prompt_tokens": 9, "completion_tokens": 1}
        choice = {"message": {"content": "pong"}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": usage, "model": "mine-2"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test reads stderr."""


@pytest.fixture
def server() -> Iterator[str]:
    Chat.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Chat) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/v1"
        served.shutdown()
        thread.join()


@pytest.fixture
def chosen(server: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "openai:mine")
    monkeypatch.setenv("TOOLKIT_BASE_URL", server)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")


def test_every_provider_is_listed_with_its_key(toolwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-shown")

    answer = toolwire("models")

    assert (answer.status, answer.err) == (0, "")
    assert "chosen by the environment: anthropic:claude-" in answer.out
    assert "ANTHROPIC_API_KEY is set" in answer.out
    assert "OPENAI_API_KEY is not set" in answer.out
    assert {provider.name for provider in PROVIDERS} <= set(answer.out.split())
    assert "sk-never-shown" not in answer.out


def test_without_a_choice_the_list_says_what_to_set(toolwire: Command) -> None:
    answer = toolwire("models")

    assert answer.status == 0
    assert answer.out.startswith("no model is chosen; set TOOLKIT_MODEL=provider:model")


def test_the_list_is_json_on_demand(toolwire: Command) -> None:
    listed = json.loads(toolwire("models", "--json").out)

    assert listed["chosen"] is None
    assert listed["providers"][0] == {"name": "openai", "key": "OPENAI_API_KEY", "has_key": False, "usual": "gpt-5.6"}


@pytest.mark.usefixtures("chosen")
def test_a_ping_tells_what_answered_and_what_it_took(toolwire: Command) -> None:
    answer = toolwire("models", "--ping")

    assert (answer.status, answer.err) == (0, "")
    assert "openai:mine answers as mine-2 in " in answer.out
    assert "(9 + 1 tokens)" in answer.out


@pytest.mark.usefixtures("chosen")
def test_a_ping_is_json_on_demand(toolwire: Command) -> None:
    told = json.loads(toolwire("models", "--ping", "--json").out)

    assert (told["model"], told["answered_as"]) == ("openai:mine", "mine-2")


@pytest.mark.usefixtures("chosen")
def test_a_live_demo_asks_the_model_of_the_environment(toolwire: Command) -> None:
    answer = toolwire("demo", "--live")

    assert answer.status == 0
    assert "The model openai:mine chooses the tools" in answer.out
    assert answer.out.count("pong") == 3


def test_a_ping_of_nobody_fails_in_one_line(toolwire: Command) -> None:
    answer = toolwire("models", "--ping", "--model", "lmstudio:")

    assert (answer.status, answer.out) == (1, "")
    assert "names no model" in answer.err


def test_the_keyword_model_answers_a_ping(toolwire: Command) -> None:
    assert toolwire("models", "--ping", "--model", "keyword").status == 0


def test_a_model_without_ping_is_an_error(toolwire: Command) -> None:
    assert "add --ping" in toolwire("models", "--model", "keyword").err


PINGS = [("models", "--ping"), ("ask", "Hi", "--app", "shop:Shop")]
COMMAND = pytest.mark.parametrize("command", PINGS, ids=lambda command: command[0])


@COMMAND
def test_a_base_url_is_asked_with_the_providers_key(
    command: tuple[str, ...], toolwire: Command, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")

    answer = toolwire(*command, "--model", "openai:mine", "--base-url", server)

    assert (answer.status, answer.err) == (0, "")
    assert Chat.asked == [("/v1/chat/completions", "Bearer sk-mine")]


@COMMAND
def test_a_server_without_a_name_is_asked_at_its_base_url(
    command: tuple[str, ...], toolwire: Command, server: str
) -> None:
    assert "--base-url" in toolwire(*command, "--model", "openai-compatible:mine").err

    answer = toolwire(*command, "--model", "openai-compatible:mine", "--base-url", server)

    assert (answer.status, answer.err) == (0, "")
    assert Chat.asked == [("/v1/chat/completions", None)]


@COMMAND
@pytest.mark.usefixtures("chosen")
def test_a_named_model_does_not_pass_by_the_base_url_of_the_environment(
    command: tuple[str, ...], toolwire: Command, server: str
) -> None:
    answer = toolwire(*command, "--model", "ollama:qwen3:8b")
    beside = toolwire(*command, "--model", "ollama:qwen3:8b", "--base-url", server)

    assert (answer.status, answer.out) == (1, "")
    assert "TOOLKIT_BASE_URL is set" in answer.err
    assert '--base-url "$TOOLKIT_BASE_URL"' in answer.err
    assert (beside.status, len(Chat.asked)) == (0, 1)


@COMMAND
def test_a_base_url_without_a_model_is_an_error(command: tuple[str, ...], toolwire: Command, server: str) -> None:
    answer = toolwire(*command, "--base-url", server)

    assert (answer.status, Chat.asked) == (1, [])
    assert "give --model provider:name, too" in answer.err


@pytest.mark.usefixtures("chosen")
def test_the_keyword_model_needs_no_address(toolwire: Command) -> None:
    assert toolwire("models", "--ping", "--model", "keyword").status == 0
    assert "leave --base-url out" in toolwire("models", "--ping", "--model", "keyword", "--base-url", "http://a").err


@pytest.mark.usefixtures("chosen")
def test_the_model_of_a_container_is_pinged_without_what_its_agent_has(toolwire: Command, folder: Path) -> None:
    (folder / "mine.py").write_text(MINE)

    answer = toolwire("models", "--ping", "--app", "mine:Mine", "--agent", "helper")
    told = json.loads(toolwire("models", "--ping", "--app", "mine:Mine", "--agent", "helper", "--json").out)

    assert (answer.status, answer.err) == (0, "")
    assert "the model of 'helper' in mine:Mine answers as mine-2 in " in answer.out
    assert told["answered_as"] == "mine-2"
    assert len(Chat.asked) == 2


MINE = """
import httpx
from containers import Models
from dependency_injector import containers, providers
from toolkit import Agent
from toolkit.injection import AppScoped, dep, provide


def no_instructions(ctx):
    raise LookupError("not for a ping")


class Mine(containers.DeclarativeContainer):
    http = AppScoped(httpx.AsyncClient)
    models = providers.Container(Models, http=http)
    helper = provide(Agent, model=dep(models.retrying_model), instructions=no_instructions)
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--app", "shop:Shop"), "add --ping"),
        (("--base-url", "http://a"), "add --ping"),
        (("--ping", "--app", "shop:Shop", "--model", "keyword"), "leave --model out"),
        (("--ping", "--app", "shop:Shop", "--agent", "nobody"), "there is nothing to ask"),
        (("--ping", "--app", "shop:Locked"), "this model has no key"),
    ],
)
def test_what_can_not_be_pinged_says_why(arguments: tuple[str, ...], said: str, toolwire: Command) -> None:
    answer = toolwire("models", *arguments)

    assert (answer.status, answer.out) == (1, "")
    assert said in answer.err
