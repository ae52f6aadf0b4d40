"""The pages of the documentation, and the code blocks in them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PAGES", "ROOT", "Block", "assert_is_a_test", "blocks_of", "named", "named_tests"]

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[^\n]*?) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `follows_at_once` is true when only blank lines stand between it and the block before."""

    language: str
    text: str
    line: int
    follows_at_once: bool


def named(path: Path) -> str:
    """The path from the project's root, for the ids of tests."""
    return path.relative_to(ROOT).as_posix()


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    blocks: list[Block] = []
    at = 0
    while (opening := _FENCE.search(page, at)) is not None:
        end = re.compile(rf"^ *{re.escape(opening['fence'])} *$", re.MULTILINE).search(page, opening.end())
        assert end is not None, f"the block {opening.group()!r} has no end"
        lines = page[opening.end() + 1 : end.start()].split("\n")
        text = "\n".join(line.removeprefix(opening["indent"]) for line in lines)
        line = page.count("\n", 0, opening.end()) + 2
        blocks.append(Block(opening["language"], text, line, not page[at : opening.start()].strip()))
        at = end.end()
    return blocks


def named_tests(text: str) -> list[str]:
    """What stands in a text as `tests/a/test_b.py::test_c`, in code quotes."""
    return re.findall(r"`(tests/[^`]*)`", text)


def assert_is_a_test(path_and_name: str) -> None:
    """Fails unless `tests/a/test_b.py::test_c` exists."""
    path, _, name = path_and_name.partition("::")
    tree = ast.parse((ROOT / path).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name.startswith("test_")
    assert name in functions
