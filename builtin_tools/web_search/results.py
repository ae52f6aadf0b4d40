"""What the web search tools answer: typed values for the application, each with its text for the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from builtin_tools.text import shortened

__all__ = ["BrightDataResult", "ExaResult", "FirecrawlResult", "WebResult", "WebResults"]

MAX_CONTENT = 6_000
_QUERY_TOLD = 120
_SNIPPETS = (500, 300, 150, 60)


@dataclass(frozen=True, slots=True)
class WebResult:
    """One page that was found.

    Attributes:
        title: Plain text; the host's name where the page has no title.
        url: Its http or https address, as the provider gave it.
        snippet: Plain text on one line, at most 500 characters; a blank when there is none.
        published: `YYYY-MM-DD`; or the provider's words where they are no date, such as `"3 days ago"`; or None.
        source: The host.
    """

    title: str
    url: str
    snippet: str = ""
    published: str | None = None
    source: str = ""

    def facts(self) -> tuple[str, ...]:
        """What stands beside the title."""
        return tuple(fact for fact in (self.source, self.published) if fact)

    def to_content(self, snippet: int = _SNIPPETS[0]) -> str:
        """Title with facts, address, and at most so many characters of the snippet."""
        told = ", ".join(self.facts())
        head = f"{self.title} — {told}" if told else self.title
        return "\n".join(line for line in (head, self.url, shortened(self.snippet, snippet)) if line)


@dataclass(frozen=True, slots=True)
class ExaResult(WebResult):
    """A page that Exa found. `score` is 0 to 1 where Exa gives one; `highlights` are passages of the page."""

    author: str | None = None
    score: float | None = None
    highlights: tuple[str, ...] = ()

    def facts(self) -> tuple[str, ...]:
        # Not super(): it has no class to start from in a dataclass with slots.
        own = (f"by {self.author}" if self.author else "", "" if self.score is None else f"score {self.score:.2f}")
        return (*WebResult.facts(self), *(fact for fact in own if fact))


@dataclass(frozen=True, slots=True)
class FirecrawlResult(WebResult):
    """What Firecrawl found. `kind` is where: `"web"`, `"news"` or `"images"`."""

    kind: str = "web"
    category: str | None = None
    image_url: str | None = None

    def facts(self) -> tuple[str, ...]:
        own = (self.kind, self.category or "", f"image {self.image_url}" if self.image_url else "")
        return (*WebResult.facts(self), *(fact for fact in own if fact))


@dataclass(frozen=True, slots=True)
class BrightDataResult(WebResult):
    """A page that Google shows, through Bright Data. `rank` begins with 1."""

    rank: int | None = None

    def facts(self) -> tuple[str, ...]:
        return (*WebResult.facts(self), *(() if self.rank is None else (f"rank {self.rank}",)))


@dataclass(frozen=True, slots=True)
class WebResults:
    """What a search found, best first.

    Attributes:
        provider: The service that searched, such as `"Tavily"`: it has been told the query.
        notes: What was done otherwise than asked, and what was left out.
    """

    query: str
    provider: str
    results: tuple[WebResult, ...] = ()
    notes: tuple[str, ...] = ()

    def to_content(self) -> str:
        """Numbered results, then notes: at most 6,000 characters, and what was left out to keep to them is told."""
        query = shortened(self.query, _QUERY_TOLD)
        if not self.results:
            return self._told([f'No results for "{query}" ({self.provider}).'], self.notes)
        text = ""
        for text in self._versions(query):
            if len(text) <= MAX_CONTENT:
                break
        return text

    def _versions(self, query: str) -> Iterator[str]:
        """The text with ever shorter snippets, then with ever fewer results."""
        count = len(self.results)
        for length in _SNIPPETS:
            notes = self.notes
            if any(len(result.snippet) > length for result in self.results):
                notes = (*notes, f"snippets were cut to {length} characters; ask for fewer results to get more of each")
            yield self._listed(query, count, length, notes)
        for told in range(count - 1, 0, -1):
            note = f"truncated: {count - told} more results did not fit; ask for at most {told}"
            yield self._listed(query, told, _SNIPPETS[-1], (*self.notes, note))

    def _listed(self, query: str, count: int, snippet: int, notes: tuple[str, ...]) -> str:
        lines = [f'{len(self.results)} results for "{query}" ({self.provider})']
        for number, result in enumerate(self.results[:count], 1):
            lines.append(f"[{number}] {result.to_content(snippet)}")
        return self._told(lines, notes)

    def _told(self, lines: list[str], notes: tuple[str, ...]) -> str:
        return "\n".join([*lines, *(f"note: {note}" for note in notes)])
