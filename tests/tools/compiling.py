"""What the tests of validation share: both engines, the dialects, and short ways to compile, refuse and word."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.errors import ConfigurationError
from toolkit.tools.validation import Engine, Validator, compile_schema

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

both_engines = pytest.mark.parametrize("engine", ["rust", "python"])


def compiled(schema: dict[str, Any], engine: Engine | None = None) -> Validator:
    return compile_schema(schema, owner="tool 'get_weather'", engine=engine)


def words(schema: dict[str, Any], value: Any, engine: Engine | None = None) -> list[str]:
    return [f"{found.path}: {found.message}" for found in compiled(schema, engine).violations(value)]


def refusal(schema: Any, engine: Engine | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        compiled(schema, engine)
    return str(caught.value)
