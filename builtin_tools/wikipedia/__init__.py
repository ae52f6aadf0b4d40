"""Wikipedia: the service client, and the two tools over it."""

from builtin_tools.wikipedia.article import Article
from builtin_tools.wikipedia.client import WikipediaClient, wikimedia_pace
from builtin_tools.wikipedia.results import Choice, Heading, SearchResult, SearchResults, WikipediaText
from builtin_tools.wikipedia.settings import WikipediaSettings
from builtin_tools.wikipedia.tools import WikipediaPage, WikipediaSearch

__all__ = [
    "Article",
    "Choice",
    "Heading",
    "SearchResult",
    "SearchResults",
    "WikipediaClient",
    "WikipediaPage",
    "WikipediaSearch",
    "WikipediaSettings",
    "WikipediaText",
    "wikimedia_pace",
]
