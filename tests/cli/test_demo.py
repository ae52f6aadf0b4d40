"""`toolwire demo`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_the_demo_asks_about_a_ticket_and_an_order_and_an_order_of_somebody_else(toolwire: Command) -> None:
    answer = toolwire("demo")

    assert (answer.status, answer.err) == (0, "")
    assert re.findall(r"^  call +(\S+ .*)$", answer.out, re.MULTILINE) == [
        'ticket_status {"ticket_id": "SUP-481"}',
        'order_status {"order_id": "ORD-1001"}',
        'order_status {"order_id": "ORD-2002"}',
    ]


def test_the_demo_prints_results_with_durations_and_a_refusal(toolwire: Command) -> None:
    lines = toolwire("demo").out.splitlines()

    results = [line for line in lines if line.startswith(("  result", "  error"))]
    assert "waiting for a spare part" in results[0]
    assert "shipped" in results[1]
    assert results[2].startswith("  error  there is no order ORD-2002 in this customer's account")
    assert all(re.search(r"\(\d+\.\d ms\)$|\(\d+\.\d\d s\)$", result) for result in results)


def test_the_demo_says_that_its_model_is_none(toolwire: Command) -> None:
    assert "keyword model" in toolwire("demo").out


def test_the_demo_asks_the_keyword_model_whatever_the_environment_names(
    toolwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLKIT_MODEL", "openai:gpt")

    assert toolwire("demo").status == 0


def test_the_demo_makes_its_data_in_the_users_cache_directory_and_nowhere_else(toolwire: Command, folder: Path) -> None:
    toolwire("demo")

    assert sorted(path.name for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts) == [
        "shop.py",
        "support_desk.sqlite3",
    ]


def test_a_live_demo_without_a_model_says_what_to_set(toolwire: Command) -> None:
    answer = toolwire("demo", "--live")

    assert (answer.status, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert "TOOLKIT_MODEL" in answer.err
    assert "OPENAI_API_KEY" in answer.err
