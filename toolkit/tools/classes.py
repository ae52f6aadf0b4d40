"""`Tool`: the base class that fills in the optional members of `ITool`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Unpack

from toolkit.context import RunContext
from toolkit.records import ToolResult
from toolkit.tools.docstrings import read_docstring
from toolkit.tools.execution import execute
from toolkit.tools.functions import FunctionTool
from toolkit.tools.members import annotated_names
from toolkit.tools.names import snake_case
from toolkit.tools.protocol import MAX_RESULT_TOKENS, FurtherMembers
from toolkit.tools.schemas.members import docstring_of

__all__ = ["Tool"]


class Tool:
    """The base of class tools. A subclass has a docstring, a constructor that takes its clients, and a `handler`.

    `name` is derived from the class name (`WeatherTool` → `weather_tool`) and `description` from the docstring, unless
    they are given. A class that takes them in its constructor says so by an annotation without a value
    (`name: str`), or sets them there: it is then described once it is built. A dependency-injector provider never
    copies a tool that is there. What the members mean stands at `ITool`.

    Example:
        >>> class AddTool(Tool):
        ...     "Add two numbers."
        ...
        ...     def handler(self, a: int, b: int) -> int:
        ...         return a + b
        >>> AddTool.name
        'add_tool'
    """

    name: str
    description: str
    handler: Callable[..., Any]

    input_schema: Any = None
    output_schema: Any = None
    exclusive: bool = False
    timeout: float | None = None
    needs_approval: bool = False
    max_result_tokens: int = MAX_RESULT_TOKENS
    run_in_thread: bool = True

    _derived: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        derived: set[str] = set()
        if _is_to_derive(cls, "name"):
            cls.name = snake_case(cls.__name__)
            derived.add("name")
        if _is_to_derive(cls, "description") and (text := read_docstring(docstring_of(cls)).text):
            cls.description = text
            derived.add("description")
        cls._derived = frozenset(derived)

    @staticmethod
    def define(
        *,
        name: str,
        description: str,
        handler: Callable[..., Any],
        input_schema: Any = None,
        **members: Unpack[FurtherMembers],
    ) -> FunctionTool[..., Any]:
        """A tool of a callable at hand.

        Args:
            name: 1 to 64 of `A-Z a-z 0-9 _ -`.
            description: What the model reads.
            handler: Sync or async. With an `input_schema` it takes one value (see `ITool`), else its parameters make
                the schema.
            input_schema: A JSON Schema as a dict, or a type.
            members: Further members of `ITool`, such as `exclusive=True` or `on_before_call=guard`.

        Raises:
            ConfigurationError: something about it is wrong.
        """
        return FunctionTool(handler, name, description, input_schema=input_schema, **members)

    async def execute(
        self,
        arguments: dict[str, Any] | str | bytes | None = None,
        ctx: RunContext | None = None,
        *,
        values: Mapping[type, Any] | None = None,
    ) -> ToolResult:
        """Runs one call outside an agent: see `toolkit.execute`."""
        return await execute(self, arguments, ctx, values=values)

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tool:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'name', '')}>"


def _is_to_derive(cls: type[Tool], member: str) -> bool:
    """True unless the class, or one that it inherits from, gives the member itself or says that instances do."""
    for base in cls.__mro__:
        if base is Tool:
            continue
        if member in vars(base):
            return member in vars(base).get("_derived", ())
        if member in annotated_names(base):
            return False
    return True
