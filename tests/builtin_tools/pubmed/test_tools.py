"""`pubmed_search`, `pubmed_fetch` and `pubmed_related` as a model calls them."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.pubmed import Abstracts, PubMedFetch, PubMedRelated, PubMedSearch, RelatedArticles, SearchResults
from tests.builtin_tools.pubmed.answers import CONTACT, Eutils, client_over, hits, links, record
from tests.http.clients import ManualClock
from tests.http.loopback import LoopbackServer, Reply, serving

IDS = '<ArticleId IdType="doi">10.1000/x</ArticleId><ArticleId IdType="pmc">PMC5</ArticleId>'
RETRACTED = record(
    "7",
    title="On <i>engines</i>.",
    ids=IDS,
    date="<Year>2020</Year><Month>Apr</Month>",
    article=(
        "<Abstract><AbstractText Label='AIMS'>To see.</AbstractText><AbstractText Label='RESULTS'>Seen.</AbstractText>"
        "<CopyrightInformation>(c) Us</CopyrightInformation></Abstract><AuthorList>"
        + "".join(f"<Author><LastName>{name}</LastName><Initials>A</Initials></Author>" for name in "BCDEF")
        + "</AuthorList><PublicationTypeList><PublicationType>Review</PublicationType></PublicationTypeList>"
        "<Language>ger</Language>"
    ),
    citation=(
        '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>8</PMID></CommentsCorrections>'
        "</CommentsCorrectionsList><MeshHeadingList><MeshHeading><DescriptorName>Humans</DescriptorName></MeshHeading>"
        "</MeshHeadingList><KeywordList><Keyword>wheels</Keyword></KeywordList>"
    ),
)
HEAD = (
    "[1] status: RETRACTED (notice PMID 8)\n"
    "On engines.\n"
    "authors: B A; C A; D A; and 2 more\n"
    "journal: Journal of Tests, 2020 Apr, date 2020-04\n"
    "PMID 7, DOI 10.1000/x, PMC5\n"
    "https://pubmed.ncbi.nlm.nih.gov/7/\n"
    "types: Review\n"
    "language: ger\n"
)
SOURCE = "source: PubMed (NLM); cite each article by title, journal, date, PMID and DOI"


async def call(tool: Any, http: Any, server: LoopbackServer, clock: ManualClock, **arguments: Any) -> Any:
    return await toolkit.execute(tool(client_over(http, server, clock)), arguments)


def test_the_model_is_shown_names_descriptions_and_closed_schemas() -> None:
    search, fetch, related = (toolkit.definition(tool) for tool in (PubMedSearch, PubMedFetch, PubMedRelated))

    assert (search.name, fetch.name, related.name) == ("pubmed_search", "pubmed_fetch", "pubmed_related")
    assert "pubmed_fetch" in search.description
    assert '"asthma"[mh] AND review[pt]' in search.description
    assert "pubmed_search" in fetch.description
    assert {
        name: [*schema.input_schema["properties"]] for name, schema in (("s", search), ("f", fetch), ("r", related))
    } == {
        "s": ["query", "limit", "offset", "sort", "year_from", "year_to", "article_types", "include_abstract"],
        "f": ["ids", "max_abstract_chars"],
        "r": ["pmid", "kind", "limit"],
    }
    assert [schema.input_schema["required"] for schema in (search, fetch, related)] == [["query"], ["ids"], ["pmid"]]
    for schema in (search.input_schema, fetch.input_schema, related.input_schema):
        assert schema["additionalProperties"] is False
        assert all(part["description"] for part in schema["properties"].values())
    assert search.input_schema["properties"]["sort"]["enum"] == ["relevance", "pub_date"]
    assert related.input_schema["properties"]["kind"]["enum"] == ["similar", "cited_by", "references"]


async def test_a_search_is_told_in_a_compact_list(http: Any, clock: ManualClock) -> None:
    answer = hits("7", "9", count=30, querytranslation="engines[All Fields]")
    async with serving(Eutils({"esearch": answer}, pmid_7=RETRACTED)) as server:
        result = await call(PubMedSearch, http, server, clock, query="engines", limit=2)

    assert not result.is_error
    assert isinstance(result.value, SearchResults)
    assert result.content == (
        '1 to 2 of 30 articles for "engines" (PubMed)\n'
        f"{HEAD}"
        "[2] A title.\n"
        "authors: none listed\n"
        "journal: Journal of Tests, 2020, date 2020\n"
        "PMID 9, DOI none\n"
        "https://pubmed.ncbi.nlm.nih.gov/9/\n"
        "note: PubMed read it as: engines[All Fields]\n"
        "more: 28 articles; continue with offset=2\n"
        f"{SOURCE}"
    )


async def test_the_next_page_goes_on_counting(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7", count=21)})) as server:
        result = await call(PubMedSearch, http, server, clock, query="engines", offset=20)

    assert result.content.startswith('21 to 21 of 21 articles for "engines" (PubMed)\n[21] A title.\n')
    assert "more:" not in result.content


async def test_abstracts_are_shown_in_a_search_when_asked_for(http: Any, clock: ManualClock) -> None:
    long = record("9", article=f"<Abstract><AbstractText>{'word ' * 1_000}</AbstractText></Abstract>")
    async with serving(Eutils({"esearch": hits("7", "8", "9")}, pmid_7=RETRACTED, pmid_9=long)) as server:
        result = await call(PubMedSearch, http, server, clock, query="engines", include_abstract=True)

    assert f"{HEAD}abstract:\nAIMS: To see.\nRESULTS: Seen.\n[2] " in result.content
    assert "\nabstract: none in PubMed\n[3] " in result.content
    assert (
        "word…\ntruncated: 3805 more characters of this abstract; "
        'pubmed_fetch shows more: ids ["9"], max_abstract_chars 4999\n' in result.content
    )


async def test_that_pubmed_serves_the_first_9999_only_is_told_at_the_border(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7", count=50_000)})) as server:
        first = await call(PubMedSearch, http, server, clock, query="engines", limit=1)
        last = await call(PubMedSearch, http, server, clock, query="engines", limit=1, offset=9_998)

    assert "more: 49999 articles; continue with offset=1\n" in first.content
    assert "note: PubMed gives only the first 9,999; narrow the query to see others\n" in last.content
    assert "more:" not in last.content


async def test_an_empty_search_is_a_statement_and_no_error(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits(querytranslation="zxqv[All Fields]")})) as server:
        result = await call(PubMedSearch, http, server, clock, query="zxqv")

    assert not result.is_error
    assert result.content == 'No results for "zxqv" (PubMed)\nnote: PubMed read it as: zxqv[All Fields]'


@pytest.mark.parametrize(
    ("arguments", "form", "note"),
    [
        ({"limit": 0}, ("retmax", "1"), "limit has to be 1 to 20, so 1 was used instead of 0"),
        ({"limit": 500}, ("retmax", "20"), "limit has to be 1 to 20, so 20 was used instead of 500"),
        ({"offset": -1}, ("retstart", "0"), "offset has to be 0 to 9998, so 0 was used instead of -1"),
        ({"offset": 9_999}, ("retstart", "9998"), "offset has to be 0 to 9998, so 9998 was used instead of 9999"),
    ],
)
async def test_numbers_out_of_range_are_moved_into_it_with_a_note(
    http: Any, clock: ManualClock, arguments: dict[str, int], form: tuple[str, str], note: str
) -> None:
    async with serving(Eutils({"esearch": hits("7")})) as server:
        result = await call(PubMedSearch, http, server, clock, query="engines", **arguments)

    assert server.requests[0].form[form[0]] == form[1]
    assert f"\nnote: {note}\n" in result.content


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (PubMedSearch, {}),
        (PubMedSearch, {"query": ""}),
        (PubMedSearch, {"query": "x" * 2_001}),
        (PubMedSearch, {"query": "x", "limit": 1.5}),
        (PubMedSearch, {"query": "x", "limit": "5"}),
        (PubMedSearch, {"query": "x", "sort": "newest"}),
        (PubMedSearch, {"query": "x", "year_from": 20}),
        (PubMedSearch, {"query": "x", "article_types": ["Review"] * 11}),
        (PubMedSearch, {"query": "x", "email": "evil@example.org"}),
        (PubMedFetch, {"ids": []}),
        (PubMedFetch, {"ids": ["1"] * 21}),
        (PubMedFetch, {"ids": "7"}),
        (PubMedFetch, {"ids": [None]}),
        (PubMedRelated, {"pmid": ""}),
        (PubMedRelated, {"pmid": "7", "kind": "friends"}),
    ],
    ids=str,
)
async def test_arguments_of_the_wrong_type_are_refused(
    http: Any, clock: ManualClock, tool: Any, arguments: dict[str, Any]
) -> None:
    async with serving(Eutils()) as server:
        result = await call(tool, http, server, clock, **arguments)

    assert result.is_error
    assert server.requests == []


async def test_an_article_is_told_with_its_abstract_and_what_is_missing_is_listed(
    http: Any, clock: ManualClock
) -> None:
    async with serving(Eutils({"esearch": hits()}, pmid_7=RETRACTED)) as server:
        result = await call(PubMedFetch, http, server, clock, ids=[7, "10.1000/none", "asthma"])

    assert not result.is_error
    assert isinstance(result.value, Abstracts)
    assert result.content == (
        "1 of 3 records (PubMed)\n"
        f"{HEAD}"
        "MeSH: Humans\n"
        "keywords: wheels\n"
        "abstract:\n"
        "AIMS: To see.\n"
        "RESULTS: Seen.\n"
        "copyright: (c) Us\n"
        "missing: 10.1000/none, asthma (PubMed has no such record)\n"
        'note: "asthma" is no PMID, DOI or PMCID\n'
        f"{SOURCE}"
    )


@pytest.mark.parametrize(("asked", "used"), [(5, 100), (100, 100), (1_000, 1_000), (10**6, 40_000)])
async def test_an_abstract_is_cut_where_it_was_asked_to_be_and_says_so(
    http: Any, clock: ManualClock, asked: int, used: int
) -> None:
    long = record("7", article=f"<Abstract><AbstractText>{'word ' * 10_000}</AbstractText></Abstract>")
    async with serving(Eutils(pmid_7=long)) as server:
        result = await call(PubMedFetch, http, server, clock, ids=["7"], max_abstract_chars=asked)

    shown = result.content.partition("abstract:\n")[2].partition("\n")[0]
    assert used - 10 < len(shown) <= used
    assert f"\ntruncated: {49_999 - len(shown) + 1} more characters of this abstract; " in result.content
    where = "https://pubmed.ncbi.nlm.nih.gov/7/" if used == 40_000 else 'pubmed_fetch shows more: ids ["7"]'
    assert f"of this abstract; {where}" in result.content
    assert len(result.value.articles[0].abstract_text) == 49_999
    assert ("note: max_abstract_chars has to be 100 to 40000" in result.content) is (used != asked)


def long_record(pmid: str, letter: str) -> str:
    """A record that is too long everywhere."""
    word = letter * 200
    names = f"<Author><CollectiveName>{word}</CollectiveName></Author>" * 50
    corrections = "".join(
        f'<CommentsCorrections RefType="{kind}"><RefSource>{word}</RefSource></CommentsCorrections>' * 9
        for kind in ("RetractionIn", "ErratumIn", "UpdateIn")
    )
    return record(
        pmid,
        title=letter * 1_000,
        article=f"<Abstract><AbstractText>{letter * 30_000}</AbstractText><CopyrightInformation>{letter * 999}"
        f"</CopyrightInformation></Abstract><AuthorList>{names}"
        f"</AuthorList><PublicationTypeList>{f'<PublicationType>{word}</PublicationType>' * 50}</PublicationTypeList>"
        f"<VernacularTitle>{letter * 1_000}</VernacularTitle>{f'<Language>{word}</Language>' * 50}"
        f"<Pagination><MedlinePgn>{letter * 1_000}</MedlinePgn></Pagination>",
        date=f"<MedlineDate>{letter * 9_000}</MedlineDate>",
        citation=f"<CommentsCorrectionsList>{corrections}</CommentsCorrectionsList><KeywordList>"
        f"{''.join(f'<Keyword>{number}{word}</Keyword>' for number in range(50))}</KeywordList>",
    )


@pytest.mark.parametrize("letter", ["x", "\N{GOTHIC LETTER AHSA}"], ids=["narrow", "wide"])
async def test_no_answer_is_longer_than_its_bound_and_every_cut_is_told(
    http: Any, clock: ManualClock, letter: str
) -> None:
    articles = {f"pmid_{number}": long_record(str(number), letter) for number in range(1, 21)}
    answers = Eutils(
        {"esearch": hits(*map(str, range(1, 21))), "elink": links("pubmed_pubmed", *map(str, range(1, 21)))}, **articles
    )
    async with serving(answers) as server:
        results = {
            PubMedFetch: await call(PubMedFetch, http, server, clock, ids=[*range(1, 21)], max_abstract_chars=40_000),
            PubMedSearch: await call(PubMedSearch, http, server, clock, query="x", limit=20, include_abstract=True),
            PubMedRelated: await call(PubMedRelated, http, server, clock, pmid="99", limit=20),
        }

    for tool, result in results.items():
        assert len(result.content.encode()) <= tool.max_result_tokens * 4
        assert result.content.endswith(SOURCE)
        if letter == "x":  # PubMed's own texts are in English; the toolkit cuts what is wider, and says so, too
            assert [f"PMID {number}, DOI none\n" in result.content for number in range(1, 21)] == [True] * 20
            assert result.content.count("\ntruncated: ") == (0 if tool is PubMedRelated else 20)
            assert "notice x" in result.content
            assert "and 4 more)" in result.content


async def test_related_articles_are_told_with_their_kind(http: Any, clock: ManualClock) -> None:
    answers = Eutils({"elink": links("pubmed_pubmed_citedin", "7", "9")}, pmid_7=RETRACTED)
    async with serving(answers) as server:
        result = await call(PubMedRelated, http, server, clock, pmid=5, kind="cited_by", limit=1)

    assert isinstance(result.value, RelatedArticles)
    assert result.content == f"1 of 2 articles that cite PMID 5 (PubMed)\n{HEAD}{SOURCE}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("similar", "articles similar to PMID 5"),
        ("cited_by", "articles that cite PMID 5"),
        ("references", "articles that PMID 5 refers to"),
    ],
)
async def test_no_related_articles_are_a_statement_and_no_error(
    http: Any, clock: ManualClock, kind: str, words: str
) -> None:
    async with serving(Reply({"linksets": [{"dbfrom": "pubmed", "ids": ["5"]}]})) as server:
        result = await call(PubMedRelated, http, server, clock, pmid="5", kind=kind)

    assert not result.is_error
    assert result.content == f"PubMed lists no {words}.\nnote: it answers the same for a PMID that it does not have"


async def test_without_a_contact_the_tools_answer_not_configured(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils()) as server:
        client = client_over(http, server, clock, contact=None)
        results = [
            await toolkit.execute(PubMedSearch(client), {"query": "x"}),
            await toolkit.execute(PubMedFetch(client), {"ids": ["7"]}),
            await toolkit.execute(PubMedRelated(client), {"pmid": "7"}),
        ]

    assert [result.is_error for result in results] == [True] * 3
    assert {result.content for result in results} == {
        "not configured: PubMed wants to know whom to reach, and no contact is set. Tell the user to set `contact` (or "
        "the variable TOOLWIRE_CONTACT) to an e-mail address or a URL; do not retry."
    }
    assert CONTACT not in results[0].content
