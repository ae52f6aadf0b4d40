"""What is shown on a terminal while a run goes on, and that it leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.terminals import on_terminals
from tests.http.clients import ManualClock
from toolkit.cli.progress import Progress
from toolkit.events import RunStarted, ToolCallFinished, ToolCallStarted, TurnStarted
from toolkit.messages import ToolCall
from toolkit.records import CallRecord, ToolResult

OSLO = {"city": "Oslo"}


def shown(progress: Progress) -> list[str]:
    return [line.plain for line in progress.lines()]


def test_each_call_is_shown_with_its_seconds_while_it_runs_and_when_it_is_over() -> None:
    clock = ManualClock()
    progress = Progress(clock.monotonic)

    clock.elapsed = 2
    asking = shown(progress)
    progress.take(ToolCallStarted("r", ToolCall("1", "weather", OSLO)))
    progress.take(ToolCallStarted("r", ToolCall("2", "pay", '{"pounds": 5}')))
    clock.elapsed = 5
    running = shown(progress)
    progress.take(ToolCallFinished("r", CallRecord("2", "pay", {"pounds": 5}, ToolResult(is_error=True), 3.5)))
    one_over = shown(progress)
    progress.take(ToolCallFinished("r", CallRecord("1", "weather", OSLO, ToolResult(), 0.25)))
    progress.take(TurnStarted("r", 2))
    clock.elapsed = 9

    assert asking == ["asking  2 s        the model"]
    assert running == ['running 3 s        weather {"city": "Oslo"}', 'running 3 s        pay {"pounds": 5}']
    assert one_over == ['failed  (3.50 s)   pay {"pounds": 5}', 'running 3 s        weather {"city": "Oslo"}']
    assert shown(progress) == [
        'failed  (3.50 s)   pay {"pounds": 5}',
        'done    (250.0 ms) weather {"city": "Oslo"}',
        "asking  4 s        the model",
    ]


def test_only_what_changes_the_lines_is_news() -> None:
    progress = Progress(ManualClock().monotonic)

    assert not progress.take(RunStarted("r"))
    assert progress.take(TurnStarted("r", 1))


def test_many_calls_are_shown_by_the_last_ones() -> None:
    progress = Progress(ManualClock().monotonic)

    for number in range(30):
        record = CallRecord(str(number), "weather", {"number": number}, ToolResult())
        progress.take(ToolCallStarted("r", ToolCall(record.id, record.name, record.arguments)))
        progress.take(ToolCallFinished("r", record))

    assert len(shown(progress)) == 10
    assert shown(progress)[-2].endswith('weather {"number": 29}')


def test_arguments_stay_in_one_line_and_cannot_steer_the_terminal() -> None:
    progress = Progress(ManualClock().monotonic)

    progress.take(ToolCallStarted("r", ToolCall("1", "weather", "\x1b[2J\n\n")))

    assert shown(progress) == ["running 0 s        weather \\x1b[2J"]


ASK = ("ask", 'echo "hello"', "--app", "shop:Shop")


@pytest.mark.parametrize("arguments", [("demo",), ASK], ids=["demo", "ask"])
def test_a_terminal_is_shown_which_tool_runs_and_that_is_taken_away_again(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    printed, _, status = on_terminals(*arguments, cwd=folder, out_is_terminal=True)

    tool = "ticket_status" if arguments == ("demo",) else "echo"
    assert status == 0
    assert "the model" in printed.split("  result")[0]
    assert printed.index("running") < printed.index("done") < printed.index("  result")
    assert tool in printed.split("running")[1].splitlines()[0]
    last_frame = printed.split("  result")[0].rpartition("the model")[2]
    assert last_frame.count("\x1b[1A\x1b[2K") == 2  # both of its lines are taken away before the result


def test_the_answer_goes_into_the_pipe_while_the_progress_is_on_the_terminal(folder: Path) -> None:
    printed, piped, _ = on_terminals(*ASK, cwd=folder, out_is_terminal=False)

    assert "running" in printed
    assert "answer" not in printed
    assert "\x1b" not in piped
    assert piped.splitlines()[0] == '  call   echo {"text": "hello"}'
    assert piped.splitlines()[-1] == "  answer (keyword model, no language model) echo: hello"


def test_json_is_json_while_the_progress_is_on_the_terminal(folder: Path) -> None:
    _, piped, _ = on_terminals(*ASK, "--json", cwd=folder, out_is_terminal=False)

    assert json.loads(piped)["outcome"] == "completed"


def test_what_a_tool_prints_stays_in_the_pipe(folder: Path) -> None:
    text = (folder / "shop.py").read_text().replace("    return text\n", "    print('from inside')\n    return text\n")
    (folder / "printing.py").write_text(text)

    printed, piped, _ = on_terminals(*ASK[:3], "printing:Shop", cwd=folder, out_is_terminal=False)

    assert "from inside\n" in piped
    assert "from inside" not in printed


def test_no_progress_is_shown_where_errors_are_piped(folder: Path) -> None:
    printed, piped, status = on_terminals(
        *ASK, cwd=folder, out_is_terminal=True, err_is_terminal=False, FORCE_COLOR="1"
    )

    assert (piped, status) == ("", 0)
    assert "running" not in printed
    assert "\x1b[2K" not in printed


def test_a_run_that_fails_is_one_line_below_the_progress(folder: Path) -> None:
    printed, _, status = on_terminals(*ASK, "--agent", "broken", cwd=folder, out_is_terminal=True)

    assert status == 1
    assert printed.rstrip().splitlines()[-1].endswith("toolwire: the model failed: OSError: the cable is cut")
