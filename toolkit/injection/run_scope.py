"""The scope of a run, or of one call in it: opens what is asynchronous, then calls the provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, Protocol, TypeGuard

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError, repr_of
from toolkit.injection.bounded import begun, rest_within
from toolkit.injection.failures import note_failure
from toolkit.injection.futures import FUTURES, refused_future
from toolkit.injection.graph import Selected, answering, branch_of, makes_anew, walk
from toolkit.injection.host import ApplicationScope
from toolkit.injection.kept_agents import Declaration, KeptAgent, declaration_of, kept_agent
from toolkit.injection.listing import read_of, with_listed_tools
from toolkit.injection.overlays import AnyProvider, overriding_of
from toolkit.injection.providers import Literal, NotOpened, Scoped, current_scope
from toolkit.injection.scopes import Scope
from toolkit.injection.sources import closer_of, open_async
from toolkit.injection.wiring import refuse_captives
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["OPENING", "ContainerScope"]

_NOTHING: Mapping[Any, Any] = {}

OPENING = "opening"
"""The level of the scope that an application's host builds in."""


class _Plan(Struct, frozen=True):
    """What a provider needs, dependencies first, and what that was worked out from.

    Attributes:
        called: What is called: the provider, but that of an agent is called so that its tools are not built with it.
        read: Where it is another than the provider, what it was made of.
        asynchronous: What has to be opened before the provider can be called.
        lasting: What lives longer than a call.
        nodes: The provider, and all that it needs.
        overridings: What stood on each of these then: the plan holds as long as the same does.
        selected: The branch of each `Selector` among them then, which may change at any time.
        makes_anew: What it gives is made for whoever calls it.
        declaration: Of an agent: what its provider was declared with.
        kept: The agent that the provider made last, where it is known when it would make another.
    """

    called: AnyProvider
    read: list[Any]
    asynchronous: tuple[Scoped[Any], ...]
    lasting: tuple[Scoped[Any], ...]
    nodes: tuple[AnyProvider, ...]
    overridings: list[AnyProvider | None]
    selected: Selected
    makes_anew: bool
    declaration: Declaration | None
    kept: KeptAgent | None


class Memories(Protocol):
    """Where a scope keeps what it has worked out: the resolver."""

    @property
    def own(self) -> Sequence[AnyProvider]:
        """The providers of the container, by which the memory is cleared."""
        ...

    def memory(self) -> dict[Any, Any]:
        """A place that is cleared once another provider stands on one of its own."""
        ...

    def plans(self) -> dict[Any, Any]:
        """A place for what knows by itself whether it is current."""
        ...


