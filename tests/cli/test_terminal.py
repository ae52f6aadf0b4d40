"""What reaches the terminal, and what must not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.terminals import on_terminals

TOOLWIRE = str(Path(sys.executable).with_name("toolwire"))


def on_a_terminal(*arguments: str, cwd: Path, **environment: str) -> str:
    """What a command prints when its stdout and stderr are one terminal."""
    return on_terminals(*arguments, cwd=cwd, **environment)[0]


def test_a_terminal_gets_colours(folder: Path) -> None:
    assert "\x1b[" in on_a_terminal("demo", cwd=folder)


def test_no_colour_is_printed_with_no_color_set(folder: Path) -> None:
    assert "\x1b[3" not in on_a_terminal("demo", cwd=folder, NO_COLOR="1")


def test_a_pipe_gets_plain_lines_that_are_not_wrapped(installed: Command) -> None:
    answer = installed("demo", COLUMNS="20")

    assert answer.status == 0
    assert "\x1b" not in answer.out
    assert '"status":"waiting for a spare part","updated":"2026-03-02"}' in answer.out


def test_a_tool_cannot_steer_the_terminal(toolwire: Command) -> None:
    answer = toolwire(
        "call", "echo", '{"text": "\\u001b]0;owned\\u0007 caf\\u00e9\\u00a0\\ud83d\\ude00"}', "--app", "shop:Shop"
    )

    assert answer.out == "\\x1b]0;owned\\x07 caf\N{LATIN SMALL LETTER E WITH ACUTE}\xa0\N{GRINNING FACE}\n"


STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
ATTACK = "x\x1b]0;owned\x07\x9b2J\u202etxt\u2028"


@pytest.mark.parametrize("options", [(), ("--traceback",)], ids=["one line", "traceback"])
def test_an_error_can_not_steer_the_terminal(toolwire: Command, folder: Path, options: tuple[str, ...]) -> None:
    (folder / "steering.py").write_text(f"raise RuntimeError({ATTACK!a})\n")

    answer = toolwire("tools", "--app", "steering:Shop", *options)

    assert answer.status == 1
    assert "owned" in answer.err
    assert STEERING.search(answer.err) is None


def test_json_for_programs_holds_no_control_character_and_reads_back_as_it_was(toolwire: Command) -> None:
    answer = toolwire("ask", f'echo "{ATTACK}"', "--app", "shop:Shop", "--json")

    assert STEERING.search(answer.out) is None
    assert json.loads(answer.out)["messages"][0]["content"] == f'echo "{ATTACK}"'


def test_a_long_result_is_shortened_and_json_has_it_whole(toolwire: Command) -> None:
    words = "word" * 400
    plain = toolwire("ask", f'echo "{words}"', "--app", "shop:Shop")
    as_json = toolwire("ask", f'echo "{words}"', "--app", "shop:Shop", "--json")

    assert "... (600 characters more)  (" in plain.out
    assert f'"content": "{words}"' in as_json.out


def test_an_answer_that_the_encoding_lacks_is_printed_all_the_same(installed: Command) -> None:
    answer = installed("call", "echo", '{"text": "\\u20ac"}', "--app", "shop:Shop", PYTHONIOENCODING="ascii")

    assert (answer.status, answer.out) == (0, "\\u20ac\n")


def test_a_reader_that_goes_away_is_no_traceback(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([TOOLWIRE, "tools"], cwd=folder, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)

    assert process.stderr == b""


def test_importing_the_entry_point_loads_neither_typer_nor_rich() -> None:
    code = "import sys, toolkit.cli; print([m for m in ('typer', 'rich', 'dependency_injector') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
