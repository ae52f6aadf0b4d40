"""Which maker makes the shape, and what is said when none can."""

from __future__ import annotations

import collections
import datetime as dt
import subprocess
import sys
import typing
import uuid
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from tests.tools.schemas import early, late
from tests.tools.schemas.table import ONLY_PYDANTIC, TABLE, Circle, Model
from toolkit.errors import ConfigurationError
from toolkit.tools.schemas import ConversionError, Field, shape_of_fields, shape_of_type
from toolkit.tools.violations import Violation

if typing.TYPE_CHECKING:
    from fractions import Fraction


class WeatherClient:
    """An application's class, which no library knows."""


class HiddenName(msgspec.Struct):
    part: Fraction


@pytest.fixture
def without_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    for module in ("pydantic_maker", "pydantic_schemas"):
        monkeypatch.delitem(sys.modules, f"toolkit.tools.schemas.{module}", raising=False)


def test_importing_the_package_and_using_msgspec_does_not_import_pydantic() -> None:
    script = (
        "import sys, datetime, toolkit.tools.schemas as s; s.shape_of_type(list[datetime.date]); "
        "sys.exit('pydantic' in sys.modules)"
    )

    finished = subprocess.run([sys.executable, "-c", script], check=False)

    assert finished.returncode == 0


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in TABLE if not row.not_by_msgspec])
@pytest.mark.usefixtures("without_pydantic")
def test_what_msgspec_can_make_needs_no_pydantic(row: Any) -> None:
    assert shape_of_type(row.annotation).schema == row.schema


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param(dt.date | str, id="two_texts"),
        pytest.param(Annotated[int, pydantic.Field(ge=1)], id="field"),
        pytest.param(list[Model], id="model"),
        pytest.param(collections.deque[int], id="standard_library"),
    ],
)
@pytest.mark.usefixtures("without_pydantic")
def test_without_pydantic_the_error_names_the_extra_that_could_help(annotation: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"parameter 'when': .* pip install 'toolwire\[pydantic\]'"):
        shape_of_fields([Field("when", annotation)])


@pytest.mark.usefixtures("without_pydantic")
def test_without_pydantic_the_error_for_an_applications_class_does_not_speak_of_it_as_a_remedy() -> None:
    with pytest.raises(ConfigurationError) as caught:
        shape_of_fields([Field("client", WeatherClient)])

    assert "pip install" not in str(caught.value)
    assert "Annotated[WeatherClient, Inject()]" in str(caught.value)


def test_a_class_without_a_schema_is_named_with_its_parameter_and_what_to_do() -> None:
    with pytest.raises(ConfigurationError) as caught:
        shape_of_fields([Field("city", str), Field("client", list[WeatherClient] | None)])

    assert str(caught.value) == (
        "parameter 'client': WeatherClient has no JSON Schema; if the application's container should fill it in, mark "
        "it Annotated[WeatherClient, Inject()]; else give it a type that JSON has: str, int, list, ..., a dataclass, "
        "a TypedDict, a msgspec Struct or a pydantic model"
    )


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        pytest.param(Callable[[], int], "Callable[[], int] has no JSON Schema; give it a type", id="callable"),
        pytest.param(type[int], "type[int] has no JSON Schema; give it a type", id="class"),
        pytest.param(uuid.UUID | WeatherClient, "WeatherClient has no JSON Schema", id="in_a_union"),
        pytest.param(HiddenName, "an annotation of HiddenName names 'Fraction', which its module doesn't", id="hidden"),
        pytest.param(Circle | Model, "Model is a type of pydantic's; by pydantic: ", id="one_type_that_needs_both"),
        pytest.param("int", "the annotation 'int' is not evaluated", id="text"),
    ],
)
def test_a_type_that_nobody_has_a_schema_for_is_refused_with_the_reason(annotation: Any, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        shape_of_type(annotation)

    assert text in str(caught.value)


def test_one_parameter_for_pydantic_beside_one_for_msgspec_both_work() -> None:
    fields = [
        Field("when", dt.date | str, description="The day."),
        Field("shape", Circle),
        Field("model", Model | None, default=None),
        Field("limit", int, default=10),
    ]

    shape = shape_of_fields(fields)

    assert list(shape.schema["properties"]) == ["when", "shape", "model", "limit"]
    assert shape.schema["required"] == ["when", "shape"]
    assert shape.schema["additionalProperties"] is False
    assert shape.convert is not None
    arguments = {"when": "2024-05-31", "shape": {"type": "circle", "radius": 1}, "limit": 5.0}
    assert shape.convert(arguments) == {"when": dt.date(2024, 5, 31), "shape": Circle(1.0), "limit": 5}


def test_violations_of_both_makers_are_told_together() -> None:
    shape = shape_of_fields([Field("model", Model), Field("day", dt.date), Field("id", uuid.UUID)])
    assert shape.convert is not None

    with pytest.raises(ConversionError) as caught:
        shape.convert({"model": {"day": "x"}, "day": "y", "id": "z"})

    assert sorted(caught.value.violations, key=lambda violation: violation.path) == [
        Violation("$.day", "'y' is not a date such as 2024-05-31"),
        Violation("$.id", "'z' is not a UUID"),
        Violation("$.model.day", "'x' is not a date such as 2024-05-31"),
    ]


def test_two_classes_of_one_name_keep_their_own_definitions_also_across_makers() -> None:
    fields = [
        Field("a", early.Tree),
        Field("b", late.Tree | late.Pair | early.Pair),
        Field("c", msgspec.defstruct("Tree", [("leaf", str)])),
    ]

    schema = shape_of_fields(fields).schema

    definitions = schema["$defs"]
    a, c = (schema["properties"][name]["$ref"].removeprefix("#/$defs/") for name in "ac")
    b = schema["properties"]["b"]["anyOf"][0]["$ref"].removeprefix("#/$defs/")
    assert "leaf" in definitions[c]["properties"]
    for name in (a, b):
        assert definitions[name]["properties"]["children"]["items"] == {"$ref": f"#/$defs/{name}"}


def test_the_reason_why_a_row_is_not_msgspecs_is_met_by_pydantic() -> None:
    rows = [row for row in TABLE if row.not_by_msgspec == ONLY_PYDANTIC]

    shapes = [shape_of_type(row.annotation) for row in rows]

    assert [shape.schema for shape in shapes] == [row.schema for row in rows]
