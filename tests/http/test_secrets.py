"""Secrets are taken out of texts, however a server writes them."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest

from toolkit.http import without

KEY = 'a "quoted"\\key/é&b'
SPELLINGS = {
    "as it is": KEY,
    "in an address": quote(KEY, safe=""),
    "in a form": quote_plus(KEY),
    "in HTML": html.escape(KEY),
    "in JSON": json.dumps(KEY, ensure_ascii=False)[1:-1],
    "in JSON of ASCII": json.dumps(KEY)[1:-1],
    "in JSON of PHP": json.dumps(KEY)[1:-1].replace("/", "\\/"),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_taken_out_however_it_is_spelt(spelling: str) -> None:
    assert without([KEY], f"the key '{spelling}' is wrong") == "the key '[hidden]' is wrong"


def test_a_secret_that_holds_another_leaves_nothing_of_itself() -> None:
    assert without(["key", "key-and-more"], "key-and-more, key") == "[hidden], [hidden]"


def test_no_secret_changes_nothing() -> None:
    assert without(["", "abc"], "a text") == "a text"
