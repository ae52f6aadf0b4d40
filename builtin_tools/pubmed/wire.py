"""The answers of NCBI's E-utilities, as they come: XML or JSON, whatever was asked for, and errors with status 200.

https://www.ncbi.nlm.nih.gov/books/NBK25499/ and recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, cast
from xml.etree.ElementTree import Element, ParseError

import msgspec
from defusedxml import DefusedXmlException, ElementTree
from msgspec import Struct

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.pubmed.article import Article
from builtin_tools.pubmed.records import articles_of, is_record_set
from builtin_tools.text import one_line

__all__ = ["Hits", "links_reader", "read_articles", "read_hits", "read_spelling"]

T = TypeVar("T")
Json: TypeAlias = "dict[str, Any]"

_NO_IDS = ("id list is empty", "empty id list", "empty result")


class ErrorList(Struct, frozen=True):
    phrasesnotfound: tuple[str, ...] = ()
    fieldsnotfound: tuple[str, ...] = ()


class WarningList(Struct, frozen=True):
    phrasesignored: tuple[str, ...] = ()
    quotedphrasesnotfound: tuple[str, ...] = ()
    outputmessages: tuple[str, ...] = ()


class Hits(Struct, frozen=True):
    """What a search found. `ids` are the PMIDs of the page that was asked for, `count` is the number of all."""

    count: int = 0
    ids: tuple[str, ...] = msgspec.field(name="idlist", default=())
    translation: str = msgspec.field(name="querytranslation", default="")
    errors: ErrorList | None = msgspec.field(name="errorlist", default=None)
    warnings: WarningList | None = msgspec.field(name="warninglist", default=None)

    @property
    def not_found(self) -> tuple[str, ...]:
        """Phrases and fields that PubMed does not know, and searched without."""
        errors, warnings = self.errors or ErrorList(), self.warnings or WarningList()
        return (*errors.phrasesnotfound, *warnings.quotedphrasesnotfound, *errors.fieldsnotfound)

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.warnings.phrasesignored if self.warnings else ()

    @property
    def messages(self) -> tuple[str, ...]:
        return self.warnings.outputmessages if self.warnings else ()


def read_hits(answer: Answer) -> Hits:
    """esearch's answer."""
    body = _sound_body(answer)
    found: Any = _hits_of_xml(answer, body) if isinstance(body, Element) else body.get("esearchresult")
    if not isinstance(found, dict) or "count" not in found:
        raise _unreadable(answer)
    return _converted(answer, cast("Json", found), Hits)


def _hits_of_xml(answer: Answer, body: Element) -> Json:
    """The answer as it would be in JSON."""
    if body.tag != "eSearchResult":
        raise _unreadable(answer)
    return {
        "count": body.findtext("Count"),
        "idlist": _texts(body, "IdList/Id"),
        "querytranslation": one_line(body.findtext("QueryTranslation") or ""),
        "errorlist": {
            "phrasesnotfound": _texts(body, "ErrorList/PhraseNotFound"),
            "fieldsnotfound": _texts(body, "ErrorList/FieldNotFound"),
        },
        "warninglist": {
            "phrasesignored": _texts(body, "WarningList/PhraseIgnored"),
            "quotedphrasesnotfound": _texts(body, "WarningList/QuotedPhraseNotFound"),
            "outputmessages": _texts(body, "WarningList/OutputMessage"),
        },
    }


def read_spelling(answer: Answer) -> str:
    """espell's suggestion; a blank when it has none."""
    body = _sound_body(answer)
    if not isinstance(body, Element) or body.tag != "eSpellResult":
        raise _unreadable(answer)
    return one_line(body.findtext("CorrectedQuery") or "")


def links_reader(name: str, pmid: str) -> Callable[[Answer], tuple[str, ...]]:
    """Reads elink's answer: the PMIDs under the link of that name, in their order, without the article itself."""

    def read(answer: Answer) -> tuple[str, ...]:
        body = _sound_body(answer)
        found = _xml_links(answer, body, name) if isinstance(body, Element) else _json_links(answer, body, name)
        return tuple(dict.fromkeys(link for link in found if link != pmid))

    return read


def read_articles(answer: Answer) -> tuple[Article, ...]:
    """efetch's answer. None of the ids being known is an empty one."""
    body, said = _read(answer)
    if said.lower().startswith(_NO_IDS):
        return ()
    _raise_for(answer, said)
    if not isinstance(body, Element) or not is_record_set(body):
        raise _unreadable(answer)
    try:
        return articles_of(body)
    except RecursionError as error:
        raise _unreadable(answer) from error


class _ScoredLink(Struct, frozen=True):
    id: str | int


class _Links(Struct, frozen=True):
    linkname: str = ""
    links: tuple[str | int | _ScoredLink, ...] = ()


class _LinkSet(Struct, frozen=True):
    linksetdbs: tuple[_Links, ...] = ()


class _LinkBody(Struct, frozen=True):
    linksets: tuple[_LinkSet, ...]


