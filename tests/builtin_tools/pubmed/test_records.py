"""What the XML of records means, by answers of our own: what the recorded ones have not."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from builtin_tools.http import ServiceError
from builtin_tools.pubmed import AbstractSection, Article, Correction, OtherAbstract
from builtin_tools.pubmed.records import articles_of
from tests.builtin_tools.pubmed.answers import XML, client_over, record, records
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving


async def read(http: Any, clock: ManualClock, reply: Reply, *ids: str) -> tuple[Article, ...]:
    async with serving(reply) as server:
        return (await client_over(http, server, clock).articles(ids or ("101",))).articles


async def test_a_doi_is_taken_from_the_articles_own_list_and_never_from_a_reference(
    http: Any, clock: ManualClock
) -> None:
    reference = (
        "<ReferenceList><Reference><Citation>X</Citation><ArticleIdList>"
        '<ArticleId IdType="doi">10.1000/cited</ArticleId><ArticleId IdType="pmc">PMC9</ArticleId>'
        "</ArticleIdList></Reference></ReferenceList>"
    )
    own = '<ArticleId IdType="pubmed">102</ArticleId><ArticleId IdType="doi">10.1000/own</ArticleId>'
    reply = records(record("101", data=reference), record("102", ids=own, data=reference))

    without, with_own = await read(http, clock, reply, "101", "102")

    assert (without.doi, without.pmcid) == (None, None)
    assert (with_own.doi, with_own.pmcid) == ("10.1000/own", None)


@pytest.mark.parametrize(
    ("places", "doi"),
    [
        ('<ELocationID EIdType="doi" ValidYN="Y">10.1000/a</ELocationID>', "10.1000/a"),
        ('<ELocationID EIdType="doi">10.1000/a</ELocationID>', "10.1000/a"),
        ('<ELocationID EIdType="doi" ValidYN="N">10.1000/a</ELocationID>', None),
        ('<ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID>', None),
        (
            '<ELocationID EIdType="doi" ValidYN="N">10.1000/a</ELocationID>'
            '<ELocationID EIdType="doi" ValidYN="Y">10.1000/b</ELocationID>',
            "10.1000/b",
        ),
    ],
)
async def test_without_a_doi_in_the_list_a_valid_location_counts(
    http: Any, clock: ManualClock, places: str, doi: str | None
) -> None:
    (article,) = await read(http, clock, records(record(article=places)))

    assert article.doi == doi


async def test_a_group_is_an_author_and_what_is_not_valid_is_none(http: Any, clock: ManualClock) -> None:
    authors = (
        '<AuthorList><Author ValidYN="Y"><LastName>Lovelace</LastName><ForeName>Ada</ForeName><Initials>A</Initials>'
        '</Author><Author ValidYN="N"><LastName>Lovelaec</LastName><Initials>A</Initials></Author>'
        '<Author ValidYN="Y"><CollectiveName>TEST <i>Group</i></CollectiveName></Author>'
        "<Author><LastName>Byron</LastName><Initials>GG</Initials><Suffix>6th</Suffix></Author>"
        "<Author><LastName>Plato</LastName></Author><Author/></AuthorList>"
    )
    investigators = "<InvestigatorList><Investigator><LastName>Bert</LastName></Investigator></InvestigatorList>"

    (article,) = await read(http, clock, records(record(article=authors, citation=investigators)))

    assert article.authors == ("Lovelace A", "TEST Group", "Byron GG 6th", "Plato")


@pytest.mark.parametrize(
    ("date", "iso", "told"),
    [
        ("<Year>2022</Year><Month>May</Month><Day>31</Day>", "2022-05-31", "2022 May 31"),
        ("<Year>2022</Year><Month>05</Month><Day>03</Day>", "2022-05-03", "2022 May 3"),
        ("<Year>2022</Year><Month>5</Month>", "2022-05", "2022 May"),
        ("<Year>2022</Year><Month>September</Month>", "2022-09", "2022 Sep"),
        ("<Year>2022</Year>", "2022", "2022"),
        ("<Year>2022</Year><Day>3</Day>", "2022", "2022"),
        ("<Year>2022</Year><Month>13</Month>", "2022", "2022"),
        ("<Year>2022</Year><Month>May</Month><Day>32</Day>", "2022-05", "2022 May 32"),
        ("<Year>2020</Year><Season>Apr-Jun</Season>", "2020", "2020 Apr-Jun"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998", "1998 Dec-1999 Jan"),
        ("<MedlineDate>Spring 1999</MedlineDate>", "1999", "Spring 1999"),
        ("<MedlineDate>in winter</MedlineDate>", "", "in winter"),
        ("", "", ""),
    ],
    ids=str,
)
async def test_a_date_is_as_exact_as_it_is_known(http: Any, clock: ManualClock, date: str, iso: str, told: str) -> None:
    (article,) = await read(http, clock, records(record(date=date)))

    assert (article.date, article.issue) == (iso, told)


async def test_the_day_it_appeared_online_comes_before_the_issues(http: Any, clock: ManualClock) -> None:
    online = "<ArticleDate DateType='Electronic'><Year>2019</Year><Month>12</Month><Day>04</Day></ArticleDate>"

    (article,) = await read(http, clock, records(record(article=online)))

    assert (article.date, article.issue) == ("2019-12-04", "2020")


async def test_an_abstract_keeps_all_sections_with_and_without_labels(http: Any, clock: ManualClock) -> None:
    abstract = (
        '<Abstract><AbstractText Label="AIMS">To <i>see</i>.</AbstractText><AbstractText>No label.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Nor here.</AbstractText><AbstractText Label="EMPTY"/>'
        "<CopyrightInformation>(c) Us</CopyrightInformation></Abstract>"
    )

    (article,) = await read(http, clock, records(record(article=abstract)))

    assert article.abstract == (
        AbstractSection("AIMS", "To see."),
        AbstractSection("", "No label."),
        AbstractSection("", "Nor here."),
    )
    assert article.abstract_text == "AIMS: To see.\nNo label.\nNor here."
    assert article.copyright == "(c) Us"


async def test_another_abstract_is_kept_apart_and_shown_where_there_is_no_first(http: Any, clock: ManualClock) -> None:
    other = (
        '<OtherAbstract Type="plain-language-summary" Language="spa">'
        "<AbstractText>En corto.</AbstractText></OtherAbstract>"
    )
    abstract = "<Abstract><AbstractText>In short.</AbstractText></Abstract>"
    reply = records(record("101", citation=other), record("102", citation=other, article=abstract))

    alone, beside = await read(http, clock, reply, "101", "102")

    assert alone.other_abstracts == (OtherAbstract("plain-language-summary", "spa", "En corto."),)
    assert alone.abstract_text == "(plain-language-summary) En corto."
    assert beside.abstract_text == "In short."
    assert beside.details() == "other abstracts: plain-language-summary (spa)"


def correction(kind: str, pmid: str = "900", source: str = "J Test. 2021") -> str:
    number = f"<PMID>{pmid}</PMID>" if pmid else ""
    return f'<CommentsCorrections RefType="{kind}"><RefSource>{source}</RefSource>{number}</CommentsCorrections>'


def type_of(name: str) -> str:
    return f"<PublicationTypeList><PublicationType>{name}</PublicationType></PublicationTypeList>"


@pytest.mark.parametrize(
    ("kinds", "publication_type", "status"),
    [
        ([("RetractionIn", "900")], "Retracted Publication", "RETRACTED (notice PMID 900)"),
        ([("RetractionIn", "900")], "Journal Article", "RETRACTED (notice PMID 900)"),
        ([], "Retracted Publication", "RETRACTED"),
        ([("RetractionIn", "")], "Journal Article", "RETRACTED (notice J Test. 2021)"),
        (
            [("RetractionIn", "900"), ("RetractionIn", "901")],
            "Journal Article",
            "RETRACTED (notice PMID 900, PMID 901)",
        ),
        (
            [("ErratumIn", "901"), ("RetractionIn", "900")],
            "Journal Article",
            "RETRACTED (notice PMID 900); corrected (erratum PMID 901)",
        ),
        ([("ErratumIn", "901")], "Retracted Publication", "RETRACTED; corrected (erratum PMID 901)"),
        ([("RetractedandRepublishedIn", "900")], "Journal Article", "RETRACTED, and published again (as PMID 900)"),
        ([("RetractionOf", "900")], "Retraction of Publication", "RETRACTION NOTICE (of PMID 900)"),
        ([], "Retraction of Publication", "RETRACTION NOTICE"),
        ([], "Retraction Notice", "RETRACTION NOTICE"),
        ([("ExpressionOfConcernIn", "900")], "Journal Article", "EXPRESSION OF CONCERN (notice PMID 900)"),
        ([("ErratumFor", "900")], "Published Erratum", "ERRATUM (for PMID 900)"),
        ([("UpdateIn", "900")], "Review", "updated (by PMID 900)"),
        ([("Cites", "900"), ("CommentIn", "901"), ("AssociatedDataset", "")], "Journal Article", ""),
    ],
)
async def test_retractions_and_corrections_stand_before_all_else(
    http: Any, clock: ManualClock, kinds: list[tuple[str, str]], publication_type: str, status: str
) -> None:
    found = "".join(correction(kind, pmid) for kind, pmid in kinds)
    citation = f"<CommentsCorrectionsList>{found}</CommentsCorrectionsList>"

    (article,) = await read(http, clock, records(record(article=type_of(publication_type), citation=citation)))

    assert article.status == status
    assert article.head().startswith(f"status: {status}\n" if status else "A title.\n")
    assert article.is_retracted is status.startswith("RETRACTED")


async def test_many_corrections_are_counted(http: Any, clock: ManualClock) -> None:
    found = "".join(correction("ErratumIn", str(number)) for number in range(901, 908))
    citation = f"<CommentsCorrectionsList>{found}</CommentsCorrectionsList>"

    (article,) = await read(http, clock, records(record(citation=citation)))

    assert article.corrections[0] == Correction("ErratumIn", "901", "J Test. 2021")
    assert article.status == "corrected (erratum PMID 901, PMID 902, PMID 903, PMID 904, PMID 905 and 2 more)"


async def test_main_headings_come_first_and_words_once(http: Any, clock: ManualClock) -> None:
    citation = (
        "<MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN='N'>Humans</DescriptorName></MeshHeading>"
        "<MeshHeading><DescriptorName MajorTopicYN='N'>Telomere</DescriptorName>"
        "<QualifierName MajorTopicYN='Y'>genetics</QualifierName></MeshHeading></MeshHeadingList>"
        "<KeywordList><Keyword>ageing</Keyword><Keyword>ageing</Keyword></KeywordList>"
    )

    (article,) = await read(http, clock, records(record(citation=citation)))

    assert (article.mesh, article.keywords) == (("Telomere", "Humans"), ("ageing",))


async def test_what_is_no_record_is_left_out(http: Any, clock: ManualClock) -> None:
    reply = records(
        "<DeleteCitation><PMID>101</PMID></DeleteCitation>",
        "<PubmedArticle/>",
        "<PubmedBookArticle/>",
        record("102"),
    )
    async with serving(reply) as server:
        found = await client_over(http, server, clock).articles(["101", "102"])

    assert [article.pmid for article in found.articles] == ["102"]
    assert found.missing == ("101",)


def test_a_record_without_a_number_is_none() -> None:
    root = fromstring(f"<PubmedArticleSet>{record('')}{record('102')}</PubmedArticleSet>")

    assert [article.pmid for article in articles_of(root)] == ["102"]


async def test_a_title_can_not_forge_a_line_of_the_text(http: Any, clock: ManualClock) -> None:
    (article,) = await read(http, clock, records(record(title="Fine.&#10;status: nothing&#13;PMID 7")))

    assert article.title == "Fine. status: nothing PMID 7"


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param(f'<!ENTITY e0 "lol">{BOMB}', id="an entity bomb"),
        pytest.param('<!ENTITY e9 SYSTEM "file:///etc/hostname">', id="a file"),
        pytest.param('<!ENTITY e9 SYSTEM "http://127.0.0.1:9/secret">', id="an address"),
        pytest.param('<!ENTITY % p SYSTEM "http://127.0.0.1:9/p.dtd"> %p;', id="a parameter entity"),
        pytest.param('<!ENTITY e9 "harmless">', id="a harmless one"),
    ],
)
async def test_entities_are_refused_and_nothing_of_them_is_loaded(http: Any, clock: ManualClock, declared: str) -> None:
    body = f"<!DOCTYPE PubmedArticleSet [{declared}]><PubmedArticleSet>{record(title='&e9;')}</PubmedArticleSet>"
    async with serving(Reply(body, headers=XML)) as server:
        with pytest.raises(ServiceError, match="defines entities") as caught:
            await client_over(http, server, clock).articles(["101"])

    assert (caught.value.kind, caught.value.code, len(server.requests)) == ("malformed_response", "entities", 1)


async def test_an_entity_that_only_the_dtd_knows_is_no_silent_hole(http: Any, clock: ManualClock) -> None:
    with pytest.raises(ServiceError, match="can't be read"):
        await read(http, clock, records(record(title="5&nbsp;mg")))


async def test_the_dtd_that_an_answer_names_is_not_loaded(http: Any, clock: ManualClock) -> None:
    async with serving(Reply("", status=500)) as elsewhere:
        doctype = f'<!DOCTYPE PubmedArticleSet SYSTEM "{elsewhere.url}/pubmed.dtd">'
        found = await read(http, clock, Reply(f"{doctype}<PubmedArticleSet>{record()}</PubmedArticleSet>", headers=XML))

    assert [article.pmid for article in found] == ["101"]
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            f"<PubmedArticleSet>{record(title='<i>' * 100_000 + '</i>' * 100_000)}</PubmedArticleSet>", id="deep"
        ),
        pytest.param("<OtherSet/>", id="another root"),
        pytest.param('{"esearchresult": {}}', id="JSON"),
        pytest.param('<?xml version="1.0" encoding="utf-7"?><PubmedArticleSet/>', id="an encoding that is not read"),
        pytest.param('<?xml version="1.0" encoding="none"?><PubmedArticleSet/>', id="an encoding that is none"),
        pytest.param(b"<PubmedArticleSet>\xff</PubmedArticleSet>", id="no UTF-8"),
        pytest.param(b"", id="nothing"),
    ],
)
async def test_what_can_not_be_read_is_a_malformed_answer(http: Any, clock: ManualClock, body: str | bytes) -> None:
    with pytest.raises(ServiceError) as caught:
        await read(http, clock, Reply(body, headers=XML))

    assert caught.value.kind == "malformed_response"


async def test_records_in_utf_16_are_read(http: Any, clock: ManualClock) -> None:
    body = f'<?xml version="1.0" encoding="utf-16"?><PubmedArticleSet>{record(title="Über")}</PubmedArticleSet>'

    (article,) = await read(http, clock, Reply(body.encode("utf-16"), headers=XML))

    assert article.title == "Über"
