"""Every Python block of the documentation runs as printed, offline.

The blocks of one page run one after another, so that a later one may use what an earlier one defined. A `text` block
right below a Python block is what it prints, or, as its last line, the error that it ends with.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.pages import PAGES, Block, blocks_of, named
from tests.offline import refuse_connections

PAGES_WITH_CODE = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page.read_text()))]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=named)
def test_the_python_blocks_of_a_page_run_as_printed(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuse_connections(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # annotations are looked up in the module of their class
    blocks = blocks_of(page.read_text())
    capsys.readouterr()

    for block, below in zip(blocks, [*blocks[1:], Block("", "", 0, False)], strict=True):
        if block.language != "python":
            continue
        is_told = below.language == "text" and below.follows_at_once
        try:
            run(block, page, module)
            error = ""
        except Exception as raised:
            if not is_told:
                raise
            error = last_line_of(raised)
        printed = capsys.readouterr().out + error
        if is_told:
            assert printed == below.text, f"what the block at {named(page)}:{block.line} prints"


def run(block: Block, page: Path, module: ModuleType) -> None:
    placed = "\n" * (block.line - 1) + block.text  # so that a traceback names the line in the page
    exec(compile(placed, str(page), "exec", dont_inherit=True), module.__dict__)


def last_line_of(error: Exception) -> str:
    """The class, by its bare name as a reader knows it, and the text."""
    return "".join(traceback.format_exception_only(error)).removeprefix(f"{type(error).__module__}.")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_code_is_labelled_so_that_it_runs(page: Path) -> None:
    labels = {block.language for block in blocks_of(page.read_text())}

    assert labels <= {"python", "text", "sh", "toml", "json", "mermaid"}, "a label that these tests do not know"


def test_the_readme_and_the_quickstart_have_code() -> None:
    assert {"README.md", "docs/quickstart.md"} <= {named(page) for page in PAGES_WITH_CODE}
