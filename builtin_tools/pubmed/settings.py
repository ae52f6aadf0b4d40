"""What the PubMed tools can be told by the application."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from builtin_tools.http import Identity, Secret, Section

__all__ = ["PubMedSettings"]

_BASE_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_ADDRESS = re.compile(r"[^@\s<>()]+@[^@\s<>()]+")


@dataclass(frozen=True, slots=True)
class PubMedSettings:
    """Who asks PubMed, where, and for how long.

    Attributes:
        identity: NCBI asks every program for its name and an e-mail address, and blocks those that it can't reach,
            so without a contact nothing is sent.
        base_url: Where NCBI's E-utilities are.
        timeout: Seconds for one request.
        api_key: NCBI's key: ten requests a second in place of three.

    Example:
        >>> PubMedSettings.read({"contact": "ada@example.org", "pubmed": {"api_key": "k"}}).api_key
        Secret([hidden])
    """

    identity: Identity = field(default_factory=Identity)
    base_url: str = _BASE_URL
    timeout: float = 10.0
    api_key: Secret | None = None

    @classmethod
    def read(cls, config: object = None, environment: Mapping[str, str] | None = None) -> PubMedSettings:
        """From the built-in tools' configuration: `contact` (else `TOOLWIRE_CONTACT`), `user_agent`, `timeout`,
        `pubmed.base_url`, `pubmed.api_key` (else `NCBI_API_KEY`, else `SEARCH_PUBMED_API_KEY`). Every key may be left
        out.

        Raises:
            ConfigurationError: a value is of the wrong type or out of range.
        """
        section = Section.whole(config, environment)
        own = section.section("pubmed", "base_url", "api_key")
        return cls(
            identity=Identity.read(section),
            base_url=own.url("base_url", default=_BASE_URL),
            timeout=section.seconds("timeout", default=10.0),
            api_key=own.secret("api_key", "NCBI_API_KEY", "SEARCH_PUBMED_API_KEY"),
        )

    @property
    def introduction(self) -> dict[str, str]:
        """What NCBI wants to have in each request: `tool`, a name without spaces, `email` where the contact is an
        address, `api_key`. https://www.ncbi.nlm.nih.gov/books/NBK25497/
        """
        name = (self.identity.user_agent or "").split(" ")[0].partition("/")[0]
        told = {"tool": name or "toolwire"}
        address = (self.identity.contact or "").removeprefix("mailto:")
        if _ADDRESS.fullmatch(address):
            told["email"] = address
        if self.api_key is not None:
            told["api_key"] = self.api_key.reveal()
        return told
