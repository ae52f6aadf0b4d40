"""All that is the same for every call of a tool, worked out once: definition, validators, how its handler is called."""

from __future__ import annotations

import contextlib
import dis
import inspect
import types
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.messages import ToolDefinition
from toolkit.tools.arguments import parse_arguments
from toolkit.tools.handlers import HandlerPlan, plan_handler
from toolkit.tools.names import check_name
from toolkit.tools.parameters import Parameter, label_of, read_parameters
from toolkit.tools.protocol import OPTIONAL_MEMBERS, REQUIRED_MEMBERS
from toolkit.tools.schemas import shape_of_type
from toolkit.tools.schemas.protocol import ConversionError
from toolkit.tools.validation import Validator, compile_schema
from toolkit.tools.violations import InvalidArguments, Violation, text_of

__all__ = ["MAX_RESULT_TOKENS", "ToolSpecification", "check_hook", "definition", "specify", "specify_class"]

MAX_RESULT_TOKENS = 10_000
"""Tokens of a result that a model is shown, unless the tool says otherwise; 4 bytes count as one."""

_MEMBERS = (*REQUIRED_MEMBERS, *OPTIONAL_MEMBERS)


class ToolSpecification(Struct, frozen=True, eq=False, weakref=True):
    """See `toolkit.tools.protocol.ITool` for what the flags mean."""

    definition: ToolDefinition
    label: str  # "tool 'get_weather'", for error texts
    handler: HandlerPlan
    validator: Validator
    output_validator: Validator | None
    exclusive: bool
    timeout: float | None
    needs_approval: bool
    max_result_tokens: int
    run_in_thread: bool
    has_before_hook: bool
    has_after_hook: bool
    available_if: Callable[..., Any] | None
    availability: tuple[Parameter, ...]

    @property
    def name(self) -> str:
        return self.definition.name

    def read(self, raw: str | bytes | dict[str, Any] | None) -> tuple[dict[str, Any], Any]:
        """What a model sent, as JSON values, and as what the handler takes.

        Raises:
            InvalidArguments: it is no JSON object, or breaks the schema, or can't be converted. Nothing is repaired,
                but for a JSON text where an object or array belongs.
        """
        arguments = self.validator.decode_nested(parse_arguments(raw))
        return arguments, self.converted(arguments)

    def converted(self, arguments: dict[str, Any]) -> Any:
        """Valid arguments as what the handler takes. Raises `InvalidArguments`."""
        if not self.validator.is_valid(arguments):
            raise InvalidArguments(text_of(self.validator.violations(arguments)))
        handler = self.handler
        if handler.reserved and not handler.reserved.isdisjoint(arguments):
            taken = [name for name in arguments if name in handler.reserved]
            raise InvalidArguments(text_of(Violation(f"$.{name}", "is not an argument of this tool") for name in taken))
        if handler.shape.convert is None:
            return arguments
        try:
            return handler.shape.convert(arguments)
        except ConversionError as error:
            raise InvalidArguments(text_of(error.violations)) from error


def definition(tool: Any) -> ToolDefinition:
    """What a model is shown of a tool, a class of tools, or a function made by `@tool`.

    Raises:
        ConfigurationError: a member is missing or wrong; or it is a class whose instances differ, so that one has to
            be built first.
    """
    if not isinstance(tool, type):
        return specify(tool).definition
    specification = specify_class(tool)
    if specification is None:
        raise ConfigurationError(
            f"the members of {label_of(tool)} are set per instance ({', '.join(REQUIRED_MEMBERS)}); build one to have "
            f"it described"
        )
    return specification.definition


_of_classes: WeakKeyDictionary[type, ToolSpecification | None] = WeakKeyDictionary()
_of_objects: WeakKeyDictionary[Any, ToolSpecification] = WeakKeyDictionary()


def specify_class(cls: type) -> ToolSpecification | None:
    """The specification of a class of tools; None when its instances may differ and one has to be built first.

    Raises:
        ConfigurationError: a member is wrong.
    """
    try:
        return _of_classes[cls]
    except KeyError:
        pass
    made = None if _differs_per_instance(cls) else _specified(_ClassMembers(cls), label_of(cls))
    _of_classes[cls] = made
    return made


def specify(tool: Any) -> ToolSpecification:
    """The specification of a tool that is there. It is the class's where the object has no members of its own.

    Raises:
        ConfigurationError: it is no tool, or a member is wrong.
    """
    own: dict[str, Any] = getattr(tool, "__dict__", {})
    if not any(member in own for member in _MEMBERS):
        of_class = specify_class(cast("type[Any]", type(tool)))
        if of_class is not None:
            return of_class
    try:
        return _of_objects[tool]
    except (KeyError, TypeError):  # TypeError: an object that can't be hashed, or not weakly referenced
        pass
    made = _specified(_ObjectMembers(tool), label_of(tool) if callable(tool) else f"a {label_of(type(tool))}")
    with contextlib.suppress(TypeError):  # else it is worked out again next time
        _of_objects[tool] = made
    return made


