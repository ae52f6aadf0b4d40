"""What the Wikipedia tools can be told by the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from builtin_tools.http import Identity, Section

__all__ = ["WikipediaSettings"]

_BASE_URL = "https://{language}.wikipedia.org"


@dataclass(frozen=True, slots=True)
class WikipediaSettings:
    """Who asks Wikipedia, where, and for how long.

    Attributes:
        identity: Wikimedia refuses callers that can't be reached, so without a contact nothing is sent.
        base_url: Where an edition lives; `{language}` is replaced by its code.
        timeout: Seconds for one request.

    Example:
        >>> WikipediaSettings.read({"contact": "ada@example.org", "timeout": "5"}).timeout
        5.0
    """

    identity: Identity = field(default_factory=Identity)
    base_url: str = _BASE_URL
    timeout: float = 10.0

    @classmethod
    def read(cls, config: object = None, environment: Mapping[str, str] | None = None) -> WikipediaSettings:
        """From the built-in tools' configuration: `contact` (else `TOOLWIRE_CONTACT`), `user_agent`, `timeout`,
        `wikipedia.base_url`. Every key may be left out.

        Raises:
            ConfigurationError: a value is of the wrong type or out of range.
        """
        section = Section.whole(config, environment)
        return cls(
            identity=Identity.read(section),
            base_url=section.section("wikipedia", "base_url").url("base_url", default=_BASE_URL),
            timeout=section.seconds("timeout", default=10.0),
        )

    def address(self, language: str) -> str:
        """The edition's address, without `/` at its end. The code must have been checked."""
        return self.base_url.replace("{language}", language)
