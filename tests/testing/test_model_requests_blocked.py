"""No accident reaches a provider: what the plugin refuses, where it is seen, and what it leaves alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.http.clients import LIBRARIES, open_client
from tests.http.loopback import Reply, serving
from tests.testing.posting import PostingModel
from toolkit import Agent, tool
from toolkit.models import FallbackModel, ModelRequest, ModelResponse, OpenAIChatModel, RetryingModel
from toolkit.testing import ModelRequestsBlocked, ScriptedModel, call, calls, says

pytest_plugins = ["pytester"]


def blocked_model(library: Any = httpx) -> PostingModel:
    return PostingModel(open_client(library))


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_request_to_a_provider_ends_the_run_with_the_error_itself(
    library: Any, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(ModelRequestsBlocked) as caught:
        await Agent(blocked_model(library)).run("hi")

    assert (caught.value.host, caught.value.test) == ("provider.example", request.node.nodeid)
    assert str(caught.value) == (
        f"the test '{request.node.nodeid}' would send a model's request to 'provider.example', and tests reach no "
        "provider by accident; give the agent a ScriptedModel, or its model an HTTP client with a fake transport "
        "(httpx.MockTransport), or mark the test with @pytest.mark.live_model where it is meant to reach the provider"
    )


async def test_a_model_alone_is_refused_too() -> None:
    with pytest.raises(ModelRequestsBlocked):
        await blocked_model().respond(ModelRequest([]))


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_loopback_server_is_asked(library: Any) -> None:
    async with serving(Reply("hello")) as server, open_client(library) as http:
        run = await Agent(PostingModel(http, server.url)).run("hi")

    assert run.response == "hello"


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_fake_transport_is_asked(library: Any) -> None:
    transport = library.MockTransport(lambda request: library.Response(200, text="hello"))
    async with open_client(library, transport=transport) as http:
        run = await Agent(PostingModel(http)).run("hi")

    assert run.response == "hello"


def test_run_sync_is_refused() -> None:
    with pytest.raises(ModelRequestsBlocked):
        Agent(blocked_model()).run_sync("hi")


async def test_a_stream_is_refused_at_the_end_of_its_iteration() -> None:
    async def listen() -> None:
        async with Agent(blocked_model()).stream("hi") as stream:
            async for _ in stream:
                pass

    with pytest.raises(ModelRequestsBlocked):
        await listen()


def test_a_thread_with_an_event_loop_of_its_own_is_refused() -> None:
    ended: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(Agent(blocked_model()).run("hi"))
        except BaseException as error:
            ended.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()

    assert [type(error) for error in ended] == [ModelRequestsBlocked]


class Falling:
    """Asks the next model whatever goes wrong, as fallback and retrying models do."""

    def __init__(self, *models: Any) -> None:
        self.models = models

    async def respond(self, request: ModelRequest) -> ModelResponse:
        for model in self.models:
            try:
                response: ModelResponse = await model.respond(request)
            except Exception:
                continue
            return response
        raise LookupError("no model is left")


async def test_no_model_around_the_model_hides_the_accident() -> None:
    with pytest.raises(ModelRequestsBlocked):
        await Agent(Falling(blocked_model(), ScriptedModel([says("All is well.")]))).run("hi")


def around_openai(make: Callable[[OpenAIChatModel], Any]) -> Any:
    return make(OpenAIChatModel("gpt-5", http=open_client(httpx), api_key="sk-test"))


@pytest.mark.parametrize("is_streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda model: model, id="alone"),
        pytest.param(RetryingModel, id="retried"),
        pytest.param(lambda model: FallbackModel([model, ScriptedModel([says("All is well.")])]), id="with a fallback"),
        pytest.param(
            lambda model: FallbackModel([model, ScriptedModel([says("All is well.")])], on=(Exception,)),
            id="with a fallback for everything",
        ),
    ],
)
async def test_a_providers_model_is_refused_whatever_stands_around_it(
    make: Callable[[OpenAIChatModel], Any], is_streamed: bool
) -> None:
    agent = Agent(around_openai(make))

    async def ask() -> None:
        if not is_streamed:
            await agent.run("hi")
            return
        async with agent.stream("hi") as stream:
            async for _ in stream:
                pass

    with pytest.raises(ModelRequestsBlocked) as caught:
        await ask()

    assert caught.value.host == "api.openai.com"


@tool
async def ask_another() -> str:
    """Ask another agent."""
    return (await Agent(blocked_model()).run("hi")).response


@tool
def ask_another_in_a_thread() -> str:
    """Ask another agent."""
    return Agent(blocked_model()).run_sync("hi").response


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(["ask_another"], id="a call alone"),
        pytest.param(["ask_another", "ask_another"], id="calls at the same time"),
        pytest.param(["ask_another_in_a_thread"], id="a sync tool"),
    ],
)
async def test_no_tool_that_runs_another_agent_hides_the_accident(wanted: list[str]) -> None:
    model = ScriptedModel([calls(*[call(name) for name in wanted]), says("All is well.")])

    with pytest.raises(ModelRequestsBlocked):
        await Agent(model, tools=[ask_another, ask_another_in_a_thread]).run("hi")


async def test_what_the_run_had_opened_is_closed_before() -> None:
    closed = []

    class Opened:
        name = "opened"
        description = "Be opened."

        async def handler(self) -> str:
            return "open"

        async def aclose(self) -> None:
            closed.append(self)

    class Model:
        def __init__(self) -> None:
            self.script = ScriptedModel([calls(call("opened"))])

        async def respond(self, request: ModelRequest) -> ModelResponse:
            if not self.script.requests:
                return await self.script.respond(request)
            return await blocked_model().respond(request)

    with pytest.raises(ModelRequestsBlocked):
        await Agent(Model(), tools=[Opened]).run("hi")

    assert len(closed) == 1


def test_a_web_application_that_is_asked_by_a_test_shows_the_error() -> None:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    web = FastAPI()

    @web.get("/")
    async def answer() -> str:
        return (await Agent(blocked_model()).run("hi")).response

    with pytest.raises(ModelRequestsBlocked):
        TestClient(web).get("/")


def test_a_web_application_that_streams_shows_the_error_too() -> None:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    web = FastAPI()

    @web.get("/")
    async def answer() -> str:
        async with Agent(blocked_model()).stream("hi") as stream:
            async for _ in stream:
                pass
        return stream.run.response

    with pytest.raises(ModelRequestsBlocked):
        TestClient(web).get("/")


# What needs a session of pytest of its own: marks, fixtures, reports, worker processes.

MODEL = """
import httpx
import pytest

