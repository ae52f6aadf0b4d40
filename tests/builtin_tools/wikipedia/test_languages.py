from __future__ import annotations

import re

import pytest

from builtin_tools.wikipedia.languages import EDITIONS, is_edition, near_editions


def test_the_editions_are_some_340_codes_that_may_stand_in_a_host_name() -> None:
    assert 330 < len(EDITIONS) < 370
    assert [code for code in EDITIONS if not re.fullmatch(r"[a-z]+(-[a-z]+){0,2}", code)] == []
    assert [code for code in EDITIONS if not is_edition(code)] == []


@pytest.mark.parametrize(
    "code",
    ["en", "simple", "be-tarask", "zh-yue", "zh-min-nan", "roa-tara", "map-bms", "cbk-zam", "fiu-vro", "ii", "als"],
)
def test_editions_with_unusual_codes_are_known(code: str) -> None:
    assert is_edition(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "EN",
        "en ",
        "en\n",
        "en.evil",
        "evil.example/#",
        "../",
        "en/",
        "en?",
        "en@evil",
        "en:80",
        "\u0435n",
        "\uff45\uff4e",
        "xx",
        "zh-hans",
    ],
)
def test_what_is_not_exactly_an_editions_code_is_none(code: str) -> None:
    assert not is_edition(code)


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("EN", ["en"]),
        (" en ", ["en"]),
        ("en-GB", ["en"]),
        ("zh_hans", ["zh"]),
        ("nb", ["no"]),
        ("yue", ["zh-yue"]),
        ("be-x-old", ["be-tarask"]),
        ("jp", ["ja"]),
        ("simpel", ["simple"]),
        ("evil.example/#", []),
        ("english language", []),
        ("", []),
    ],
)
def test_what_was_meant_is_offered(code: str, near: list[str]) -> None:
    assert near_editions(code)[:1] == near
