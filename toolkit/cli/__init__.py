"""The command line `toolwire`. Nothing of it is loaded before `main` is called."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives the exit status: 0 only when what was asked for was completed.

    Args:
        arguments: What stands behind `toolwire`; those of the process when left out.
    """
    from toolkit.cli.process import run_command

    return run_command(arguments)
