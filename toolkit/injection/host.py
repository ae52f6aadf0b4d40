"""The task of an application that opens and closes its objects, whoever asks for them and whatever happens to that one.

What is opened in a task has to be closed in it (anyio's cancel scopes insist on it). But a lifespan may be entered and
left in different tasks (test fixtures do that), and a run may be the first to need an object of the application.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

from msgspec import field

from toolkit.errors import ConfigurationError
from toolkit.injection.bounded import say_nothing
from toolkit.injection.overlays import active_layers
from toolkit.injection.scopes import Scope
from toolkit.tools.cancellation import Cancellation, is_cancelled, wait_in_any_case

__all__ = ["ApplicationScope"]

Work = Callable[[], Awaitable[Any]]
_LATER: Any = None  # `App.open` sets it


class ApplicationScope(Scope, kw_only=True):
    """The scope of an application. One task, its host, opens what is asynchronous, and then closes everything.

    It starts when there is something for it to open.

    Attributes:
        opener: Opens what belongs to a provider. It is called in the host.
        has_cancelled: The task that entered the application was cancelled because one of its objects failed.
    """

    level: str = "app"
    opener: Callable[[Any], Awaitable[Any]] = _LATER
    has_cancelled: bool = False
    _jobs: asyncio.Queue[tuple[Work, asyncio.Future[None]] | None] = field(
        default_factory=asyncio.Queue[tuple[Work, asyncio.Future[None]] | None]
    )
    _host: asyncio.Task[list[BaseException]] | None = None
    _cancellation: Cancellation = field(default_factory=lambda: Cancellation(inf, say_nothing))
    _entering: asyncio.Task[Any] | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _cancels: int = 0
    _context: contextvars.Context = field(default_factory=contextvars.copy_context)
    _is_busy: bool = False
    _is_ending: bool = False
    _error: BaseException | None = None
    _timeout: float | None = None

    def enter(self, close_timeout: float | None) -> None:
        """Takes note of the task that the application was entered in."""
        self._timeout = close_timeout
        self._cancellation.grace = inf if close_timeout is None else close_timeout
        self._entering = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._cancels = 0 if self._entering is None else self._entering.cancelling()
        self._context = contextvars.copy_context()

    async def open(self, provider: Any) -> None:
        """Opens an asynchronous object that nobody needed so far. Two who ask at once get the same one."""
        await self._ask(lambda: self.opener(provider))

    async def finish(self, error: BaseException | None) -> list[BaseException]:
        """Closes everything, and gives what went wrong; a cancellation meanwhile does not stop it, and comes last."""
        host = self._host
        if host is None:
            self._is_ending = True
            host = asyncio.create_task(self.close(error, self._timeout))
        elif not self._is_ending:
            self._is_ending, self._error = True, error
            self._jobs.put_nowait(None)
            if self._is_busy:
                self._cancellation.request()
        cancelled = await wait_in_any_case(host)
        failed = host.result()
        if self.has_cancelled and self._entering is not None and self._entering is asyncio.current_task():
            is_cancelled_otherwise = self._entering.uncancel() > self._cancels
            cancelled = cancelled if is_cancelled_otherwise else None
        return failed if cancelled is None else [*failed, cancelled]

    async def _ask(self, work: Work) -> None:
        if self._is_ending:
            raise ConfigurationError("the application is closed, and opens nothing any more")
        if asyncio.get_running_loop() is not self._loop:
            raise ConfigurationError(
                "an asynchronous object of the application is opened in the event loop that the application was "
                "entered in, and this is another one; run the agent there, or enter an application in this loop"
            )
        if self._host is None:
            self._host = self._cancellation.task = asyncio.create_task(self._serve(), context=self._context)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait((work, done))
        await done

    async def _serve(self) -> list[BaseException]:
        active_layers.set(())  # what lives as long as the application is never built with a fake
        try:
            while (job := await self._jobs.get()) is not None:
                await self._do(*job)
                if self._is_ending:  # meanwhile
                    break
        except asyncio.CancelledError as cancelled:
            if not self._is_ending:  # a task group that an object holds has failed
                self._is_ending, self._error = True, cancelled
                self._tell_the_body()
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            if job is not None and not job[1].done():
                job[1].set_exception(ConfigurationError("the application was closed before this could be opened"))
        return await self.close(self._error, self._timeout)

    async def _do(self, work: Work, done: asyncio.Future[None]) -> None:
        self._is_busy = True
        try:
            await work()
        except asyncio.CancelledError as error:
            assert self._host is not None  # it runs this
            if self._is_ending or is_cancelled(self._host):
                done.cancel()
                raise
            _fail(done, RuntimeError("what was to be opened was cancelled from inside"), error)
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever asked
            _fail(done, error)
        else:
            if not done.done():
                done.set_result(None)
        finally:
            self._is_busy = False

    def _tell_the_body(self) -> None:
        if self._entering is not None and not self._entering.done():
            self.has_cancelled = self._entering.cancel()


def _fail(done: asyncio.Future[None], error: BaseException, cause: BaseException | None = None) -> None:
    if cause is not None:
        error.__cause__ = cause
    if not done.done():
        done.set_exception(error)
