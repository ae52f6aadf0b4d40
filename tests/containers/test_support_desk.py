"""The demo application: who is told what, and what happens to its database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from containers.support_desk import Database, SupportDesk, default_path, open_database
from toolkit import ConfigurationError, ToolError
from toolkit.injection import RunScoped, application, overriding
from toolkit.injection.app import App
from toolkit.models.catalogue import PROVIDERS
from toolkit.testing import ScriptedModel, call, calls, says

ADA: dict[str, Any] = {"actor_id": "ada", "context": {"account_id": "acme"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "not yet there" / "desk.sqlite3"


@pytest.fixture
async def desk(path: Path) -> AsyncIterator[App]:
    async with application(SupportDesk(config={"database": str(path)})) as app:
        yield app


def asking(name: str, *arguments: dict[str, Any]) -> ScriptedModel:
    """A model that asks for one call with each arguments, all in one turn."""
    return ScriptedModel([calls(*(call(name, given) for given in arguments)), says("done")])


async def run_of(desk: App, model: ScriptedModel, **caller: Any) -> Any:
    with overriding(desk.container, model=model):
        return await desk.agent().run("?", **caller)


async def test_a_ticket_is_told_to_everybody(desk: App) -> None:
    run = await run_of(desk, asking("ticket_status", {"ticket_id": "SUP-481"}))

    [record] = run.calls
    assert record.result.value.status == "waiting for a spare part"
    assert record.result.content == (
        '{"id":"SUP-481","subject":"Kettle does not switch off","status":"waiting for a spare part",'
        '"updated":"2026-03-02"}'
    )


async def test_an_unknown_ticket_is_said_to_be_unknown(desk: App) -> None:
    run = await run_of(desk, asking("ticket_status", {"ticket_id": "SUP-1"}))

    assert run.calls[0].result.content == "there is no ticket SUP-1"


async def test_an_order_is_told_to_a_member_of_its_account(desk: App) -> None:
    run = await run_of(desk, asking("order_status", {"order_id": "ORD-1001"}), **ADA)

    assert run.calls[0].result.value.item == "kettle, spare switch"


async def test_an_order_of_another_account_is_refused_in_the_words_for_one_that_does_not_exist(desk: App) -> None:
    run = await run_of(desk, asking("order_status", {"order_id": "ORD-2002"}, {"order_id": "ORD-9999"}), **ADA)

    another, missing = run.calls
    assert isinstance(another.error, ToolError)
    assert another.result.content.replace("ORD-2002", "ORD-9999") == missing.result.content
    assert missing.result.content == "there is no order ORD-9999 in this customer's account"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"order_id": "ORD-2002", "account_id": "globex"}, id="an account"),
        pytest.param({"order_id": "ORD-2002", "actor_id": "grace"}, id="an actor"),
        pytest.param({"order_id": "ORD-2002", "invocation": {"actor_id": "grace"}}, id="an invocation"),
        pytest.param({"order_id": "ORD-2002' OR '1'='1"}, id="SQL"),
        pytest.param({"order_id": "ORD-2002\n"}, id="a line break"),
        pytest.param({"order_id": ["ORD-2002"]}, id="a list"),
    ],
)
async def test_nothing_that_the_model_sends_gives_another_accounts_order(desk: App, arguments: dict[str, Any]) -> None:
    run = await run_of(desk, asking("order_status", arguments), **ADA)

    assert run.calls[0].result.is_error
    assert "coffee grinder" not in str(run.messages)


@pytest.mark.parametrize(
    "caller",
    [
        pytest.param({}, id="nobody"),
        pytest.param({"actor_id": "grace"}, id="no account"),
        pytest.param({"context": {"account_id": "globex"}}, id="no actor"),
        pytest.param({"actor_id": "ada", "context": {"account_id": "globex"}}, id="no member of the account"),
        pytest.param({"actor_id": "grace' --", "context": {"account_id": "globex"}}, id="SQL"),
        pytest.param({"actor_id": "grace", "context": object()}, id="a context without accounts"),
        pytest.param({"actor_id": "grace", "context": {"account_id": ["globex"]}}, id="an account of a wrong type"),
    ],
)
async def test_an_order_is_told_only_to_an_actor_who_is_a_member_of_the_account(
    desk: App, caller: dict[str, Any]
) -> None:
    run = await run_of(desk, asking("order_status", {"order_id": "ORD-2002"}), **caller)

    assert run.calls[0].result.is_error
    assert "coffee grinder" not in str(run.messages)


class CountedConnections:
    """Opens databases, and remembers them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: list[Database] = []

    async def open(self) -> AsyncGenerator[Database, None]:
        database = Database(self.path)
        try:
            await database.open()
            self.opened.append(database)
            yield database
        finally:
            await database.close()


