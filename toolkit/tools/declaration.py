"""What a tool declares by its members, read into its specification. What is missing or wrong is told at once."""

from __future__ import annotations

import inspect
from collections.abc import Set
from typing import Any

from toolkit.errors import ConfigurationError
from toolkit.messages import ToolDefinition
from toolkit.tools.handlers import plan_handler
from toolkit.tools.members import ClassMembers, Members, undeclared
from toolkit.tools.misspelt import refuse_misspelt
from toolkit.tools.names import check_name
from toolkit.tools.parameters import Parameter, label_of, read_parameters
from toolkit.tools.protocol import MAX_RESULT_TOKENS, REQUIRED_MEMBERS
from toolkit.tools.schemas import shape_of_type
from toolkit.tools.schemas.json_values import with_arrays
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.validation import Validator, compile_schema

__all__ = ["check_declared", "check_hook", "specification_by"]

_GUARDING = ("on_before_call", "on_after_call", "needs_approval", "available_if", "exclusive")


def specification_by(
    members: Members,
    label: str,
    described: type,
    own: dict[str, Any] | None = None,
    given: Set[type] = frozenset(),
) -> ToolSpecification:
    """What the members of a tool, or of a class of tools, say together.

    Args:
        label: The tool in error texts, as long as it has no name.
        described: The class of what the members are of.
        own: Those that the object has itself, and not from its class.
        given: Types of which the run has a value; see `plan_handler`.

    Raises:
        ConfigurationError: a member is missing or wrong.
    """
    handler = members.get("handler")
    if handler is None and callable(members.get("run_sync")) and callable(members.get("stream")):
        raise ConfigurationError(
            f"{label} is an agent, and an agent is no tool; write a tool that takes it in its constructor, or as "
            f'agent: Annotated[Agent, Inject("...")], and awaits agent.run(...)'
        )
    name = members.get("name")
    if name is None:
        raise ConfigurationError(_absent("name", label))
    if not isinstance(name, str):
        raise ConfigurationError(f"the name of {label} is {name!r}; it has to be a text")
    check_name(name, label)
    owner = f"tool '{name}'"
    description = members.get("description")
    if description is None or (isinstance(description, str) and not description.strip()):
        raise ConfigurationError(_absent("description", label, _how_to_describe(members, label), owner))
    if not isinstance(description, str):
        raise ConfigurationError(f"the description of {owner} is {description!r}; it has to be a text")
    if handler is None:
        raise ConfigurationError(_absent("handler", label, owner=owner))
    if not callable(handler):
        raise ConfigurationError(f"the handler of {owner} is {handler!r}; it has to be callable, sync or async")
    refuse_misspelt(described, _GUARDING, owner)
    plan = plan_handler(handler, members.get("input_schema"), owner, given)
    flags = _Flags(members, owner)
    available_if = members.get("available_if")
    return ToolSpecification(
        definition=ToolDefinition(name, description, plan.shape.schema),
        label=owner,
        handler=plan,
        validator=compile_schema(plan.shape.schema, owner=owner),
        output_validator=_output_validator(members.get("output_schema"), owner),
        exclusive=flags.bool("exclusive", default=False),
        timeout=flags.positive("timeout"),
        needs_approval=flags.bool("needs_approval", default=False),
        max_result_tokens=flags.tokens("max_result_tokens"),
        run_in_thread=flags.bool("run_in_thread", default=True),
        has_before_hook=check_hook(members.get("on_before_call"), "on_before_call(ctx, call)", owner),
        has_after_hook=check_hook(members.get("on_after_call"), "on_after_call(ctx, info)", owner),
        available_if=available_if,
        availability=_availability(members, available_if, owner),
        described=described,
        own=own or {},
    )


def check_declared(cls: type) -> None:
    """Raises `ConfigurationError` for a required member that no instance of the class would have."""
    for member in undeclared(cls):
        raise ConfigurationError(_absent(member, label_of(cls), _how_to_describe(ClassMembers(cls), label_of(cls))))


