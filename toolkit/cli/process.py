"""The border to the process: arguments in, exit status out, and every error in one line on stderr."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, cast

import typer

from toolkit.cli.commands import command_line
from toolkit.cli.failures import Failed, Unread, report, show_warning

__all__ = ["run_command"]

# typer carries its own copy of click since 0.26, so the class has no import of its own that all versions share.
_WrongUse: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives the exit status."""
    is_heard = _open_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # what stands in for a stream in tests may lack it
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # an answer may hold what the terminal's encoding has not
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            status = _status(arguments)
        sys.stdout.flush()
    except (
        BrokenPipeError,
        Unread,
    ):  # `toolwire tools | head -1`: nobody reads on, and Python must not complain at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status if is_heard else max(status, 1)


def _open_streams() -> bool:
    """Opens what was closed before the process began (`toolwire tools >&-`); false when nobody reads stdout."""
    # To type checkers a stream is always there. Python has None for one that is closed.
    is_heard = cast("Any", sys.stdout) is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    return is_heard


def _status(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(command_line)
    try:
        # A command that ends early gives its status; one that comes to its end gives None.
        status: Any = command.main(arguments, prog_name="toolwire", standalone_mode=False)
    except Failed as failure:
        report(failure)
        return failure.status
    except _WrongUse as error:
        place = getattr(getattr(error, "ctx", None), "command_path", "toolwire")
        report(Failed(f"{error.format_message()} See `{place} --help`.", status=2))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        report(Failed("interrupted"))
        return 130
    return status if isinstance(status, int) else 0
