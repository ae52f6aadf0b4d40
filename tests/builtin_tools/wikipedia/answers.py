"""Small answers in the form of the Action API, and the recorded ones where they lie beside the repository."""

from __future__ import annotations

from typing import Any

from builtin_tools.http import Identity
from builtin_tools.wikipedia import WikipediaClient, WikipediaSettings
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, Reply
from tests.shared_files import shared

CONTACT = "ada@example.org"


def recorded(name: str) -> Reply:
    """The recorded answer; the test is skipped where there is none."""
    return Reply(shared(f"payloads/wikipedia/{name}").read_bytes())


def page_answer(page: dict[str, Any], **query: Any) -> Reply:
    return Reply({"batchcomplete": True, "query": {**query, "pages": [{"pageid": 7, "ns": 0, **page}]}})


def search_answer(*titles: str, **query: Any) -> Reply:
    hits = [{"ns": 0, "title": title, "pageid": number} for number, title in enumerate(titles, 1)]
    return Reply({"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(hits)}, "search": hits, **query}})


MISSING = page_answer({"title": "Nothing", "missing": True})

ADA = page_answer(
    {
        "title": "Ada Lovelace",
        "extract": "Ada Lovelace was a mathematician.\nShe wrote a program.\n\n\n== Life ==\nBorn in 1815.\n\n"
        "=== Childhood ===\nShe studied.\n\n\n== Work ==\nNotes.\n\n\n== References ==",
        "fullurl": "https://en.wikipedia.org/wiki/Ada_Lovelace",
        "canonicalurl": "https://en.wikipedia.org/wiki/Ada_Lovelace",
        "revisions": [{"timestamp": "2026-03-25T15:46:00Z"}],
        "langlinkscount": 121,
    }
)


def settings_for(server: LoopbackServer, contact: str | None = CONTACT, timeout: float = GUARD) -> WikipediaSettings:
    return WikipediaSettings(
        identity=Identity(contact, "Acme/2.1"), base_url=f"{server.url}/{{language}}", timeout=timeout
    )


def client_over(
    http: Any, server: LoopbackServer, clock: ManualClock, contact: str | None = CONTACT, timeout: float = GUARD
) -> WikipediaClient:
    return WikipediaClient(http, settings_for(server, contact, timeout), clock=clock)
