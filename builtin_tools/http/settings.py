"""Reading a configuration: nested mappings and environment variables become typed values, or a clear error."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import cast
from urllib.parse import urlsplit

from builtin_tools.http.errors import ServiceError
from toolkit.errors import ConfigurationError
from toolkit.http.secrets import Secret

__all__ = ["Identity", "Section"]


_KEYS = ("contact", "user_agent", "timeout", "web_search", "fetch_url", "wikipedia", "pubmed", "linear")
_NEAR = 0.8
"""How like two keys are, at least, of which one is taken for the other misspelt: `write` and `writes` are, by 0.91."""
_TEXTS = ("contact", "user_agent", "timeout")
_OF_OTHERS = ("contract", "line", "linearb", "wikimedia", "timeout_ms")
"""Words of their own that are like one of the keys."""


def _is_meant_for_these(key: str, near: str, value: object) -> bool:
    """Whether a key of a whole configuration is `near` misspelt: others may have sections there, such as `contacts`."""
    is_section = isinstance(value, Mapping)
    return value is not None and is_section is (near not in _TEXTS) and key not in _OF_OTHERS


class Section:
    """One mapping of a configuration. What is absent, None or blank falls to the environment, then to the default.

    The environment is read when a value is asked for, so settings built later see a variable that was set later.

    Example:
        >>> section = Section({"wikipedia": {"base_url": "http://localhost:8000/"}})
        >>> section.section("wikipedia").url("base_url", default="https://example.org")
        'http://localhost:8000'

    Raises:
        ConfigurationError: a value is of the wrong type or out of range; the text names its path, not the value.
    """

    __slots__ = ("_environment", "_path", "_values")

    def __init__(self, values: object = None, *, path: str = "", environment: Mapping[str, str] | None = None) -> None:
        if values is not None and not isinstance(values, Mapping):
            raise ConfigurationError(
                f"the built-in tools' configuration {path or 'as a whole'} is {_article(values)}; give a mapping"
            )
        self._values = cast("Mapping[str, object]", values or {})
        self._path = path
        self._environment = os.environ if environment is None else environment

    @classmethod
    def whole(cls, values: object, environment: Mapping[str, str] | None) -> Section:
        """The configuration of all built-in tools; a key that is nearly one of theirs is refused."""
        section = cls(values, environment=environment)
        section._refuse_misspelt(_KEYS, _is_meant_for_these)
        return section

    def section(self, key: str, *keys: str) -> Section:
        """The mapping under `key`; an empty one when it is absent.

        Args:
            key: Its name.
            keys: Those that are read of it. One that is nearly one of them is refused: a switch that is misspelt, such
                as `allow_keyles`, must not pass for one that was never set. Others may be there for others.
        """
        section = Section(self._values.get(key), path=self._name(key), environment=self._environment)
        section._refuse_misspelt(keys)
        return section

    def _refuse_misspelt(
        self, keys: Sequence[str], is_meant: Callable[[str, str, object], bool] = lambda key, near, value: True
    ) -> None:
        for key, value in self._values.items():
            near = [] if key in keys else get_close_matches(str(key), keys, n=1, cutoff=_NEAR)
            if near and is_meant(str(key), near[0], value):
                raise ConfigurationError(
                    f"the built-in tools' configuration has {self._name(str(key))!r}, which nothing reads; did you "
                    f"mean {self._name(near[0])!r}?"
                )

    def text(self, key: str, *variables: str) -> str | None:
        """A text without surrounding space, from `key` or the first of the environment variables that is set."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a text", value)
        for found in (value, *map(self._environment.get, variables)):
            if found and found.strip():
                return found.strip()
        return None

    def header(self, key: str, *variables: str) -> str | None:
        """A text that may stand in an HTTP header: printable ASCII on one line."""
        value = self.text(key, *variables)
        if value is not None and not (value.isascii() and value.isprintable()):
            raise ConfigurationError(
                f"the built-in tools' {self._name(key)!r} goes into an HTTP header; use printable ASCII on one line"
            )
        return value

    def secret(self, key: str, *variables: str) -> Secret | None:
        """A key or token that is never printed."""
        value = self._values.get(key)
        if isinstance(value, Secret):
            return value
        text = self.header(key, *variables)
        return None if text is None else Secret(text)

    def url(self, key: str, *variables: str, default: str) -> str:
        """An http or https address without query and without `/` at its end."""
        value = (self.text(key, *variables) or default).rstrip("/")
        try:
            parts = urlsplit(value)
            is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_sound = False
        else:
            is_sound = is_sound and not parts.query and not parts.fragment and value.isprintable() and " " not in value
        if not is_sound:
            raise ConfigurationError(
                f"the built-in tools' {self._name(key)!r} is no address; give one such as {default!r}"
            )
        return value

    def seconds(self, key: str, *, default: float) -> float:
        """A number of seconds above 0; a text such as `"2.5"` is read too, since environments only have texts."""
        value = self._values.get(key)
        if value is None or value == "":
            return default
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise self._wrong(key, "a number of seconds", value) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(key, "a number of seconds", value)
        if not (math.isfinite(value) and value > 0):
            raise ConfigurationError(f"the built-in tools' {self._name(key)!r} has to be more than 0 seconds")
        return float(value)

    def flag(self, key: str, *variables: str, default: bool) -> bool:
        """True or false; also the texts `true`, `yes`, `on`, `1` and `false`, `no`, `off`, `0`."""
        value = self._values.get(key)
        if value is None or value == "":
            value = next((found for found in map(self._environment.get, variables) if found and found.strip()), None)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in ("true", "yes", "on", "1"):
            return True
        if word in ("false", "no", "off", "0"):
            return False
        raise self._wrong(key, "true or false", value)

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _wrong(self, key: str, wanted: str, value: object) -> ConfigurationError:
        return ConfigurationError(f"the built-in tools' {self._name(key)!r} has to be {wanted}, not {_article(value)}")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, as services want to be told.

    Attributes:
        contact: An e-mail address or URL under which the developer can be reached.
        user_agent: The application's name and version, such as `"Acme/2.1"`; Toolwire's own when None.
    """

    contact: str | None = field(default=None, repr=False)
    user_agent: str | None = None

    @classmethod
    def read(cls, section: Section) -> Identity:
        """From the keys `contact` (else `TOOLWIRE_CONTACT`) and `user_agent`."""
        return cls(section.header("contact", "TOOLWIRE_CONTACT"), section.header("user_agent"))

    def check_contact(self, provider: str, operation: str) -> None:
        """Return when there is a contact.

        Raises:
            ServiceError: `not_configured`: the provider refuses callers that it can't reach.
        """
        if not self.contact:
            raise ServiceError(
                "not_configured",
                f"{provider} wants to know whom to reach, and no contact is set",
                advice="Tell the user to set `contact` (or the variable TOOLWIRE_CONTACT) to an e-mail address or a "
                "URL; do not retry.",
                provider=provider,
                operation=operation,
            )

    @property
    def header(self) -> str:
        """The `User-Agent`: `name/version (contact)`, as Wikimedia's User-Agent policy asks."""
        name = self.user_agent or f"toolwire/{_own_version()}"
        return name if not self.contact or self.contact in name else f"{name} ({self.contact})"


@cache
def _own_version() -> str:
    try:
        return version("toolwire")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "0"


def _article(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
