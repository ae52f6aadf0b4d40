"""How one provider is reached: its address, and the key that opens it."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from builtin_tools.http import Secret, ServiceError

__all__ = ["Account"]

_SHORTEST = 3  # a password of fewer letters can't be told from the words around it


@dataclass(frozen=True, slots=True)
class Account:
    """One provider's address and key.

    Attributes:
        provider: Its name, as the model reads it.
        base_url: Where its own paths begin, without `/` at the end; None when there is no public one.
        setting: What a developer has to set, as errors name it.
        api_key: None when it is not set.
    """

    provider: str
    base_url: str | None
    setting: str
    api_key: Secret | None = None

    def key(self) -> str:
        """The key, in plain.

        Raises:
            ServiceError: `not_configured`: it is not set.
        """
        if self.api_key is None:
            raise self.missing("a key")
        return self.api_key.reveal()

    def missing(self, what: str) -> ServiceError:
        """The error that tells what is not set, and where to set it."""
        return ServiceError(
            "not_configured",
            f"{self.provider} needs {what}, and none is set",
            advice=f"Tell the user to set {self.setting}; do not retry.",
            provider=self.provider,
            operation="search",
        )

    @property
    def confidential(self) -> tuple[str, ...]:
        """What no error may show: the key, the password in a login, and both as basic authentication sends them."""
        if self.api_key is None:
            return ()
        key = self.api_key.reveal()
        password = key.rpartition(":")[2]
        return (key, base64.b64encode(key.encode()).decode(), *((password,) if len(password) > _SHORTEST else ()))
