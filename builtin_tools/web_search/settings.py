"""What the web search tools can be told by the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from builtin_tools.http import Identity, Secret, Section
from builtin_tools.web_search.accounts import Account
from toolkit.errors import ConfigurationError

__all__ = ["PROVIDERS", "WebSearchSettings"]

PROVIDERS = ("tavily", "brave", "exa", "serper", "firecrawl", "searxng", "ddgs")
"""The names that `web_search.provider` may have besides `auto`, in the order in which `auto` looks for keys."""

_SECTION = "web_search"
_ACCOUNTS = ("tavily", "brave", "exa", "serper", "searxng", "firecrawl", "brightdata")
_KEYS = ("provider", "allow_keyless", "branded", *_ACCOUNTS)
_KEYS_OF_ACCOUNTS = ("api_key", "base_url")
_KEYS_OF_BRIGHTDATA = (*_KEYS_OF_ACCOUNTS, "serp_zone", "zone")


@dataclass(frozen=True, slots=True)
class WebSearchSettings:
    """Who searches, and with which keys.

    Attributes:
        provider: `"auto"`, or one of `PROVIDERS`.
        allow_keyless: Whether Tavily may be asked without a key; its answers are the same, its limits lower.
        branded: Whether models are offered `exa_web_search`, `firecrawl_search` and `brightdata_search`.
        searxng: Its `api_key` is `name:password`, also where its address has them, or a token.
        brightdata_zone: The SERP zone of the Bright Data account.
        timeout: Seconds for one request.
        user_agent: What the providers are told of the application. The contact is not sent to them.

    Example:
        >>> WebSearchSettings.read({"web_search": {"provider": "brave"}}, environment={}).provider
        'brave'
    """

    tavily: Account
    brave: Account
    exa: Account
    serper: Account
    searxng: Account
    firecrawl: Account
    brightdata: Account
    brightdata_zone: str | None = None
    provider: str = "auto"
    allow_keyless: bool = True
    branded: bool = False
    timeout: float = 10.0
    user_agent: str = "toolwire"

    @classmethod
    def read(cls, config: object = None, environment: Mapping[str, str] | None = None) -> WebSearchSettings:
        """From the built-in tools' configuration: the section `web_search`, `timeout` and `user_agent`, else from the
        environment. Every key may be left out.

        Raises:
            ConfigurationError: a value is of the wrong type or out of range, or there is no such provider.
        """
        whole = Section.whole(config, environment)
        own = whole.section(_SECTION, *_KEYS)
        return cls(
            tavily=_account(own, "tavily", "Tavily", "https://api.tavily.com", "TAVILY_API_KEY"),
            brave=_account(
                own, "brave", "Brave", "https://api.search.brave.com", "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"
            ),
            exa=_account(own, "exa", "Exa", "https://api.exa.ai", "EXA_API_KEY", "SEARCH_EXA_API_KEY"),
            serper=_account(own, "serper", "Serper", "https://google.serper.dev", "SERPER_API_KEY"),
            searxng=_searxng(own.section("searxng", *_KEYS_OF_ACCOUNTS)),
            firecrawl=_account(
                own,
                "firecrawl",
                "Firecrawl",
                "https://api.firecrawl.dev",
                "FIRECRAWL_API_KEY",
                "SEARCH_FIRECRAWL_API_KEY",
            ),
            brightdata=_account(
                own, "brightdata", "Bright Data", "https://api.brightdata.com", "SEARCH_BRIGHTDATA_API_KEY"
            ),
            brightdata_zone=_zone(own.section("brightdata", *_KEYS_OF_BRIGHTDATA)),
            provider=_provider(own),
            allow_keyless=own.flag("allow_keyless", "WEB_SEARCH_ALLOW_KEYLESS", default=True),
            branded=own.flag("branded", default=False),
            timeout=whole.seconds("timeout", default=10.0),
            user_agent=Identity(user_agent=whole.header("user_agent")).header,
        )

    def account(self, name: str) -> Account:
        """The account of a provider that has one, by its name in the configuration."""
        found: Account = getattr(self, name)
        return found


def _provider(section: Section) -> str:
    name = (section.text("provider", "WEB_SEARCH_PROVIDER") or "auto").lower()
    if name != "auto" and name not in PROVIDERS:
        raise ConfigurationError(
            f"the built-in tools' 'web_search.provider' is {name!r}; give one of 'auto', "
            f"{', '.join(map(repr, PROVIDERS))}"
        )
    return name


def _account(own: Section, key: str, provider: str, base_url: str, *variables: str) -> Account:
    section = own.section(key, *(_KEYS_OF_BRIGHTDATA if key == "brightdata" else _KEYS_OF_ACCOUNTS))
    address = section.url("base_url", default=base_url)
    if "@" in urlsplit(address).netloc:
        raise ConfigurationError(
            f"the built-in tools' '{_SECTION}.{key}.base_url' has a name or password in it; addresses are logged, so "
            f"give the key as '{_SECTION}.{key}.api_key'"
        )
    setting = f"`{_SECTION}.{key}.api_key` (or the variable {' or '.join(variables)})"
    return Account(provider, address, setting, section.secret("api_key", *variables))


def _searxng(section: Section) -> Account:
    """An instance behind a login may have name and password in its address. They are taken out of it: HTTP libraries
    log addresses."""
    setting = f"`{_SECTION}.searxng.base_url` (or the variable SEARXNG_URL)"
    if section.text("base_url", "SEARXNG_URL") is None:
        return Account("SearXNG", None, setting, section.secret("api_key"))
    parts = urlsplit(section.url("base_url", "SEARXNG_URL", default="https://searxng.example.org"))
    login, _, host = parts.netloc.rpartition("@")
    address = urlunsplit((parts.scheme, host, parts.path, "", ""))
    if not login:
        return Account("SearXNG", address, setting, section.secret("api_key"))
    return Account("SearXNG", address, setting, Secret(unquote(login if ":" in login else f"{login}:")))


def _zone(section: Section) -> str | None:
    return section.text("serp_zone", "SEARCH_BRIGHTDATA_SERP_ZONE") or section.text("zone")
