"""How fast each provider may be asked."""

from __future__ import annotations

import threading

from builtin_tools.http import Clock, Pace

__all__ = ["SearchPaces"]

# Seconds between starts. Tavily: 100 a minute with a development key. Exa: 10 a second. Brave: 50 a second since 2026,
# one a second on old plans, which say so in an answer of 429. The others publish no limit for searches.
_INTERVALS = {"tavily": 0.6, "brave": 0.02, "exa": 0.1}
_AT_ONCE = 5


class SearchPaces:
    """One pace for each provider, for an application's life."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock
        self._paces: dict[str, Pace] = {}
        self._lock = threading.Lock()

    def of(self, name: str) -> Pace:
        """The pace of a provider, by its name in the configuration."""
        with self._lock:
            if name not in self._paces:
                self._paces[name] = Pace(at_once=_AT_ONCE, interval=_INTERVALS.get(name, 0.0), clock=self._clock)
            return self._paces[name]
