"""What a model reads of a docstring."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit import Tool, definition, tool

GOOGLE = """
    Get the weather
    of a city.

    Second paragraph: with details.

    Args:
        city (str): City name,
            such as "Paris".
        units: Unit system of the answer.

    Returns:
        One line.

    Raises:
        ToolError: no such city.

    Note:
        Europe only.
    """
NUMPY = """
    Get the weather
    of a city.

    Second paragraph: with details.

    Parameters
    ----------
    city : str
        City name,
        such as "Paris".
    units : str, optional
        Unit system of the answer.

    Returns
    -------
    str
        One line.

    Note
    ----
    Europe only.
    """
REST = """
    Get the weather
    of a city.

    Second paragraph: with details.

    :param city: City name,
        such as "Paris".
    :param str units: Unit system of the answer.
    :type city: str
    :returns: One line.
    :raises ToolError: no such city.
    """


@pytest.mark.parametrize(
    ("docstring", "note"),
    [(GOOGLE, "\n\nNote:\n    Europe only."), (NUMPY, "\n\nNote\n----\nEurope only."), (REST, "")],
    ids=["google", "numpy", "rest"],
)
def test_the_sections_of_a_docstring_describe_parameters_and_the_rest_describes_the_tool(
    docstring: str, note: str
) -> None:
    def weather(city: str, units: str = "metric") -> None: ...

    weather.__doc__ = docstring

    described = definition(tool(weather))

    assert described.description == f"Get the weather\nof a city.\n\nSecond paragraph: with details.{note}"
    assert {name: schema["description"] for name, schema in described.input_schema["properties"].items()} == {
        "city": 'City name, such as "Paris".',
        "units": "Unit system of the answer.",
    }


@pytest.mark.parametrize(
    "docstring",
    [
        "Returns the weather.",
        "Get it. Args: none.",
        "Parameters of the weather.\n\nNot a section.",
        "Look up.\n\nExample:\n    look_up('x')",
        "Look up.\n\nLike this:\n    indented\n        code",
        "Look up:\n\n- one\n- two",
        "Look up.\n\nreturns: the best one first",
    ],
    ids=lambda text: text[:12] + "..." + text[-8:],
)
def test_text_that_only_resembles_a_section_stays_in_the_description(docstring: str) -> None:
    def look_up() -> None: ...

    look_up.__doc__ = docstring

    assert definition(tool(look_up)).description == docstring


@pytest.mark.parametrize(
    "docstring", ["Args:\n    x", "Args:\nx: not indented", ":param: x", "Look up.\n\nParameters\n----------\n"]
)
def test_a_malformed_section_breaks_nothing(docstring: str) -> None:
    def look_up(x: int) -> None: ...

    look_up.__doc__ = docstring

    assert list(definition(tool(description="Look up.")(look_up)).input_schema["properties"]) == ["x"]


def test_a_docstring_that_is_all_parameters_is_no_description() -> None:
    class Undescribed(Tool):
        """Get the weather."""

        def handler(self, city: str) -> None:
            """
            Args:
                city: City name.
            """

    described = definition(Undescribed)

    assert described.description == "Get the weather."
    assert described.input_schema["properties"]["city"]["description"] == "City name."


def test_attributes_of_a_class_are_not_told_to_the_model() -> None:
    class Weather(Tool):
        """Get the weather.

        Attributes:
            client: The HTTP client, with its secret.
        """

        def handler(self) -> Any: ...

    assert definition(Weather).description == "Get the weather."