class _ObjectMembers:
    """The members of a tool that is there."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def get(self, member: str, default: Any = None) -> Any:
        return getattr(self.tool, member, default)


class _ClassMembers:
    """The members of a class of tools; methods look as they would on an instance, without `self`."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def get(self, member: str, default: Any = None) -> Any:
        if isinstance(inspect.getattr_static(self.cls, member, None), types.FunctionType):
            return types.MethodType(getattr(self.cls, member), self.cls)
        return getattr(self.cls, member, default)


def _differs_per_instance(cls: type) -> bool:
    for member in REQUIRED_MEMBERS:
        found = inspect.getattr_static(cls, member, UNSET)
        if found is UNSET or isinstance(found, (property, types.MemberDescriptorType)):
            return True
    for member in OPTIONAL_MEMBERS:
        if isinstance(inspect.getattr_static(cls, member, None), (property, types.MemberDescriptorType)):
            return True
    return any(_sets_members(vars(base).get("__init__")) for base in cls.__mro__)


def _sets_members(constructor: Any) -> bool:
    """True when a constructor stores an attribute named like a member: `self.name = name`."""
    if not isinstance(constructor, types.FunctionType):
        return False
    return any(step.opname == "STORE_ATTR" and step.argval in _MEMBERS for step in dis.get_instructions(constructor))


def _specified(members: _ObjectMembers | _ClassMembers, label: str) -> ToolSpecification:
    name = members.get("name")
    if not isinstance(name, str):
        raise ConfigurationError(f"{label} is no tool: it has no name (a str); a tool has {_REQUIRED}")
    check_name(name, label)
    owner = f"tool '{name}'"
    description = members.get("description")
    if not isinstance(description, str) or not description.strip():
        raise ConfigurationError(
            f"{owner} has no description, and a model can't choose a tool without one; "
            f"give {label} a docstring or description="
        )
    handler = members.get("handler")
    if not callable(handler):
        raise ConfigurationError(f"{owner} has no handler; define {label}.handler(...), sync or async")
    plan = plan_handler(handler, members.get("input_schema"), owner)
    flags = _Flags(members, owner)
    available_if = members.get("available_if")
    return ToolSpecification(
        definition=ToolDefinition(name, description, plan.shape.schema),
        label=owner,
        handler=plan,
        validator=compile_schema(plan.shape.schema, owner=f"the input_schema of {owner}"),
        output_validator=_output_validator(members.get("output_schema"), owner),
        exclusive=flags.bool("exclusive", default=False),
        timeout=flags.positive("timeout"),
        needs_approval=flags.bool("needs_approval", default=False),
        max_result_tokens=flags.tokens("max_result_tokens"),
        run_in_thread=flags.bool("run_in_thread", default=True),
        has_before_hook=check_hook(members.get("on_before_call"), "on_before_call(ctx, call)", owner),
        has_after_hook=check_hook(members.get("on_after_call"), "on_after_call(ctx, info)", owner),
        available_if=available_if,
        availability=_availability(available_if, owner),
    )


_REQUIRED = ", ".join(REQUIRED_MEMBERS)


class _Flags:
    """Reads the plain members, and refuses values of the wrong type: a misspelt flag must not pass for `no`."""

    def __init__(self, members: _ObjectMembers | _ClassMembers, owner: str) -> None:
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
    return compile_schema(cast("dict[str, Any]", output_schema), owner=f"the output_schema of {owner}")


def _availability(available_if: Any, owner: str) -> tuple[Parameter, ...]:
    """The parameters of `available_if` after the first, which is the context; they have to be marked `Inject`."""
    if available_if is None:
        return ()
    usage = f"available_if of {owner} is a static or class method available_if(ctx, ...)"
    if not callable(available_if):
        raise ConfigurationError(f"{usage}; it is {available_if!r}")
    parameters = read_parameters(available_if, f"available_if of {owner}")
    if inspect.ismethod(available_if) and not _is_classmethod(available_if):
        raise ConfigurationError(f"{usage}, since it is asked before an instance exists; put @staticmethod above it")
    if not parameters:
        raise ConfigurationError(f"{usage}; it takes no parameters")
    for parameter in parameters[1:]:
        if parameter.inject is None and parameter.is_required and not parameter.is_variadic:
            raise ConfigurationError(f"{usage}; mark its parameter '{parameter.name}' as Annotated[..., Inject()]")
    return tuple(parameter for parameter in parameters[1:] if parameter.inject is not None)


def _is_classmethod(method: Any) -> bool:
    owner = method.__self__
    if not isinstance(owner, type):
        return False
    return isinstance(inspect.getattr_static(owner, method.__name__, None), classmethod)
