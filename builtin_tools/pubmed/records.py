"""From PubMed's XML to articles.

The elements are those of the DTD that each answer names and nobody loads:
https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from builtin_tools.pubmed.article import AbstractSection, Article, Correction, OtherAbstract
from builtin_tools.pubmed.dates import date_text, iso_date
from builtin_tools.pubmed.markup import text_of

__all__ = ["articles_of", "is_record_set"]

_SETS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet"})
_UNLABELLED = "UNLABELLED"
# What other records say of this one without changing it.
_NO_CORRECTIONS = frozenset(
    {"AssociatedDataset", "AssociatedPublication", "Cites", "CommentIn", "CommentOn", "OriginalReportIn"}
    | {"ReprintIn", "ReprintOf", "SummaryForPatientsIn"}
)


def is_record_set(root: Element) -> bool:
    """True for an answer of records, also for one with none and for a record that stands alone."""
    return root.tag in _SETS or root.tag in ("PubmedArticle", "PubmedBookArticle")


def articles_of(root: Element) -> tuple[Article, ...]:
    """The records in it, in their order. Those that only tell which records were deleted are none."""
    found: list[Article] = []
    for record in root if root.tag in _SETS else (root,):
        if record.tag == "PubmedArticle":
            found += _article(record)
        elif record.tag == "PubmedBookArticle":
            found += _chapter(record)
    return tuple(article for article in found if article.pmid)


def _article(record: Element) -> Iterator[Article]:
    citation = record.find("MedlineCitation")
    article = None if citation is None else citation.find("Article")
    if citation is None or article is None:
        return
    ids = _ids(record, "PubmedData/ArticleIdList/ArticleId")
    issue_date = article.find("Journal/JournalIssue/PubDate")
    yield Article(
        pmid=text_of(citation.find("PMID")),
        title=text_of(article.find("ArticleTitle")),
        authors=_authors(article.find("AuthorList")),
        journal=text_of(article.find("Journal/Title")) or text_of(citation.find("MedlineJournalInfo/MedlineTA")),
        date=iso_date(article.find("ArticleDate")) or iso_date(issue_date),
        issue=_issue(article, date_text(issue_date)),
        types=_texts(article, "PublicationTypeList/PublicationType"),
        doi=ids.get("doi") or _location(article),
        pmcid=ids.get("pmc"),
        language=", ".join(_texts(article, "Language")),
        original_title=text_of(article.find("VernacularTitle")),
        abstract=_abstract(article.find("Abstract")),
        other_abstracts=_other_abstracts(citation),
        mesh=_headings(citation),
        keywords=_unique(_texts(citation, "KeywordList/Keyword")),
        corrections=_corrections(citation),
        copyright=text_of(article.find("Abstract/CopyrightInformation")),
    )


def _chapter(record: Element) -> Iterator[Article]:
    document = record.find("BookDocument")
    book = None if document is None else document.find("Book")
    if document is None or book is None:
        return
    ids = _ids(document, "ArticleIdList/ArticleId") | _ids(record, "PubmedBookData/ArticleIdList/ArticleId")
    book_title = text_of(book.find("BookTitle"))
    lists = document.findall("AuthorList")
    yield Article(
        pmid=text_of(document.find("PMID")),
        title=text_of(document.find("ArticleTitle")) or book_title,
        authors=_authors(*_of_type(lists, "authors")) or _authors(*_of_type(book.findall("AuthorList"), "authors")),
        journal=book_title,
        date=iso_date(document.find("ContributionDate")) or iso_date(book.find("PubDate")),
        issue=date_text(book.find("PubDate")),
        types=_texts(document, "PublicationType"),
        doi=ids.get("doi") or _location(document),
        pmcid=ids.get("pmc"),
        language=", ".join(_texts(document, "Language")),
        original_title=text_of(document.find("VernacularTitle")),
        abstract=_abstract(document.find("Abstract")),
        keywords=_unique(_texts(document, "KeywordList/Keyword")),
        book=ids.get("bookaccession", ""),
        editors=_authors(*[found for found in (*book.findall("AuthorList"), *lists) if found.get("Type") == "editors"]),
        copyright=text_of(document.find("Abstract/CopyrightInformation")),
    )


def _of_type(lists: list[Element], kind: str) -> list[Element]:
    """The lists of the kind; one that says nothing of its kind is of authors."""
    return [found for found in lists if found.get("Type", "authors") == kind]


def _authors(*lists: Element | None) -> tuple[str, ...]:
    """Names such as `Lovelace A`, and of groups. NCBI keeps a corrected author as one that is not valid."""
    authors = [author for found in lists if found is not None for author in found.findall("Author")]
    names = (_name(author) for author in authors if author.get("ValidYN", "Y") == "Y")
    return tuple(name for name in names if name)


def _name(author: Element) -> str:
    group = text_of(author.find("CollectiveName"))
    parts = [
        text_of(author.find("LastName")),
        text_of(author.find("Initials")) or text_of(author.find("ForeName")),
        text_of(author.find("Suffix")),
    ]
    return group or " ".join(part for part in parts if part)


def _ids(element: Element, path: str) -> dict[str, str]:
    """A record's own ids. The references have lists of the same name, so the path is never `.//ArticleId`."""
    found: dict[str, str] = {}
    for entry in element.findall(path):
        text = text_of(entry)
        if text:
            found.setdefault(entry.get("IdType", ""), text)
    return found