class ContainerScope(Scope, kw_only=True):
    """Builds from a container's providers. Its methods are called in one task, which owns it.

    Attributes:
        memories: For what was worked out under the overrides of now.
        open_timeout: Seconds that opening one object may take.
    """

    memories: Memories
    open_timeout: float | None
    _culprit: AnyProvider | None = None  # what took too long to open, or gave a future

    def ready(self, recipe: Recipe, memory: dict[Any, Any]) -> Any:
        kept: KeptAgent | None = memory.get(recipe.key)
        if kept is None:
            return UNSET
        try:
            return kept.agent(_NOTHING if self.parent is None else self.parent.cache)
        except Exception:  # noqa: BLE001 - of a singleton that was reset: to build the agent tells it, and where it was
            return UNSET

    async def build(self, recipe: Recipe) -> Any:
        if recipe.instance is not UNSET:
            return recipe.instance
        if self.is_closed:
            raise ConfigurationError(f"{recipe.label} is asked for after the {self.level} was closed")
        token = current_scope.set(self)
        try:
            plan = self._plan(recipe.key)
            for scoped in plan.asynchronous:
                await self._open_first(scoped)
            try:
                if plan.kept is None or recipe.identity is None:
                    made = plan.called()  # one that a handler is given as a parameter may be changed by it
                else:
                    made = plan.kept.made(plan.called)
                    if self._plan(recipe.key) is plan:  # else it is none to ask for in another run
                        self.memories.memory()[recipe.key] = plan.kept
            except NotOpened:
                # Something below was declared otherwise since the plan was made, by `set_args` or the like; or else an
                # object asks the container itself, which can't be helped. Nor may the task of a call open what is the
                # run's: the next call finds the new plan.
                before, holds = plan, [*map(overriding_of, plan.nodes)] == plan.overridings
                plan = self._plan(recipe.key, anew=True)
                if (holds and plan.asynchronous == before.asynchronous) or self.level == "call":
                    raise
                for scoped in plan.asynchronous:
                    await self._open_first(scoped)
                made = plan.called()
            if isinstance(made, FUTURES):
                self._culprit, refusal = refused_future(made, recipe.key)
                raise refusal
        except Exception as error:
            note_failure(error, recipe.label, recipe.key, self._culprit, names_root=recipe.identity is not None)
            self._culprit = None
            raise
        finally:
            current_scope.reset(token)
        if recipe.is_owned and plan.makes_anew:  # another may answer since the run's start
            closer = closer_of(made, recipe.label)
            if closer is not None:
                self.closers.append(closer)
        return made

    async def prepare_for_call(self, recipes: Mapping[str, Recipe]) -> None:
        token = current_scope.set(self)
        try:
            for recipe in recipes.values():
                if recipe.instance is UNSET:
                    await self._prepare(recipe)
        finally:
            current_scope.reset(token)

    async def _prepare(self, recipe: Recipe) -> None:
        try:
            for scoped in self._plan(recipe.key).lasting:
                if scoped.kind.is_async:
                    await self._open_first(scoped)
                else:
                    scoped()
        except Exception as error:
            note_failure(error, recipe.label, recipe.key, self._culprit, names_root=recipe.identity is not None)
            self._culprit = None
            raise

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        scope = ContainerScope("call", self, memories=self.memories, open_timeout=self.open_timeout)
        try:
            built = {name: await scope.build(recipe) for name, recipe in recipes.items()}
        except BaseException as error:
            for failed in await scope.close(error, self.open_timeout):
                error.add_note(f"also, {repr_of(failed)}")
            raise
        return built, scope if scope.closers else None

    def _plan(self, provider: AnyProvider, *, anew: bool = False) -> _Plan:
        plans = self.memories.plans()
        plan: _Plan | None = plans.get(provider)
        if (
            plan is not None
            and [*map(overriding_of, plan.nodes)] == plan.overridings
            and (not plan.selected or all(branch_of(selector) is branch for selector, branch in plan.selected))
            and (plan.declaration is None or not plan.declaration.has_changed())
            and (plan.called is provider or _are_the_same(plan.read, read_of(provider)))
            and not anew
        ):
            return plan
        self.memories.memory()  # it sees to it that what replaces something still stands there
        met: set[AnyProvider] = set()
        selected: Selected = []
        called = with_listed_tools(provider, met)
        declaration = declaration_of(provider) if called is provider else None
        nodes = list(walk(called, met, selected))
        refuse_captives(nodes, _NOTHING if (app := self.at("app")) is None else app.cache)
        asked = tuple(node for node in met if not isinstance(node, Literal))  # see decision 0002
        lasting = tuple(node for node in nodes if _is_scoped(node) and node.level != "call")
        plan = _Plan(
            called,
            [] if called is provider else read_of(provider),
            tuple(node for node in nodes if _is_scoped(node) and node.kind.is_async),
            lasting,
            asked,
            [*map(overriding_of, asked)],
            selected,
            makes_anew(answering(provider)),
            declaration,
            None if declaration is None else kept_agent(declaration, set(asked).difference(self.memories.own)),
        )
        plans[provider] = plan
        return plan

    async def _open_first(self, scoped: Scoped[Any]) -> None:
        home = self if scoped.level == self.level else scoped.home()
        if scoped in home.cache:
            return
        if home is not self and isinstance(home, ApplicationScope) and self.level != OPENING:
            await home.open(scoped)
            return
        if home.is_closed:
            raise ConfigurationError(f"{label_of(scoped.source)} is asked for after its {home.level} scope was closed")
        try:
            call = scoped.call()
            began, steps, waiting = begun(
                open_async(home.keep, scoped, scoped.source, scoped.kind, call.args, call.kwargs)
            )
            if steps is not None:
                await rest_within(self.open_timeout, began, steps, waiting, "opening", scoped.source)
        except TimeoutError:
            self._culprit = scoped
            raise


def _are_the_same(before: list[Any], now: list[Any]) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))


def _is_scoped(node: AnyProvider) -> TypeGuard[Scoped[Any]]:
    return isinstance(node, Scoped)
