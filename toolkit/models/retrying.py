"""`RetryingModel`: a model that is asked again after a failure that may pass."""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncGenerator, Callable

from toolkit.errors import ConfigurationError
from toolkit.http import Clock, SystemClock
from toolkit.models.protocol import Model, ModelDelta, ModelRequest, ModelResponse
from toolkit.models.streams import failures, stream_of

__all__ = ["RetryingModel"]

# Not stamina or tenacity, as in builtin_tools/http/retries.py: the wait comes from the provider and is compared with
# a bound, a stream may be repeated only before its first piece, and clock and chance are injected.


class RetryingModel:
    """Asks its model again after a temporary failure: a rate limit, an overload, a lost connection (also as the HTTP
    library or Python says it), and a plain `ModelError` of a model of your own, which does not say.

    It waits as long as the provider asks, else 0.5, 1, 2 … seconds with up to as much again at random. A stream is
    begun anew only while nothing of it was shown. What can't pass by waiting (a wrong key, a request that is too
    long) is raised at once, and so is a wait that is longer than `longest_wait`: the error has its seconds.

    Args:
        model: Any model. It stays the caller's.
        attempts: How often it is asked at most, the first time included.
        longest_wait: Seconds.
        clock: Time, for tests.
        jitter: A number from 0 to 1 for each wait, for tests.

    Example:
        ```python
        agent = Agent(RetryingModel(OpenAIChatModel("gpt-5.6", http=http)), tools=[WeatherTool])
        ```
    """

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = 3,
        longest_wait: float = 60.0,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if attempts < 1:
            raise ConfigurationError(f"RetryingModel(attempts={attempts}): a model has to be asked at least once")
        self.model = model
        self.attempts = attempts
        self.longest_wait = longest_wait
        self._clock = SystemClock() if clock is None else clock
        self._jitter = jitter

    def __repr__(self) -> str:
        return f"RetryingModel({self.model!r}, attempts={self.attempts})"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """The model's answer. Raises what the last attempt raised."""
        attempt = 1
        while True:
            try:
                return await self.model.respond(request)
            except failures() as error:
                wait = self._wait_after(error, attempt)
                if wait is None:
                    raise
            await self._clock.sleep(wait)
            attempt += 1

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """The model's answer in pieces. Raises what the last attempt raised."""
        attempt = 1
        while True:
            is_shown = False
            try:
                async with contextlib.aclosing(stream_of(self.model, request)) as deltas:
                    async for delta in deltas:
                        is_shown = True
                        yield delta
                return
            except failures() as error:
                wait = None if is_shown else self._wait_after(error, attempt)
                if wait is None:
                    raise
            await self._clock.sleep(wait)
            attempt += 1

    def _wait_after(self, error: BaseException, attempt: int) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        may_pass = getattr(error, "is_temporary", not isinstance(error, AssertionError))  # a script that is at its end
        if attempt >= self.attempts or not may_pass:
            return None
        asked: float | None = getattr(error, "retry_after", None)
        wait = 0.5 * 2 ** (attempt - 1) * (1 + self._jitter()) if asked is None else asked
        return wait if wait <= self.longest_wait else None