async def test_the_tools_of_a_run_share_one_connection_that_the_run_closes(desk: App, path: Path) -> None:
    connections = CountedConnections(path)
    model = ScriptedModel(
        [
            calls(call("ticket_status", {"ticket_id": "SUP-481"}), call("order_status", {"order_id": "ORD-1001"})),
            calls(call("ticket_status", {"ticket_id": "SUP-480"})),
            says("done"),
        ]
    )
    with overriding(desk.container, database=RunScoped(connections.open)):
        run = await run_of(desk, model, **ADA)

    [database] = connections.opened
    assert [record.result.is_error for record in run.calls] == [False, False, False]
    with pytest.raises(RuntimeError, match="after shutdown"):
        await database.first("SELECT 1")


async def test_a_run_that_needs_no_record_opens_no_connection(desk: App, path: Path) -> None:
    connections = CountedConnections(path)
    with overriding(desk.container, database=RunScoped(connections.open)):
        await run_of(desk, ScriptedModel([says("hello")]))

    assert connections.opened == []


async def test_the_file_is_made_on_first_use_and_kept(path: Path) -> None:
    async for database in open_database(str(path)):
        await database.first("UPDATE tickets SET status = 'closed' WHERE id = 'SUP-481' RETURNING id")
    async for database in open_database(str(path)):
        row = await database.first("SELECT status FROM tickets WHERE id = 'SUP-481'")

    assert row == ("closed",)


async def test_many_runs_at_once_share_a_file_that_is_not_there_yet(desk: App) -> None:
    runs = await asyncio.gather(
        *(run_of(desk, asking("order_status", {"order_id": "ORD-1001"}), **ADA) for _ in range(8)),
        *(run_of(desk, asking("order_status", {"order_id": "ORD-1001"})) for _ in range(8)),
    )

    told = [run.calls[0].result.is_error for run in runs]
    assert told == [False] * 8 + [True] * 8


async def test_a_connection_is_closed_after_the_statement_that_still_runs_when_its_user_is_cancelled(
    path: Path,
) -> None:
    database = Database(path)
    await database.open()
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT max(i) FROM n"
    asked = asyncio.create_task(database.first(counting))
    await asyncio.sleep(0)

    asked.cancel()
    await database.close()

    assert asked.cancelled()


@pytest.fixture
def letter(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("This is a letter, and a rather long one, which no database would ever be. " * 10)


@pytest.mark.usefixtures("letter")
async def test_opening_a_file_that_is_no_database_fails_the_call_and_not_the_run(desk: App) -> None:
    run = await run_of(desk, asking("ticket_status", {"ticket_id": "SUP-481"}))

    assert run.outcome == "completed"
    assert run.calls[0].result.content == "tool 'ticket_status' failed: DatabaseError"
    assert isinstance(run.calls[0].error, sqlite3.DatabaseError)


async def test_wikipedia_is_asked_through_the_applications_client(path: Path) -> None:
    async def no_articles(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, json={"batchcomplete": True, "query": {"searchinfo": {"totalhits": 0}, "search": []}}
        )

    container = SupportDesk(config={"database": str(path), "tools": {"contact": "desk@example.org"}})
    async with httpx.AsyncClient(transport=httpx.MockTransport(no_articles)) as http:
        with overriding(container, http=http):
            async with application(container) as app:
                run = await run_of(app, asking("wikipedia_search", {"query": "kettle"}))

    assert run.calls[0].error is None


async def test_wikipedia_says_what_is_missing_where_no_contact_is_configured(
    desk: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLWIRE_CONTACT", raising=False)

    run = await run_of(desk, asking("wikipedia_search", {"query": "kettle"}))

    assert run.calls[0].result.content.startswith("not configured")


def test_the_file_lies_in_the_users_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert default_path() == tmp_path / "cache" / "toolwire" / "support_desk.sqlite3"


def test_the_file_lies_in_the_temporary_directory_where_there_is_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "gone" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    assert default_path() == tmp_path / "tmp" / "toolwire" / "support_desk.sqlite3"


async def test_a_run_brings_its_own_model_where_the_environment_chooses_none(
    desk: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("TOOLKIT_MODEL", "TOOLKIT_BASE_URL", *(key for one in PROVIDERS for key in one.key_variables)):
        monkeypatch.delenv(key, raising=False)

    run = await desk.agent().run("Hi", model=ScriptedModel([says("from the run")]))
    with pytest.raises(ConfigurationError, match="no model is chosen; set TOOLKIT_MODEL=provider:model"):
        await desk.agent().run("Hi")

    assert run.response == "from the run"
