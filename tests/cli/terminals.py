"""The command line with a terminal around it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

__all__ = ["on_terminals"]

TOOLWIRE = [sys.executable, "-m", "toolkit.cli"]


def on_terminals(
    *arguments: str, cwd: Path, out_is_terminal: bool = True, err_is_terminal: bool = True, **environment: str
) -> tuple[str, str, int]:
    """What a command prints on the terminal, what it prints into the pipe beside it, and its status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*TOOLWIRE, *arguments],
        cwd=cwd,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40", **environment},
        stdout=theirs if out_is_terminal else subprocess.PIPE,
        stderr=theirs if err_is_terminal else subprocess.PIPE,
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # on Linux the end of a terminal is an error
            break
        if not piece:
            break
        printed += piece
    out, err = process.communicate()
    os.close(ours)
    return printed.decode(), (out or err or b"").decode(), process.returncode
