"""`@tool`: a function becomes a tool, and stays callable with its own types."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError
from toolkit.records import ToolResult
from toolkit.tools.docstrings import read_docstring
from toolkit.tools.execution import execute
from toolkit.tools.kept_specifications import check_class, keep_specification
from toolkit.tools.names import snake_case
from toolkit.tools.parameters import label_of
from toolkit.tools.protocol import DEFAULTS, MAX_RESULT_TOKENS, OPTIONAL_MEMBERS, OptionalMembers
from toolkit.tools.schemas.members import docstring_of

__all__ = ["FunctionTool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")
ClassT = TypeVar("ClassT", bound=type)


class FunctionTool(Generic[P, R]):
    """An `ITool` made of a function, by `@tool` or `Tool.define`. Calling it calls the function.

    A dependency-injector provider never copies it. Its members can't be changed once it is made.

    Example:
        >>> @tool
        ... def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> add(1, 2), add.name
        (3, 'add')
    """

    name: str
    description: str

    input_schema: Any = None
    output_schema: Any = None
    exclusive: bool = False
    timeout: float | None = None
    needs_approval: bool = False
    max_result_tokens: int = MAX_RESULT_TOKENS
    run_in_thread: bool = True

    def __init__(
        self, handler: Callable[P, R], name: str, description: str, **members: Unpack[OptionalMembers]
    ) -> None:
        _check_members(members)
        if not callable(handler):
            raise ConfigurationError(f"the handler of tool {name!r} is {handler!r}; it has to be callable")
        # What functools.update_wrapper sets, by way of `__dict__`: setting attributes is refused below. The handler's
        # own attributes stay its own: one named like a member must not pass for one.
        self.__dict__.update({a: getattr(handler, a) for a in functools.WRAPPER_ASSIGNMENTS if hasattr(handler, a)})
        self.__dict__["__wrapped__"] = handler
        # None stands for "not given" where it is the default; a flag that is None is refused, as on a class: what a
        # configuration lacks must not pass for `no`.
        given = {member: value for member, value in members.items() if value is not None or member in DEFAULTS}
        self.__dict__.update(given)
        self.__dict__.update(name=name, description=description, handler=handler)
        keep_specification(self)  # all that can be wrong with it is found here

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"tool '{self.name}' is fixed once it is made; {name!r} can be given to @tool(...)")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return cast("R", self.__dict__["handler"](*args, **kwargs))

    def __copy__(self) -> FunctionTool[P, R]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FunctionTool[P, R]:
        return self

    def __repr__(self) -> str:
        return f"<FunctionTool {self.name}>"

    @property
    def handler(self) -> Callable[P, R]:
        """The function."""
        return cast("Callable[P, R]", self.__dict__["handler"])

    async def execute(
        self,
        arguments: dict[str, Any] | str | bytes | None = None,
        ctx: RunContext | None = None,
        *,
        values: Mapping[type, Any] | None = None,
    ) -> ToolResult:
        """Runs one call outside an agent: see `toolkit.execute`."""
        return await execute(self, arguments, ctx, values=values)


@overload
def tool(target: ClassT, /) -> ClassT: ...  # type: ignore[overload-overlap]  # a class is callable, and comes first
@overload
def tool(target: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, **members: Unpack[OptionalMembers]
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(target: Any = None, /, *, name: str | None = None, description: str | None = None, **members: Any) -> Any:
    """Makes a tool of a function; on a class, checks the class at once and returns it. It registers nothing.

    Args:
        target: The function or class, when used as `@tool` without brackets.
        name: The function's name when left out.
        description: The function's docstring, without its sections, when left out.
        members: Optional members of `ITool`, such as `exclusive=True` or `timeout=5`.

    Raises:
        ConfigurationError: the function or class makes no tool.
    """
    if target is None:
        return functools.partial(_made, name=name, description=description, members=members)
    return _made(target, name, description, members)


def _made(target: Any, name: str | None, description: str | None, members: dict[str, Any]) -> Any:
    if isinstance(target, type):
        if name is not None or description is not None or members:
            raise ConfigurationError(
                f"@tool takes no arguments on a class; set them as attributes of {label_of(target)}"
            )
        check_class(target)
        return target
    if isinstance(target, str):
        raise ConfigurationError(f"@tool takes the name by keyword: @tool(name={target!r})")
    if not callable(target):
        raise ConfigurationError(f"@tool makes a tool of a function or class, and not of {target!r}")
    _check_members(members)
    own_name, docstring = _name_and_docstring(target)
    if description is None:
        description = read_docstring(docstring).text
    return FunctionTool(target, own_name if name is None else name, description, **members)


def _name_and_docstring(target: Any) -> tuple[str, str | None]:
    """Of a function; of what a partial calls; of the class of a callable object."""
    while isinstance(target, functools.partial):
        target = cast("functools.partial[Any]", target).func
    if hasattr(target, "__name__"):
        return target.__name__, target.__doc__
    cls = cast("type[Any]", type(target))
    return snake_case(cls.__name__), docstring_of(cls) or cls.__call__.__doc__


def _check_members(members: Mapping[str, Any]) -> None:
    for member in members:
        if member not in OPTIONAL_MEMBERS:
            near = difflib.get_close_matches(member, OPTIONAL_MEMBERS, n=1)
            meant = f"; did you mean '{near[0]}'?" if near else "."
            raise ConfigurationError(f"a tool has no member '{member}'{meant} It has {', '.join(OPTIONAL_MEMBERS)}")
