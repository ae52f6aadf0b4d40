"""The name of a tool: derived from its class, checked when it is declared."""

from __future__ import annotations

import pytest

from toolkit import ConfigurationError, Tool, definition, tool
from toolkit.tools.names import folded


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("OrderStatusTool", "order_status_tool"),
        ("HTTPFetch", "http_fetch"),
        ("ReadFile", "read_file"),
        ("Weather", "weather"),
        ("GetURL", "get_url"),
        ("Tool2D", "tool2_d"),
        ("S3Upload", "s3_upload"),
        ("already_snake", "already_snake"),
        ("_Private", "_private"),
    ],
)
def test_a_name_is_derived_from_the_class_name_as_snake_case(class_name: str, name: str) -> None:
    made = type(class_name, (Tool,), {"__doc__": "Do it.", "handler": lambda self: None})

    assert definition(made).name == name
    assert made().name == name


@pytest.mark.parametrize(
    "name",
    ["a", "a" * 64, "get-weather", "get_weather", "GetWeather2", "-", "0"],
)
def test_one_to_64_letters_digits_underscores_and_hyphens_make_a_name(name: str) -> None:
    made = tool(name=name, description="Do it.")(lambda: None)

    assert definition(made).name == name


@pytest.mark.parametrize(
    "name",
    ["", "a" * 65, "get weather", "get.weather", "wetter_für", "get_weather\n", "wéather", "../etc"],
    ids=repr,
)
def test_any_other_name_is_refused_with_one_that_would_do(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"1 to 64 characters out of A-Z a-z 0-9 _ -") as caught:
        tool(name=name, description="Do it.")(lambda: None)

    suggested = str(caught.value).rpartition("name=")[2].strip("'")
    assert definition(tool(name=suggested, description="Do it.")(lambda: None)).name == suggested


@pytest.mark.parametrize("name", [5, b"search", ["search"]], ids=repr)
def test_a_name_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(ConfigurationError, match="it has to be a text"):
        tool(name=name, description="Do it.")(lambda: None)


def test_a_class_name_that_makes_no_name_is_refused_where_the_tool_is_checked() -> None:
    class Übersetzer(Tool):
        """Translate."""

        def handler(self) -> None: ...

    with pytest.raises(ConfigurationError, match="is named 'übersetzer'"):
        definition(Übersetzer)


def test_names_that_differ_only_in_case_or_hyphens_are_too_much_alike() -> None:
    assert folded("Get-Weather") == folded("get_weather")
    assert folded("get_weather") != folded("getweather")