def _json_links(answer: Answer, body: Json, name: str) -> Iterator[str]:
    for linkset in _converted(answer, body, _LinkBody).linksets:
        for found in linkset.linksetdbs:
            if found.linkname == name:
                for link in found.links:
                    yield str(link.id if isinstance(link, _ScoredLink) else link)


def _xml_links(answer: Answer, body: Element, name: str) -> Iterator[str]:
    if body.tag != "eLinkResult":
        raise _unreadable(answer)
    for found in body.findall("LinkSet/LinkSetDb"):
        if found.findtext("LinkName") == name:
            yield from _texts(found, "Link/Id")


def _sound_body(answer: Answer) -> Element | Json:
    """The body of an answer that is no error, neither by what it says nor by its status."""
    body, said = _read(answer)
    _raise_for(answer, said)
    return body


def _read(answer: Answer) -> tuple[Element | Json, str]:
    """The body, and what it says went wrong. An answer outside 2xx that does not say so is an error by its status."""
    if 200 <= answer.status < 300:
        body = _parsed(answer)
        return body, _error_in(body)
    if answer.status != 429:  # its status and its Retry-After say all
        try:
            body = _parsed(answer)
        except ServiceError:  # a text or a page of HTML
            pass
        else:
            if said := _error_in(body):
                return body, said
    if answer.status == 500:
        raise answer.failure("unavailable", "PubMed failed (HTTP 500)", is_temporary=True)
    answer.check_status()
    raise AssertionError("a status outside 2xx is an error")


def _parsed(answer: Answer) -> Element | Json:
    if answer.content.lstrip().startswith(b"{"):
        return answer.json(dict[str, Any])
    try:
        # Entities are refused, whatever they say; the DTD that every answer names is never loaded.
        return ElementTree.fromstring(answer.content)
    except DefusedXmlException as error:
        raise answer.failure(
            "malformed_response", "PubMed sent an answer that defines entities, which are not read", code="entities"
        ) from error
    except (ParseError, ValueError, LookupError) as error:  # the latter two: encodings that are unknown or not sound
        raise _unreadable(answer, is_temporary=True) from error


def _unreadable(answer: Answer, *, is_temporary: bool = False) -> ServiceError:
    """XML that breaks off is temporary: NCBI's long answers do now and then."""
    is_page = b"<html" in answer.content[:1_000].lower()
    what = "a web page in place of data" if is_page else "an answer that can't be read"
    cause = f"PubMed sent {what} ({answer.operation})"
    return answer.failure("malformed_response", cause, is_temporary=is_temporary and not is_page)


def _error_in(body: Element | Json) -> str:
    """What the answer says went wrong, or a blank. An empty `<ERROR/>` stands in answers that are sound."""
    if isinstance(body, Element):
        said = [body.text] if body.tag.upper() == "ERROR" else []
        said += [found.text for path in ("ERROR", "Error", "LinkSet/ERROR") for found in body.findall(path)]
        return next((one_line(text) for text in said if text and text.strip()), "")
    return next(_json_errors(body), "")


def _json_errors(body: Json) -> Iterator[str]:
    places: list[Any] = [body, body.get("esearchresult"), *_listed(body.get("linksets"))]
    for place in places:
        if isinstance(place, Mapping):
            found = cast("Mapping[str, Any]", place)
            for said in (*_listed(found.get("error")), *_listed(found.get("ERROR"))):
                if isinstance(said, str) and said.strip():
                    yield one_line(said)
    for said in _listed(body.get("esummaryresult")):
        if isinstance(said, str):
            yield one_line(said)


def _listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


_KINDS: tuple[tuple[tuple[str, ...], ErrorKind, bool], ...] = (
    (("rate limit",), "rate_limited", True),
    (("api key", "api_key"), "unauthorized", False),
    (("backend", "temporar", "timeout", "timed out", "unavailable", "try again", "server"), "unavailable", True),
)


def _raise_for(answer: Answer, said: str) -> None:
    if not said:
        return
    kind, is_temporary = _reading_of(said)
    if kind == "rate_limited":
        raise answer.failure(kind, "PubMed allows no more requests for now", is_temporary=True)
    advice = "Tell the user to check `pubmed.api_key`; do not retry." if kind == "unauthorized" else None
    cause = f'PubMed answered "{answer.words(said)}"'
    raise answer.failure(kind, cause, advice=advice, is_temporary=is_temporary)


def _reading_of(said: str) -> tuple[ErrorKind, bool]:
    """The kind of an error by its words: there are no codes."""
    for words, kind, is_temporary in _KINDS:
        if any(word in said.lower() for word in words):
            return kind, is_temporary
    return "invalid_input", False


def _converted(answer: Answer, body: Json, type: type[T]) -> T:
    try:
        return msgspec.convert(body, type, strict=False)
    except msgspec.ValidationError as error:
        raise _unreadable(answer) from error


def _texts(element: Element, path: str) -> list[str]:
    return [one_line(found.text) for found in element.findall(path) if found.text and found.text.strip()]