from tests.testing.posting import PostingModel
from toolkit import Agent

def ask(url="http://0.0.0.0:1/v1"):
    return Agent(PostingModel(httpx.AsyncClient(trust_env=False), url)).run_sync("hi")
"""


def ran(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(tests)
    return pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "--strict-markers", *options)


def test_a_test_that_is_marked_live_model_sends_its_request(pytester: pytest.Pytester) -> None:
    tests = (
        MODEL
        + """
from toolkit import ModelError

@pytest.mark.live_model
def test_live():
    with pytest.raises(ModelError, match="ConnectError"):  # it was sent, and nobody listens there
        ask()

def test_not_live():
    ask()
"""
    )

    result = ran(pytester, tests)

    result.assert_outcomes(passed=1, failed=1)
    assert re.search(r"^E .*ModelRequestsBlocked: the test '.*::test_not_live' would send", result.stdout.str(), re.M)


def test_a_test_that_imports_the_toolkit_itself_is_guarded_too(pytester: pytest.Pytester) -> None:
    body = "\n    ".join(line for line in MODEL.strip().splitlines())
    tests = f"""
import sys

def test_imports():
    assert not [name for name in sys.modules if name.startswith("toolkit.models")]
    {body}
    ask()
"""

    result = ran(pytester, tests)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ModelRequestsBlocked: the test*::test_imports' would send*"])


def test_each_worker_of_xdist_is_guarded(pytester: pytest.Pytester) -> None:
    tests = (
        MODEL
        + """
@pytest.mark.parametrize("number", range(4))
def test_many(number):
    ask()
"""
    )

    result = ran(pytester, tests, "-n", "2")

    result.assert_outcomes(failed=4)
    said = result.stdout.str()
    assert [number for number in range(4) if f"test_many[{number}]' would send" not in said] == []


def test_an_event_loop_that_tests_share_is_guarded_by_the_mark_of_each(pytester: pytest.Pytester) -> None:
    tests = (
        MODEL
        + """
from toolkit import ModelError
from toolkit.testing import ModelRequestsBlocked

pytestmark = pytest.mark.asyncio(loop_scope="module")

async def asked():
    return await Agent(PostingModel(httpx.AsyncClient(trust_env=False), "http://0.0.0.0:1/v1")).run("hi")

@pytest.mark.live_model
async def test_live():
    with pytest.raises(ModelError):
        await asked()

async def test_blocked():
    with pytest.raises(ModelRequestsBlocked):
        await asked()

@pytest.mark.live_model
async def test_live_again():
    with pytest.raises(ModelError):
        await asked()
"""
    )

    ran(pytester, tests).assert_outcomes(passed=3)


def test_a_fixture_is_guarded_as_the_test_that_asks_for_it(pytester: pytest.Pytester) -> None:
    tests = (
        MODEL
        + """
@pytest.fixture
def answer():
    return ask()

def test_blocked(answer):
    pass
"""
    )

    result = ran(pytester, tests)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ModelRequestsBlocked: the test*::test_blocked' would send*"])


def test_a_module_that_asks_while_it_is_imported_is_refused(pytester: pytest.Pytester) -> None:
    result = ran(pytester, MODEL + "\nask()\n")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ModelRequestsBlocked: code that runs outside of the tests would send*"])


def test_the_mark_of_a_test_ends_with_the_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        MODEL
        + """
from toolkit.testing import ModelRequestsBlocked

def pytest_sessionfinish():
    try:
        ask()
    except ModelRequestsBlocked as error:
        print("refused:", error)
"""
    )

    result = ran(pytester, "import pytest\n\n@pytest.mark.live_model\ndef test_live(): pass\n")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*refused: code that runs outside of the tests would send*"])


def test_a_session_inside_a_session_leaves_the_guard_as_it_was(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")

    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:asyncio").assert_outcomes(passed=1)

    with pytest.raises(ModelRequestsBlocked) as caught:
        asyncio.run(blocked_model().respond(ModelRequest([])))
    assert caught.value.test is not None
    assert "inside_a_session" in caught.value.test


def test_tests_that_do_not_import_the_toolkit_load_nothing_of_it(pytester: pytest.Pytester) -> None:
    tests = """
import sys

def test_nothing():
    plugin = {"toolkit", "toolkit.exports", "toolkit.testing"}
    plugin |= {f"toolkit.testing.{part}" for part in ("arrival", "network", "plugin")}
    assert {name for name in sys.modules if name.split(".")[0] == "toolkit"} == plugin
    assert not {"dependency_injector", "msgspec", "httpx"} & set(sys.modules)
"""

    ran(pytester, tests).assert_outcomes(passed=1)
