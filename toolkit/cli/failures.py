"""What the user of the command line is told when something goes wrong: one line, and the rest on request."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TextIO

from toolkit.errors import ToolkitError, escaped, text_of_error

__all__ = [
    "Failed",
    "Unread",
    "class_and_text",
    "failing_in_one_line",
    "print_tracebacks",
    "report",
    "show_warning",
    "text_of",
]


class Failed(Exception):
    """A command could not do what was asked. Its text is for the user.

    Args:
        status: The exit status.
        causes: Printed with their tracebacks, where the user wants them.
    """

    def __init__(self, text: str, *, status: int = 1, causes: tuple[BaseException, ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.causes = causes


class Unread(Exception):
    """Nobody reads what is printed any more (`toolwire tools | head -1`): the command ends, and says nothing."""


@contextmanager
def failing_in_one_line(with_traceback: bool) -> Generator[None, None, None]:
    """Turns every exception into a `Failed`: the border of a command, where the user's own code is loaded and run.

    Also a `SystemExit`: whichever status that code asks for, the command did not do what it was asked.
    """
    try:
        yield
    except Unread:
        raise
    except Failed as failure:
        if with_traceback:
            raise
        raise Failed(str(failure), status=failure.status) from None
    except (Exception, asyncio.CancelledError, SystemExit) as error:  # noqa: BLE001 - the border of the process: it becomes a line
        raise Failed(text_of(error), causes=(error,) if with_traceback else ()) from None


def text_of(error: BaseException) -> str:
    """The error in words; one that is not the toolkit's own is named by its class."""
    if isinstance(error, ToolkitError) and str(error):
        return str(error)
    return class_and_text(error)


def class_and_text(error: BaseException) -> str:
    """`LookupError: no such order`; the class alone where there is no text."""
    name, text = type(error).__name__, text_of_error(error)
    return f"{name}: {text}" if text and text != name else name


def report(failure: Failed) -> None:
    """Prints it on stderr."""
    print_tracebacks(failure.causes)
    print(f"toolwire: {_one_line(str(failure))}", file=sys.stderr)


def print_tracebacks(errors: Iterable[BaseException]) -> None:
    """Prints them on stderr, each with its causes."""
    for error in errors:
        print(escaped("".join(traceback.format_exception(error)), keep="\n\t"), end="", file=sys.stderr)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning on stderr in one line: for `warnings.showwarning`."""
    print(f"toolwire: warning: {_one_line(str(message))}", file=sys.stderr)


def _one_line(text: str) -> str:
    return escaped(" ".join(text.split()))
