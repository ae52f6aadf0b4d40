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


def test_what_a_page_says_to_be_in_a_file_is_defined_there() -> None:
    page = (ROOT / "docs" / "how_it_works.md").read_text()
    placed = re.findall(r"`(?:\w+\.)?(\w+)`,?\s+\((?:in )?`([a-z_/]+\.py)`\)", page)

    missing = [
        (name, path)
        for name, path in placed
        if re.search(rf"^ *(async )?(def|class) {name}\b", (ROOT / "toolkit" / path).read_text(), re.MULTILINE) is None
    ]
    assert missing == []
    assert len(placed) > 5


def test_decisions_are_numbered_without_gaps_and_cited_by_their_numbers() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    cited = [
        match for page in PAGES for match in re.findall(r"\[decision (\d+)\]\([^)]*?/(\d+)-", page.read_text(), re.I)
    ]

    assert [page.name[:4] for page in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    assert [page.read_text()[:7] for page in decisions] == [f"# {page.name[:4]}:" for page in decisions]
    assert [one for one in cited if one[0] != one[1]] == []
    assert cited != []
