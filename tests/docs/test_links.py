"""What the pages point at is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, named

PAGES_WITH_PATHS = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "README.md",
    ROOT / "docs" / "how_it_works.md",
]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())

    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES_WITH_PATHS, ids=named)
def test_paths_that_are_named_exist(page: Path) -> None:
    named_paths = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*/(?:[a-z_0-9]+\.py)?)`", page.read_text())

    missing = [path for path in named_paths if not (ROOT / path).exists() and not (ROOT / "toolkit" / path).exists()]
    assert missing == []
    assert named_paths != []


def test_the_index_of_the_documentation_lists_every_page() -> None:
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([a-z_0-9]+\.md)\)", (docs / "README.md").read_text()))

    assert {page.name for page in docs.glob("*.md")} - {"README.md"} == linked
