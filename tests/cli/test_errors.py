"""Errors of the command line: one line on stderr, and the rest with `--traceback`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import toolkit
from tests.cli.conftest import Answer, Command
from toolkit import CallRecord, ToolError
from toolkit.cli.printing import cause_of
from toolkit.records import ToolResult


def error_of(answer: Answer) -> str:
    """The one line on stderr of a command that failed and printed nothing else."""
    assert answer.status != 0
    assert answer.out == ""
    assert answer.err.startswith("toolwire: ")
    assert answer.err.count("\n") == 1
    return answer.err.removeprefix("toolwire: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param(("ask",), "Missing argument 'prompt'. See `toolwire ask --help`.", id="no prompt"),
        pytest.param(("aks",), "No such command 'aks'", id="unknown command"),
        pytest.param(("ask", "x", "--ap", "y"), "No such option: --ap", id="unknown option"),
    ],
)
def test_wrong_use_is_told_in_one_line_and_gives_status_2(
    toolwire: Command, arguments: tuple[str, ...], error: str
) -> None:
    answer = toolwire(*arguments)

    assert answer.status == 2
    assert error.lower() in error_of(answer).lower()  # versions of typer differ in how they write a name


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param(("--app", "shop"), "--app is 'shop'; give a module and a name in it", id="no colon"),
        pytest.param(("--app", "shop.Shop"), "and a name in it, such as shop:Shop", id="a dot for the colon"),
        pytest.param(("--app", "shopp:Shop"), "there is no module 'shopp'", id="no such module"),
        pytest.param(
            ("--app", "shopp:Shop"), "nor among what is installed; did you mean 'shop'?", id="a module like another"
        ),
        pytest.param(
            ("--app", "containers.suport_desk:SupportDesk"),
            "there is no module 'containers.suport_desk', neither in",
            id="no such module of a package",
        ),
        pytest.param(
            ("--app", "containers.suport_desk:SupportDesk"),
            "; did you mean 'containers.support_desk'?",
            id="a module like another of its package",
        ),
        pytest.param(
            ("--app", "shop:Shopp"),
            "module 'shop' has no 'Shopp'; did you mean 'Shop'? "
            "Its containers are 'Shop', 'Locked', 'Miswired', 'Copying', 'made'",
            id="no such name",
        ),
        pytest.param(
            ("--app", "shop:nothing_like_it"),
            "module 'shop' has no 'nothing_like_it'; its containers are 'Shop', ",
            id="a name that nothing is like",
        ),
        pytest.param(
            ("--app", "json:App"),
            "module 'json' has no 'App'; name a container's class, a function that makes a container, or a container",
            id="a module without containers",
        ),
        pytest.param(("--app", "shop:APPLICATION.x"), "module 'shop' has no 'APPLICATION.x'", id="no such path"),
        pytest.param(("--app", "shop:echo.name"), "shop:echo.name gives 'str', and no container", id="no container"),
        pytest.param(
            ("--app", "shop:fail"), "making the container shop:fail failed: LookupError: no settings", id="fails"
        ),
        pytest.param(
            ("--app", "shop:Shop", "--agent", "agnt"), "no provider 'agnt'; did you mean 'agent'?", id="agent"
        ),
        pytest.param(("--app", "shop:Shop", "--agent", "shouting"), "and no agent", id="a provider of no agent"),
        pytest.param(("--model", "nobody:gpt"), "no provider of models is named 'nobody'", id="model"),
        pytest.param(("--model", "gpt-5.6"), "'gpt-5.6' names no model; give provider:model", id="no provider"),
        pytest.param(("--context", "{"), "--context is no JSON", id="context that is no JSON"),
        pytest.param(("--context", "[]"), "--context has to be a JSON object", id="context that is no object"),
        pytest.param((), "no model is chosen; set TOOLKIT_MODEL=", id="no model"),
        pytest.param(("--app", "shop:Locked"), "RuntimeError: this model has no key", id="opening fails"),
        pytest.param(("--app", "shop:Shop", "--agent", "broken"), "the model failed", id="the model fails"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line(toolwire: Command, arguments: tuple[str, ...], error: str) -> None:
    assert error in error_of(toolwire("ask", "hello", *arguments))


def test_an_import_that_fails_inside_the_module_is_told_as_such(toolwire: Command, folder: Path) -> None:
    (folder / "needy.py").write_text("import no_such_package_anywhere\n")

    error = error_of(toolwire("tools", "--app", "needy:App"))

    told = "ModuleNotFoundError: No module named 'no_such_package_anywhere'"
    assert error == f"importing 'needy' failed in needy.py, line 1: {told}"


def test_an_import_that_fails_below_the_users_files_names_the_line_of_theirs(toolwire: Command, folder: Path) -> None:
    (folder / "limiting.py").write_text("from toolkit import Limits\n\nlimits = Limits(max_calls=3)\n")
    (folder / "starting.py").write_text("import limiting\n")

    error = error_of(toolwire("check", "--app", "starting:App"))

    assert error.startswith("importing 'starting' failed in limiting.py, line 3: TypeError:")


def test_a_traceback_is_printed_when_asked_for(toolwire: Command) -> None:
    short = toolwire("ask", "hello", "--app", "shop:fail")
    long = toolwire("ask", "hello", "--app", "shop:fail", "--traceback")

    assert "Traceback" not in short.err
    assert "Traceback (most recent call last)" in long.err
    assert 'raise LookupError("no settings file")' in long.err
    assert long.err.endswith(short.err)
    assert long.status == short.status == 1


def test_a_traceback_tells_of_failing_calls_too(toolwire: Command) -> None:
    asked = toolwire("ask", 'crash "here"', "--app", "shop:Shop", "--traceback")
    called = toolwire("call", "crash", '{"text": "here"}', "--app", "shop:Shop", "--traceback")

    assert asked.status == 0
    assert "LookupError: secret of the developer: here" in asked.err
    assert "LookupError: secret of the developer: here" in called.err


def test_without_a_command_the_help_is_printed_and_the_status_is_2(toolwire: Command) -> None:
    answer = toolwire()

    assert answer.status == 2
    assert all(f"\n  {command} " in answer.out for command in ("ask", "tools", "call", "check", "demo"))


@pytest.mark.parametrize("command", ["demo", "tools", "check"])
def test_a_containers_module_of_the_user_that_hides_ours_is_named(
    installed: Command, folder: Path, command: str
) -> None:
    (folder / "containers.py").write_text("class Mine: ...\n")

    error = error_of(installed(command))

    assert str(folder / "containers.py") in error
    assert "hides Toolwire's package of that name" in error


def test_a_containers_package_of_the_user_that_hides_ours_is_named(installed: Command, folder: Path) -> None:
    (folder / "containers").mkdir()
    (folder / "containers" / "__init__.py").touch()

    assert "hides Toolwire's package of that name" in error_of(installed("demo"))


def test_a_containers_module_of_the_user_can_be_the_application(installed: Command, folder: Path) -> None:
    (folder / "containers.py").write_text("from shop import Shop\n")

    assert installed("check", "--app", "containers:Shop").status == 0


@pytest.mark.parametrize("code", ["0", "", "3", "'bye'"])
@pytest.mark.parametrize("command", ["check", "tools"])
def test_a_module_that_exits_is_a_failure_in_one_line(folder: Path, toolwire: Command, code: str, command: str) -> None:
    (folder / "leaving.py").write_text(f"import sys\nsys.exit({code})\n")

    answer = toolwire(command, "--app", "leaving:Shop")

    assert answer.status == 1
    assert answer.out == ""
    assert answer.err.startswith("toolwire: importing 'leaving' failed in leaving.py, line 2: SystemExit")
    assert answer.err.count("\n") == 1


def test_a_container_that_exits_while_it_is_made_is_a_failure(folder: Path, toolwire: Command) -> None:
    (folder / "leaving.py").write_text("import sys\n\n\ndef make():\n    sys.exit(0)\n")

    answer = toolwire("check", "--app", "leaving:make")

    assert (answer.status, answer.err) == (1, "toolwire: making the container leaving:make failed: SystemExit: 0\n")


def test_a_tool_that_exits_is_a_failure(folder: Path, toolwire: Command) -> None:
    text = (folder / "shop.py").read_text()
    text = text.replace('raise LookupError(f"secret of the developer: {text}")', "raise SystemExit(0)")
    (folder / "leaving.py").write_text(text)

    answer = toolwire("call", "crash", '{"text": "x"}', "--app", "leaving:Shop")

    assert (answer.status, answer.out) == (1, "")
    assert answer.err.endswith("SystemExit: 0\n")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("arguments", ["tools --json", "tools", "check", "--help", "ask hello --json"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_gives_no_traceback(folder: Path, arguments: str, closed: str) -> None:
    command = f"{Path(sys.executable).with_name('toolwire')} {arguments} --app shop:Shop {closed}"
    if arguments == "--help":
        command = command.replace(" --app shop:Shop", "")

    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)

    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.count("\n") <= 1
    assert (done.returncode == 0) == (closed == "2>&-")


def test_a_name_that_nothing_is_like_is_told_in_one_sentence(toolwire: Command) -> None:
    answer = toolwire("tools", "--agent", "nope", "--app", "shop:Shop")

    assert "the container has no provider 'nope'; it has 'agent', " in error_of(answer)


@pytest.mark.parametrize(
    ("app", "module"),
    [
        ("bookshop/agents.py:WithAgent", "bookshop.agents:WithAgent"),
        ("./bookshop/agents.py:WithAgent", "bookshop.agents:WithAgent"),
        ("bookshop/agents:WithAgent", "bookshop.agents:WithAgent"),
        ("bookshop/__init__.py:WithAgent", "bookshop:WithAgent"),
        ("shop.py", "shop:Container"),
    ],
)
def test_a_file_in_place_of_a_module_is_told_how_to_be_written(app: str, module: str, toolwire: Command) -> None:
    answer = toolwire("check", "--app", app)

    assert (answer.status, answer.out) == (1, "")
    assert answer.err == f"toolwire: --app is {app!r}, and names a file; write {module}\n"


def test_a_file_by_its_whole_path_is_told_from_the_working_directory(toolwire: Command, folder: Path) -> None:
    assert "write shop:Shop\n" in toolwire("check", "--app", f"{folder / 'shop.py'}:Shop").err


def test_the_package_runs_as_the_command(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolkit", "check", "--app", "shop:Shop"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(toolkit.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "shop:Shop is wired well" in done.stdout


@pytest.mark.parametrize(
    ("error", "told", "cause"),
    [
        (ToolError("no " * 9), "no no [cut] no", ""),
        (LookupError("gone"), "tool 'find' failed: LookupError", "LookupError: gone"),
        (ValueError("$.n: is no number"), "$.n: is no number", ""),
        (None, "", ""),
    ],
    ids=["a ToolError that was cut", "an exception", "wrong arguments", "none"],
)
def test_a_cause_is_shown_where_the_model_was_not_told_it(error: Exception | None, told: str, cause: str) -> None:
    record = CallRecord("c1", "find", {}, ToolResult(None, told, error is not None, error), error=error)

    assert cause_of(record) == cause
