"""All that is the same for every call of a tool, worked out once: definition, validators, how its handler is called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Set
from typing import Any, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from toolkit.errors import ConfigurationError
from toolkit.messages import ToolDefinition
from toolkit.tools.arguments import UNREADABLE, decode, parse_arguments, prove
from toolkit.tools.bounded_store import BoundedStore
from toolkit.tools.copies import copied_json
from toolkit.tools.handlers import HandlerPlan, plan_handler, types_taken
from toolkit.tools.likeness import Likeness, likeness_of
from toolkit.tools.members import (
    MEMBERS,
    ClassMembers,
    Look,
    Members,
    ObjectMembers,
    attributes_of,
    changed_members,
    differs_per_instance,
    has_constructor,
    look_at,
    own_members,
    read_member,
    read_members,
    undeclared,
)
from toolkit.tools.misspelt import refuse_misspelt
from toolkit.tools.names import check_name
from toolkit.tools.parameters import Parameter, label_of, read_parameters
from toolkit.tools.proofs import SHORT, has_no_repeated_key
from toolkit.tools.protocol import MAX_RESULT_TOKENS, REQUIRED_MEMBERS
from toolkit.tools.schemas import shape_of_type
from toolkit.tools.schemas.json_values import with_arrays
from toolkit.tools.schemas.protocol import ConversionError
from toolkit.tools.validation import Validator, compile_schema
from toolkit.tools.violations import InvalidArguments, Violation, text_of

__all__ = [
    "MAX_RESULT_TOKENS",
    "ToolSpecification",
    "check_class",
    "check_hook",
    "check_instance",
    "definition",
    "keep_specification",
    "specify",
    "specify_class",
]


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
    described: type | None = None  # the class of what it was made of
    own: dict[str, Any] = {}  # the members that the described object had itself
    look: Look | None = None  # at the class, where that alone was described

    @property
    def name(self) -> str:
        return self.definition.name

    def read(self, raw: str | bytes | dict[str, Any] | None) -> dict[str, Any]:
        """What a model sent, as JSON values that meet the schema.

        Raises:
            InvalidArguments: it is no JSON object, or breaks the schema. Nothing is repaired, but for a JSON text where
                an object or array belongs.
        """
        if isinstance(raw, str):
            try:
                arguments: dict[str, Any] = decode(raw)  # or what else there is
            except UNREADABLE:
                return self._checked(parse_arguments(raw))  # blank, or it says what is wrong
            if arguments.__class__ is dict:
                return arguments if self._is_right(raw, arguments) else self._checked(prove(raw, arguments))
        return self._checked(parse_arguments(raw))

    def _is_right(self, raw: str, arguments: dict[str, Any]) -> bool:
        """Whether it is seen at once, as of most calls, that the text says no more than this, which meets the schema.

        Then no text in it stands for an object or array either. What is not seen to be right goes the whole way.
        """
        validator = self.validator
        if self.handler.reserved:
            return False
        if len(raw) <= SHORT:
            has_all_keys = raw.count(":") == len(arguments) or has_no_repeated_key(raw, arguments)
            return has_all_keys and validator.is_valid(arguments)
        try:
            return validator.is_bounded() and validator.is_valid(arguments) and has_no_repeated_key(raw, arguments)
        except ValueError:  # nested too deep for the validator
            return False

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments = self.validator.decode_nested(arguments)
        self.check(arguments)
        return arguments

    def check(self, arguments: dict[str, Any]) -> None:
        """Raises `InvalidArguments` unless JSON values meet the schema."""
        if not self.validator.is_valid(arguments):
            raise InvalidArguments(text_of(self.validator.violations(arguments)))
        handler = self.handler
        if handler.reserved and not handler.reserved.isdisjoint(arguments):
            taken = [name for name in arguments if name in handler.reserved]
            raise InvalidArguments(text_of(Violation(f"$.{name}", "is not an argument of this tool") for name in taken))

    def convert(self, arguments: dict[str, Any]) -> Any:
        """Arguments that meet the schema, as what the handler takes, which shares no dict or list with them.

        Raises:
            InvalidArguments: the handler's types refuse them: a schema can't say all that a type does.
        """
        shape = self.handler.shape
        if shape.convert is None:
            return copied_json(arguments)
        try:
            return shape.convert(arguments if shape.is_new else copied_json(arguments))
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
    specification = check_class(tool)
    if specification is None:
        raise ConfigurationError(
            f"the members of {label_of(tool)} are set per instance, so the class alone can't be described; build one, "
            f"and have that described"
        )
    return specification.definition


def check_class(cls: type) -> ToolSpecification | None:
    """As `specify_class`, for a class that is known to be meant as a tool: what it lacks is an error at once."""
    _check_declared(cls)
    return specify_class(cls)


def specify_class(cls: type, given: Set[type] = frozenset()) -> ToolSpecification | None:
    """The specification of a class of tools; None when its instances may differ and one has to be built first.

    Args:
        given: Types of which the run has a value: a parameter of the handler with such a type is filled with that, and
            is not in the schema.

    Raises:
        ConfigurationError: a member is wrong.
    """
    # Kept on the class, so that it goes when the class goes; and with a look at its members, which a test may replace.
    taken = _taken(ClassMembers(cls), given, label_of(cls))
    kept: tuple[Look, dict[frozenset[type], ToolSpecification | None]] | None = vars(cls).get(_KEPT)
    if kept is None or not kept[0].finds_the_same():
        read_members(cls)  # what can't be read is named
        kept = (look_at(cls), {})
        with contextlib.suppress(TypeError):  # a builtin class takes no attributes
            type.__setattr__(cls, _KEPT, kept)
    elif taken in kept[1]:
        return kept[1][taken]
    if not has_constructor(cls):
        _check_declared(cls)
    members = ClassMembers(cls)
    made = None
    if not differs_per_instance(cls):
        made = replace(_specified(members, label_of(cls), cls, given=taken), look=kept[0])
    kept[1][taken] = made
    return made


def specify(tool: Any, given: Set[type] = frozenset()) -> ToolSpecification:
    """The specification of a tool that is there. It is the class's where the object has no members of its own.

    Args:
        given: As for `specify_class`.

    Raises:
        ConfigurationError: it is no tool, or a member is wrong.
    """
    own: dict[str, Any] = attributes_of(tool)
    cls = cast("type[Any]", type(tool))
    kept: dict[frozenset[type], ToolSpecification] | None = own.get(_KEPT)
    if kept is not None:
        taken = _taken(ObjectMembers(tool), given, label_of(tool))
        if taken not in kept:
            kept[taken] = _of_object(tool, taken)
        return kept[taken]
    if own.keys().isdisjoint(MEMBERS) and not undeclared(cls):
        of_class = specify_class(cls, given)
        if of_class is not None:
            return of_class
    likeness = likeness_of(tool, given)
    if likeness is None:
        return _of_object(tool, given)
    described = _described_alike(cls)
    found: tuple[ToolSpecification, Likeness] | Any = described.get(likeness.written)
    if found is not UNSET and found[1].holds():
        return replace(found[0], own=own_members(tool), available_if=read_member(tool, "available_if"))
    made = _of_object(tool, given)
    shared = replace(made, own={}, available_if=None)  # without what may be the tool's own
    described.put(likeness.written, (shared, likeness), _size_of(likeness))
    return made


def _of_object(tool: Any, given: Set[type]) -> ToolSpecification:
    cls = cast("type[Any]", type(tool))
    label = label_of(tool) if callable(tool) else label_of(cls)
    members = ObjectMembers(tool)
    return _specified(members, label, cls, own_members(tool), _taken(members, given, label))


def _size_of(likeness: Likeness) -> int:
    """What a specification takes, roughly: measured were 6 KB, and 77 for a schema of 2.4."""
    return 4_000 + 30 * len(likeness.written)


def _described_alike(cls: type) -> BoundedStore[tuple[ToolSpecification, Likeness]]:
    """What is known of the tools of a class. It goes when the class goes."""
    described: BoundedStore[tuple[ToolSpecification, Likeness]] | None = vars(cls).get(_ALIKE)
    if described is None:
        described = BoundedStore()
        with contextlib.suppress(TypeError):  # a builtin class takes no attributes
            type.__setattr__(cls, _ALIKE, described)
    return described


def keep_specification(tool: Any) -> None:
    """Works out the specification of a tool that can't change, and keeps it on the tool.

    Raises:
        ConfigurationError: a member is wrong.
    """
    tool.__dict__[_KEPT] = {_NOTHING: _of_object(tool, _NOTHING)}


_KEPT = "__toolwire_specification__"
_ALIKE = "__toolwire_described_alike__"
_NOTHING: frozenset[type] = frozenset()
_MEMBERS = frozenset(MEMBERS)
_GUARDING = ("on_before_call", "on_after_call", "needs_approval", "available_if", "exclusive")


def _taken(members: Members, given: Set[type], label: str) -> frozenset[type]:
    return types_taken(members.get("handler"), given, label) if given else _NOTHING


def check_instance(specification: ToolSpecification, tool: Any) -> None:
    """Raises `ConfigurationError` when a tool that was built has other members than it was described by.

    A flag or guard that it set where its class does not show it (in a helper method, by `setattr`) would be passed
    over else, and the handler would run.
    """
    own: dict[str, Any] = getattr(tool, "__dict__", {})
    if type(tool) is specification.described and not specification.own and _MEMBERS.isdisjoint(own):
        return
    if _KEPT in own:  # a function tool, which can't change
        return
    for member in changed_members(tool, specification.described, specification.own):
        raise ConfigurationError(
            f"{specification.label} has another '{member}' than it was described with, since {label_of(type(tool))} "
            f"sets it where the class does not show that; annotate it in the class ({member}: ...), or set it in the "
            f"constructor by self.{member} = ..."
        )


def _specified(
    members: Members,
    label: str,
    described: type,
    own: dict[str, Any] | None = None,
    given: Set[type] = _NOTHING,
) -> ToolSpecification:
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


def _check_declared(cls: type) -> None:
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
