"""Making a query that every provider can take, or saying why it is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from builtin_tools.http import ServiceError
from builtin_tools.text import one_line, shortened
from builtin_tools.web_search.protocol import Recency, SearchQuery, Topic

__all__ = ["MAX_CHARS", "Domains", "QueryText", "checked_domains", "checked_query", "left_out", "with_sites"]

MAX_CHARS = 400

QueryText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_CHARS)]
Domains: TypeAlias = Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=10)]

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
_HOST = re.compile(r"(?!-)[\w-]{1,63}(?<!-)(?:\.(?!-)[\w-]{1,63}(?<!-))+")
_COUNTRY = re.compile(r"[A-Za-z]{2}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?")


def checked_query(
    text: str,
    *,
    max_results: int,
    recency: Recency = "none",
    include_domains: Sequence[str] = (),
    exclude_domains: Sequence[str] = (),
    topic: Topic = "general",
    country: str | None = None,
    language: str | None = None,
) -> SearchQuery:
    """The query. Blank domains, countries and languages count as none.

    Raises:
        ServiceError: `invalid_input`, with what is wrong.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid("the query holds half of a character (a lone surrogate)") from None
    text = one_line(text.translate(_CONTROLS))
    if not text:
        raise _invalid("the query is blank")
    if len(text) > MAX_CHARS:
        raise _invalid(f"the query has {len(text)} characters; {MAX_CHARS} are the most")
    return SearchQuery(
        text,
        max_results,
        recency,
        checked_domains(include_domains),
        checked_domains(exclude_domains),
        topic,
        (_checked("country", country, _COUNTRY, 'two letters, such as "AT"') or "").upper() or None,
        _checked("language", language, _LANGUAGE, 'a code, such as "de" or "pt-BR"'),
    )


def checked_domains(domains: Sequence[str]) -> tuple[str, ...]:
    """The host names in small letters, each once.

    Raises:
        ServiceError: `invalid_input`: one is no host name.
    """
    found: dict[str, None] = {}
    for domain in domains:
        name = domain.strip().rstrip(".").lower()
        if not _HOST.fullmatch(name) or len(name) > 253:
            told = shortened(ascii(one_line(domain))[1:-1], 60)
            raise _invalid(f'"{told}" is no host name; give one such as "example.org", without https:// and path')
        found[name] = None
    return tuple(found)


def with_sites(query: SearchQuery, *, provider: str, chars: int, words: int | None = None) -> str:
    """The text with the domains as `site:` clauses, for a provider that has no other filter of domains.

    Raises:
        ServiceError: `invalid_input`: with the clauses it is longer than the provider takes.
    """
    wanted = [f"site:{domain}" for domain in query.include_domains]
    parts = [query.text]
    if wanted:
        parts.append(wanted[0] if len(wanted) == 1 else f"({' OR '.join(wanted)})")
    parts += [f"-site:{domain}" for domain in query.exclude_domains]
    text = " ".join(parts)
    if len(text) > chars:
        raise _invalid(f"the query has {len(text)} characters with its domains; {provider} takes {chars}")
    count = len(text.split())
    if words is not None and count > words:
        raise _invalid(f"the query has {count} words with its domains; {provider} takes {words}")
    return text


def left_out(provider: str, *settings: tuple[str, object]) -> tuple[str, ...]:
    """A note for each setting that was made and that the provider has nothing for."""
    return tuple(f"{provider} can't choose by {name}, so that was left out" for name, value in settings if value)


def _invalid(cause: str) -> ServiceError:
    return ServiceError("invalid_input", cause, operation="search")


def _checked(name: str, value: str | None, pattern: re.Pattern[str], wanted: str) -> str | None:
    value = (value or "").strip()
    if not value:
        return None
    if not pattern.fullmatch(value):
        raise _invalid(f'{name} has to be {wanted}, not "{shortened(ascii(value)[1:-1], 40)}"')
    return value
