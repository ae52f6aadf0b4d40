"""What page reading can be told by the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from builtin_tools.http import Identity, Section

__all__ = ["FetchSettings"]


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """From where pages are read, and how much of them.

    Attributes:
        identity: Pages are told the `user_agent`; the contact is for services, and no page gets it.
        timeout: Seconds for a page, from the first question to the resolver to the text: redirects and retries too.
        allow_private: Also read from loopback and private addresses, from names without a dot, and from every port:
            for tests and intranets. Link-local addresses and those of clouds' metadata stay closed.
        allow_proxy: Also read through a proxy. It has the last word on where a page comes from. With httpx 0.28 only
            http pages: in a tunnel it verifies a certificate against the IP address. httpx2 verifies the name.
        max_bytes: The largest page, unpacked.

    Example:
        >>> FetchSettings.read({"fetch_url": {"allow_private": "yes"}}).allow_private
        True
    """

    identity: Identity = field(default_factory=Identity)
    timeout: float = 20.0
    allow_private: bool = False
    allow_proxy: bool = False
    max_bytes: int = 5_000_000

    @classmethod
    def read(cls, config: object = None, environment: Mapping[str, str] | None = None) -> FetchSettings:
        """From the built-in tools' configuration: `user_agent`, `timeout`, `fetch_url.allow_private`,
        `fetch_url.allow_proxy`. Every key may be left out.

        Raises:
            ConfigurationError: a value is of the wrong type or out of range.
        """
        section = Section.whole(config, environment)
        own = section.section("fetch_url", "allow_private", "allow_proxy")
        return cls(
            identity=Identity(user_agent=section.header("user_agent")),
            timeout=section.seconds("timeout", default=20.0),
            allow_private=own.flag("allow_private", default=False),
            allow_proxy=own.flag("allow_proxy", default=False),
        )
