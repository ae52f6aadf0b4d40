"""What the Linear tools can be told by the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from builtin_tools.http import Identity, Secret, Section
from toolkit.context import RunContext

__all__ = ["LinearSettings"]

_BASE_URL = "https://api.linear.app"


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """Whose Linear is used, where, and what may be changed in it.

    Attributes:
        api_key: A personal key (`lin_api_...`) or an OAuth token (`lin_oauth_...`, or written as `Bearer ...`).
        base_url: Where `/graphql` is.
        team: Key, name or id of the team that is meant when the model names none.
        writes: Whether issues and comments may be made and changed.
        deletes: Whether issues may be moved to the trash.
        timeout: Seconds for one request.

    Example:
        >>> LinearSettings.read({"linear": {"api_key": "lin_api_1", "writes": "yes"}})
        LinearSettings(base_url='https://api.linear.app', team=None, writes=True, deletes=False, timeout=10.0)
    """

    api_key: Secret | None = field(default=None, repr=False)
    base_url: str = _BASE_URL
    team: str | None = None
    writes: bool = False
    deletes: bool = False
    timeout: float = 10.0
    identity: Identity = field(default_factory=Identity, repr=False)

    @classmethod
    def read(cls, config: object = None, environment: Mapping[str, str] | None = None) -> LinearSettings:
        """From the built-in tools' configuration: `linear.api_key` (else `LINEAR_API_KEY`), `linear.team` (else
        `LINEAR_TEAM_ID`), `linear.base_url`, `linear.writes`, `linear.deletes`, `timeout`, `user_agent`. Every key may
        be left out.

        Raises:
            ConfigurationError: a value is of the wrong type or out of range.
        """
        section = Section.whole(config, environment)
        own = section.section("linear", "api_key", "base_url", "team", "writes", "deletes")
        return cls(
            api_key=own.secret("api_key", "LINEAR_API_KEY"),
            base_url=own.url("base_url", default=_BASE_URL).removesuffix("/graphql"),
            team=own.text("team", "LINEAR_TEAM_ID"),
            writes=own.flag("writes", default=False),
            deletes=own.flag("deletes", default=False),
            timeout=section.seconds("timeout", default=10.0),
            # Linear knows by the key who asks, so the contact is not told.
            identity=Identity(user_agent=section.header("user_agent")),
        )

    @property
    def endpoint(self) -> str:
        return f"{self.base_url}/graphql"

    @property
    def account(self) -> tuple[str, Secret | None]:
        """Where and as whom Linear is asked: what was found by one account is nothing to another."""
        return self.base_url, self.api_key

    @property
    def confidential(self) -> tuple[str, ...]:
        """What no error may show."""
        return () if self.api_key is None else (self.api_key.reveal(), self._bare_key)

    @property
    def authorization(self) -> str | None:
        """The header's value: Linear takes personal keys bare, and OAuth tokens with `Bearer` before them.

        https://linear.app/developers/graphql#personal-api-keys
        """
        if self.api_key is None:
            return None
        key = self._bare_key
        return f"Bearer {key}" if key != self.api_key.reveal() or key.startswith("lin_oauth_") else key

    @property
    def _bare_key(self) -> str:
        key = "" if self.api_key is None else self.api_key.reveal()
        return key[7:].lstrip() if key[:7].lower() == "bearer " else key

    def offers_writes(self, ctx: RunContext) -> bool:
        """The writing tools' `available_if`."""
        return self.writes

    def offers_deletes(self, ctx: RunContext) -> bool:
        """The deleting tool's `available_if`."""
        return self.deletes
