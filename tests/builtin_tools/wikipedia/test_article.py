from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_tools.text import piece_end
from builtin_tools.wikipedia.article import Article, choices_of, cleaned
from builtin_tools.wikipedia.results import Choice, Heading
from tests.builtin_tools.wikipedia.answers import recorded

TEXT = """An introduction.

== History ==
Old.

=== Early ===
Older.

== Early ==
Another one.

== C == sharp ==
Odd.

== References =="""


def article(text: str = TEXT) -> Article:
    return Article(title="T", url="https://en.wikipedia.org/wiki/T", language="en", text=text)


def test_the_headings_are_listed_with_their_depth() -> None:
    assert article().sections == (
        Heading("History", 2),
        Heading("Early", 3),
        Heading("Early", 2),
        Heading("C == sharp", 2),
        Heading("References", 2),
    )


@pytest.mark.parametrize(
    ("line", "headings"),
    [
        ("== A ==", (Heading("A", 2),)),
        ("==A==  \t", (Heading("A", 2),)),
        ("======= A =======", (Heading("= A =", 6),)),
        ("=== A ==", (Heading("= A", 2),)),
        ("== A ====", (Heading("A ==", 2),)),
        ("== \u00a0 A ==", (Heading("\u00a0 A", 2),)),
        ("= A =", ()),
        ("== A", ()),
        ("== A =", ()),
        ("== A == x", ()),
        (" == A ==", ()),
        ("=======", ()),
        ("==  ==", ()),
        ("== = ==", ()),
    ],
)
def test_a_heading_has_as_many_signs_behind_it_as_before(line: str, headings: tuple[Heading, ...]) -> None:
    assert article(f"Text.\n{line}\nText.").sections == headings


def test_a_long_line_that_only_begins_as_a_heading_is_text() -> None:
    # A pattern that looked for the end of each would take hours here.
    text = "\n".join(["==" + " a" * 200_000, "== " + "a =" * 200_000 + "x", "== A =="])

    assert article(text).sections == (Heading("A", 2),)


@pytest.mark.parametrize(
    ("section", "name", "text"),
    [
        ("intro", "intro", "An introduction."),
        ("Intro", "intro", "An introduction."),
        ("all", "all", TEXT),
        ("History", "History", "Old.\n\n=== Early ===\nOlder."),
        ("history", "History", "Old.\n\n=== Early ===\nOlder."),
        (" == History == ", "History", "Old.\n\n=== Early ===\nOlder."),
        ("early", "Early", "Older."),
        ("c == sharp", "C == sharp", "Odd."),
        ("References", "References", ""),
    ],
)
def test_a_part_is_found_by_its_name(section: str, name: str, text: str) -> None:
    assert article().part(section) == (name, text)


def test_a_section_that_is_not_there_is_none() -> None:
    assert article().part("Histor") is None


def test_an_article_without_headings_is_all_introduction() -> None:
    assert article("Short.").part("intro") == ("intro", "Short.")
    assert article("Short.").sections == ()


MATHML = "\n\n  \n    \n      \n        E\n        =\n        m\n      \n    \n    {\\displaystyle E=m}\n  \n"


@pytest.mark.parametrize(
    ("extract", "text"),
    [
        (f"It is{MATHML}, as known.\n\n\n\nNext.", "It is $E=m$, as known.\n\nNext."),
        (f"With{MATHML} and{MATHML} it ends.", "With $E=m$ and $E=m$ it ends."),
        (f"It is{MATHML}\nNext.", "It is $E=m$\n\nNext."),
        (f"It is{MATHML}\n\n== Next ==", "It is $E=m$\n\n== Next =="),
        (MATHML, "$E=m$"),
    ],
)
def test_formulas_are_kept_once_and_their_debris_goes(extract: str, text: str) -> None:
    assert cleaned(extract) == text


def test_indented_lines_that_are_no_formula_stay() -> None:
    assert cleaned("A poem:\n  indented\n    more\nEnd.") == "A poem:\nindented\nmore\nEnd."


@given(st.text(alphabet="ab \n", max_size=200), st.integers(1, 40))
def test_the_pieces_together_are_the_text_and_none_is_too_long(text: str, length: int) -> None:
    pieces = []
    offset = 0
    while offset < len(text):
        end = piece_end(text, offset, length)
        assert offset < end <= offset + length
        pieces.append(text[offset:end])
        offset = end

    assert "".join(pieces) == text


def test_a_piece_ends_between_words_where_it_can() -> None:
    text = "word " * 100

    assert text[: piece_end(text, 0, 98)].endswith("word ")


def test_choices_stand_in_the_pages_order_with_its_line() -> None:
    text = (
        "Mercury may refer to:\n\n== Science ==\nMercury (planet), the nearest to the Sun\nMercury (element), a metal"
    )

    choices = choices_of(["Mercury (element)", "Freddie Mercury", "Mercury (planet)", "Mercury"], text)

    assert choices == (
        Choice("Mercury (planet)", "the nearest to the Sun"),
        Choice("Mercury (element)", "a metal"),
        Choice("Freddie Mercury"),
        Choice("Mercury"),
    )


def test_a_recorded_article_is_cut_into_its_sections() -> None:
    import json

    extract = json.loads(recorded("extract_full_wiki_sections.json").content())["query"]["pages"]["23862"]["extract"]
    found = article(cleaned(extract))

    assert len(found.sections) == 28
    assert found.sections[3] == Heading("Indentation", 3)
    part = found.part("syntax and semantics")
    assert part is not None
    assert part[1].count("=== ") == 6
    assert "== Code examples" not in part[1]