def _location(article: Element) -> str | None:
    places = article.findall("ELocationID")
    dois = (text_of(p) for p in places if p.get("EIdType") == "doi" and p.get("ValidYN", "Y") == "Y")
    return next((doi for doi in dois if doi), None)


def _issue(article: Element, date: str) -> str:
    """Date, volume, issue and pages as they are cited: `2022 May 31;39(9):110870`."""
    volume = text_of(article.find("Journal/JournalIssue/Volume"))
    number = text_of(article.find("Journal/JournalIssue/Issue"))
    first, last = (text_of(article.find(f"Pagination/{name}")) for name in ("StartPage", "EndPage"))
    pages = text_of(article.find("Pagination/MedlinePgn")) or (f"{first}-{last}" if last else first)
    place = f"{volume}({number})" if number else volume
    return date + (f";{place}" if place else "") + (f":{pages}" if pages else "")


def _abstract(abstract: Element | None) -> tuple[AbstractSection, ...]:
    if abstract is None:
        return ()
    sections: list[AbstractSection] = []
    for part in abstract.findall("AbstractText"):
        label = " ".join(part.get("Label", "").split())
        text = text_of(part)
        if text:
            sections.append(AbstractSection("" if label == _UNLABELLED else label, text))
    return tuple(sections)


def _other_abstracts(citation: Element) -> tuple[OtherAbstract, ...]:
    found: list[OtherAbstract] = []
    for other in citation.findall("OtherAbstract"):
        text = "\n".join(section.to_content() for section in _abstract(other))
        if text:
            found.append(OtherAbstract(other.get("Type", ""), other.get("Language", ""), text))
    return tuple(found)


def _headings(citation: Element) -> tuple[str, ...]:
    """The subject headings, those first that the article is mainly about."""
    main: list[str] = []
    others: list[str] = []
    for heading in citation.findall("MeshHeadingList/MeshHeading"):
        name = text_of(heading.find("DescriptorName"))
        is_main = any(part.get("MajorTopicYN") == "Y" for part in heading)
        if name:
            (main if is_main else others).append(name)
    return _unique([*main, *others])


def _corrections(citation: Element) -> tuple[Correction, ...]:
    entries = citation.findall("CommentsCorrectionsList/CommentsCorrections")
    return tuple(
        Correction(kind, text_of(entry.find("PMID")) or None, text_of(entry.find("RefSource")))
        for entry in entries
        if (kind := entry.get("RefType", "")) and kind not in _NO_CORRECTIONS
    )


def _texts(element: Element, path: str) -> tuple[str, ...]:
    return tuple(text for text in map(text_of, element.findall(path)) if text)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
