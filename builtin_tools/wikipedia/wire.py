"""The Action API's answers, as they come. Format version 2 is asked for; version 1's spellings are read as well.

Version 1 writes a flag as `""` and leaves it out when it is false, writes pages as an object by page id, and puts
texts under `"*"`. Source: https://www.mediawiki.org/wiki/API:Data_formats and recorded answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from msgspec import Struct, field

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.text import one_line, plain_text, shortened

__all__ = ["Body", "Page", "Query", "Renaming", "SearchHit", "read_body", "read_pages", "texts_of"]

_CODE = 80
Flag: TypeAlias = bool | str | None


class Renaming(Struct, frozen=True):
    """A title that was asked for under another name."""

    source: str = field(name="from", default="")
    to: str = ""
    fragment: str = field(name="tofragment", default="")


class Revision(Struct, frozen=True):
    timestamp: str = ""


class Link(Struct, frozen=True):
    title: str = ""
    ns: int = 0


class Page(Struct, frozen=True):
    title: str = ""
    pageid: int = 0
    index: int = 0
    missing: Flag = False
    invalid: Flag = False
    invalidreason: str = ""
    special: Flag = False
    extract: Any = ""
    fullurl: str = ""
    canonicalurl: str = ""
    description: str = ""
    terms: dict[str, list[str]] = {}
    pageprops: dict[str, Any] | list[Any] | None = None  # version 1 writes an empty object as []
    langlinkscount: int | None = None
    revisions: tuple[Revision, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def exists(self) -> bool:
        return not any(_is_set(flag) for flag in (self.missing, self.invalid, self.special))

    @property
    def is_invalid(self) -> bool:
        return _is_set(self.invalid)

    @property
    def is_special(self) -> bool:
        return _is_set(self.special)

    @property
    def is_disambiguation(self) -> bool:
        return isinstance(self.pageprops, dict) and "disambiguation" in self.pageprops

    @property
    def text(self) -> str:
        """The extract; plain text was asked for, and markup that comes all the same is taken out."""
        extract: Any = self.extract
        if isinstance(extract, Mapping):
            extract = cast("Mapping[str, Any]", extract).get("*")
        text = extract if isinstance(extract, str) else ""
        return plain_text(text) if text.lstrip().startswith("<") else text

    @property
    def address(self) -> str:
        """Its own address, or a blank when none was given."""
        return next((url for url in (self.canonicalurl, self.fullurl) if url.startswith(("https://", "http://"))), "")

    @property
    def summary(self) -> str:
        return self.description or next(iter(self.terms.get("description", ())), "")


class SearchHit(Struct, frozen=True):
    title: str = ""
    pageid: int = 0
    snippet: str = ""
    wordcount: int | None = None
    timestamp: str = ""


class SearchInfo(Struct, frozen=True):
    totalhits: int | None = None
    suggestion: str = ""
    rewrittenquery: str = ""


class Interwiki(Struct, frozen=True):
    title: str = ""
    iw: str = ""


class Query(Struct, frozen=True):
    pages: list[Page] | dict[str, Page] = []
    search: tuple[SearchHit, ...] = ()
    searchinfo: SearchInfo = SearchInfo()
    normalized: tuple[Renaming, ...] = ()
    converted: tuple[Renaming, ...] = ()
    redirects: tuple[Renaming, ...] = ()
    interwiki: tuple[Interwiki, ...] = ()

    @property
    def page_list(self) -> list[Page]:
        """The pages; of a search, best first: their order is in `index`, not in the list."""
        pages = list(self.pages.values()) if isinstance(self.pages, dict) else self.pages
        return sorted(pages, key=lambda page: page.index)


class ApiError(Struct, frozen=True):
    code: str = ""
    info: str = ""
    text: str = ""


class Body(Struct, frozen=True):
    query: Query = Query()
    batchcomplete: Any = None  # true, or "" in version 1
    error: ApiError | None = None
    errors: tuple[ApiError, ...] = ()
    warnings: Any = None


_KINDS: dict[str, tuple[ErrorKind, bool]] = {
    "ratelimited": ("rate_limited", True),
    "maxlag": ("unavailable", True),
    "readonly": ("unavailable", True),
    "cirrussearch-too-busy-error": ("unavailable", True),
    "nosrsearch": ("invalid_input", False),
    "missingparam": ("invalid_input", False),
    "invalidtitle": ("invalid_input", False),
    "blocked": ("unauthorized", False),
    "readapidenied": ("unauthorized", False),
    "permissiondenied": ("unauthorized", False),
}


def read_body(answer: Answer) -> Body:
    """The answer, when it is neither an error in its body nor an error by its status.

    Raises:
        ServiceError: errors come with status 200 and a body `error` (or `errors`); a refused User-Agent comes as 403
            with plain text. https://www.mediawiki.org/wiki/API:Errors_and_warnings
    """
    if 200 <= answer.status < 300:
        body = answer.json(Body)
        _check(answer, body)
        if body == Body():  # an empty search may lack `query`, but not all else as well
            raise _other_answer(answer)
        return body
    if answer.status != 429:  # its status and its Retry-After say all
        _check(answer, _body_of_failure(answer))
    if answer.status == 403:
        raise answer.failure(
            "unauthorized",
            "Wikipedia refuses this caller (HTTP 403): its User-Agent or network address is not accepted",
            advice="Tell the user to check the `contact` and `user_agent` settings; do not retry.",
        )
    answer.check_status()
    raise AssertionError("a status outside 2xx is an error")


def read_pages(answer: Answer) -> Query:
    """The same, of a question about a title, which is always answered by a page or by the wiki that the title leads to.

    Raises:
        ServiceError: also `malformed_response`: there is neither.
    """
    query = read_body(answer).query
    if not query.pages and not query.interwiki:
        raise _other_answer(answer)
    return query


def _other_answer(answer: Answer) -> ServiceError:
    return answer.failure("malformed_response", "Wikipedia sent JSON that is no answer to the question")


def _body_of_failure(answer: Answer) -> Body:
    try:
        return answer.json(Body)
    except ServiceError:  # a text or a page of HTML
        return Body()


def texts_of(warnings: object) -> tuple[str, ...]:
    """The texts of `warnings`, in any of the forms in which the API writes them."""
    found: list[str] = []
    left: list[tuple[str, object]] = [("", warnings)]
    while left:  # not by recursion: how deep they lie is up to the server
        key, value = left.pop()
        if isinstance(value, dict):
            left += reversed(cast("dict[str, object]", value).items())
        elif isinstance(value, list):
            left += [("", inner) for inner in reversed(cast("list[object]", value))]
        elif isinstance(value, str) and key in ("*", "text", "warnings", "html"):
            found.append(shortened(one_line(plain_text(value)), 300))
    return tuple(found)


def _check(answer: Answer, body: Body) -> None:
    errors = (body.error, *body.errors) if body.error else body.errors
    if not errors:
        return
    code = errors[0].code
    kind, is_temporary = _KINDS.get(code, ("unavailable", code.startswith("internal_api_error")))
    text = answer.words(errors[0].info or errors[0].text, is_markup=True)
    told = answer.words(code, _CODE)
    raise answer.failure(kind, f'Wikipedia answered "{told}": {text}', code=code, is_temporary=is_temporary)


def _is_set(flag: Flag) -> bool:
    return flag is True or flag == ""
