"""A scope owns what it opened, and closes it: last opened first, each in bounded time, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from toolkit.injection.bounded import begun, rest_within
from toolkit.injection.sources import Closer
from toolkit.tools.parameters import value_of_type

__all__ = ["Scope"]


class Scope(Struct, eq=False):
    """What was opened for an application, a run or a call.

    Attributes:
        level: `"app"`, `"run"` or `"call"`; `"opening"` while an application opens.
        parent: The scope around it.
        values: Values handed in, by type.
        cache: Objects of this scope, by their provider.
        closers: What has to be closed, in the order of opening.
        is_closed: Nothing more can be opened.
    """

    level: str
    parent: Scope | None = None
    values: Mapping[type, Any] = {}
    cache: dict[Any, Any] = {}
    closers: list[Closer] = []
    is_closed: bool = False

    def at(self, level: str) -> Scope | None:
        """This scope or the one around it that is of the level; None when there is none."""
        scope: Scope | None = self
        while scope is not None and scope.level != level:
            scope = scope.parent
        return scope

    def value(self, wanted: type) -> Any:
        """The value of a type, of this scope or one around it; UNSET when none was given."""
        scope: Scope | None = self
        while scope is not None:
            found = value_of_type(wanted, scope.values)
            if found is not UNSET:
                return found
            scope = scope.parent
        return UNSET

    def keep(self, key: Any, made: Any, closer: Closer | None) -> None:
        """Remembers an object that this scope opened."""
        self.cache[key] = made
        if closer is not None:
            self.closers.append(closer)

    def close_at_once(self) -> bool:
        """Closes it, where it has opened nothing that has to be closed; else False, and it is still open."""
        if self.closers:
            return False
        self.is_closed = True
        if self.cache:
            self.cache.clear()
        return True

    async def close(self, error: BaseException | None, timeout: float | None) -> list[BaseException]:
        """Closes everything; gives what went wrong. A cancellation from outside stops one close, and not the rest.

        Args:
            error: What the scope ended with; generators see it.
            timeout: Seconds for each close.
        """
        self.is_closed = True
        errors: list[BaseException] = []
        while self.closers:
            closer = self.closers.pop()
            try:
                closing: Any = closer.close(error)
                if closing is not None:
                    began, steps, waiting = begun(closing)
                    if steps is not None:
                        await rest_within(timeout, began, steps, waiting, "closing", closer.of)
            except BaseException as raised:  # noqa: BLE001 - the border of a close: the rest is closed all the same
                raised.add_note(f"while closing {closer.label} of the {self.level} scope")
                errors.append(raised)
        if self.cache:
            self.cache.clear()
        return errors