def _how_to_describe(members: Members, label: str) -> str:
    if members.get("__wrapped__") is not None:  # a function tool
        return f'write a docstring for {label}, or give description="..."'
    if members.get("_derived") is not None:  # a Tool
        return f"write a docstring for {label}, or set its description"
    return f"set {label}.description"


def _absent(member: str, label: str, describing: str = "", owner: str | None = None) -> str:
    """What is said of a required member that is not there."""
    if member == "name":
        return (
            f"{label} is no tool: it has no name. A tool has {', '.join(REQUIRED_MEMBERS)}; put @tool above a "
            f"function, or let a class inherit from Tool"
        )
    if member == "description":
        return f"{owner or label} has no description, and a model can't choose a tool without one; {describing}"
    return f"{owner or label} has no handler, and nothing to run when a model calls it; define {label}.handler(...)"


class _Flags:
    """Reads the plain members, and refuses values of the wrong type: a misspelt flag must not pass for `no`."""

    def __init__(self, members: Members, owner: str) -> None:
        self._members = members
        self._owner = owner

    def bool(self, member: str, *, default: bool) -> bool:
        value = self._members.get(member, default)
        if not isinstance(value, bool):
            raise ConfigurationError(f"{member} of {self._owner} is {value!r}; it is True or False")
        return value

    def positive(self, member: str) -> float | None:
        value = self._members.get(member)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise ConfigurationError(
                f"{member} of {self._owner} is {value!r}; it is None or a number of seconds above 0"
            )
        return float(value)

    def tokens(self, member: str) -> int:
        value = self._members.get(member, MAX_RESULT_TOKENS)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigurationError(f"{member} of {self._owner} is {value!r}; it is a whole number from 1")
        return value


def check_hook(hook: Any, usage: str, owner: str) -> bool:
    """True when there is a hook. Raises `ConfigurationError` unless it can be called with two arguments."""
    if hook is None:
        return False
    name = usage.partition("(")[0]
    if not callable(hook):
        raise ConfigurationError(f"{name} of {owner} is {hook!r}; it has to be callable as {usage}")
    try:
        inspect.signature(hook).bind(None, None)
    except TypeError as error:
        raise ConfigurationError(
            f"{name} of {owner} is called as {usage}, and it takes {inspect.signature(hook)}"
        ) from error
    except ValueError:
        pass  # a builtin without a signature
    return True


def _output_validator(output_schema: Any, owner: str) -> Validator | None:
    if output_schema is None:
        return None
    if not isinstance(output_schema, dict):
        try:
            output_schema = shape_of_type(output_schema).schema
        except ConfigurationError as error:
            raise ConfigurationError(f"output_schema of {owner}: {error}") from error
    return compile_schema(with_arrays(output_schema), owner=f"the output of {owner}")


def _availability(members: Members, available_if: Any, owner: str) -> tuple[Parameter, ...]:
    """The parameters of `available_if` after the first, which is the context; they have to be marked `Inject`."""
    if available_if is None:
        return ()
    usage = f"available_if of {owner} is a static or class method available_if(ctx, ...)"
    if not callable(available_if):
        raise ConfigurationError(f"{usage}; it is {available_if!r}")
    if members.needs_instance("available_if"):
        raise ConfigurationError(f"{usage}, since it is asked before an instance exists; put @staticmethod above it")
    parameters = read_parameters(available_if, f"available_if of {owner}")
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise ConfigurationError(f"{usage}; its first parameter gets the RunContext")
    for parameter in parameters[1:]:
        if parameter.inject is None and parameter.is_required and not parameter.is_variadic:
            raise ConfigurationError(f"{usage}; mark its parameter '{parameter.name}' as Annotated[..., Inject()]")
        if parameter.inject is not None and parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise ConfigurationError(f"{usage}; its parameter '{parameter.name}' has to be one that can be named")
    return tuple(parameter for parameter in parameters[1:] if parameter.inject is not None)
