"""The page of mistakes: ten of them, each with the code and the message that it ends with.

That each block ends with the message below it is shown with all pages, by `test_code_blocks`.
"""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks_of

PAGE = ROOT / "docs" / "errors.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]


def test_the_page_has_ten_mistakes_in_a_row_and_its_blocks_are_run() -> None:
    assert PAGE in PAGES
    assert [section.partition(".")[0] for section in SECTIONS] == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_each_mistake_has_one_block_and_one_message(section: str) -> None:
    code, message = blocks_of(section)

    assert (code.language, message.language, message.follows_at_once) == ("python", "text", True)
    assert_it_helps(message)


def assert_it_helps(message: Block) -> None:
    """One line, with the class, what happened, and after it what to do."""
    said = message.text.removesuffix("\n")

    assert said.startswith("ConfigurationError: ")
    assert "\n" not in said
    assert "; " in said or ". " in said, "what to do stands after what happened"
