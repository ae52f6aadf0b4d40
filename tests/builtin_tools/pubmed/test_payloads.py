"""Each recorded answer of PubMed, served with its status and headers: the right values, or the named error."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.pubmed import Correction, PubMedFetch, PubMedRelated, PubMedSearch, Relation
from tests.builtin_tools.pubmed.answers import Eutils, client_over, recorded
from tests.http.clients import ManualClock
from tests.http.loopback import serving
from tests.shared_files import names_in

ARTICLES: dict[str, dict[str, Any]] = {
    "efetch_book_genereviews_20301577.xml": {
        "pmid": "20301577",
        "title": "CACNA1C-Related Disorders",
        "authors": ("Napolitano C", "Priori SG"),
        "editors": ("Adam MP", "Feldman J", "Mirzaa GM", "Pagon RA", "Wallace SE", "Amemiya A"),
        "journal": "GeneReviews®",
        "date": "2006-02-15",
        "book": "NBK1403",
        "doi": None,
        "types": ("Review",),
        "labels": ["CLINICAL CHARACTERISTICS", "DIAGNOSIS/TESTING", "MANAGEMENT", "GENETIC COUNSELING"],
        "abstract_holds": "avoid: All drugs reported to prolong QT interval (see CredibleMeds®); drugs and dietary",
        "url": "https://pubmed.ncbi.nlm.nih.gov/20301577/",
    },
    "efetch_pmid_219391.xml": {
        "pmid": "219391",
        "title": "The fine structure of blood cells in ceroid-lipofuscinosis (Spielmeyer-Vogt's disease).",
        "authors": ("Nakano T", "Sakai H", "Kinoshita J", "Yagishita S", "Itoh Y"),
        "journal": "Neuropadiatrie",
        "date": "1979-02",
        "issue": "1979 Feb;10(1):56-66",
        "doi": "10.1055/s-0028-1085314",
        "pmcid": None,
        "types": ("Case Reports", "Journal Article"),
        "labels": [""],
        "status": "",
    },
    "efetch_pmid_32490903.xml": {
        "pmid": "32490903",
        "journal": "Arquivos de gastroenterologia",
        "date": "2020",
        "issue": "2020 Apr-Jun;57(2):216-220",
        "doi": "10.1590/s0004-2803.202000000-27",
        "authors": ("Paul J", "Shihaz AVH"),
    },
    "efetch_pmid_35649368.xml": {
        "pmid": "35649368",
        "date": "2022-05-31",
        "issue": "2022 May 31;39(9):110870",
        "doi": "10.1016/j.celrep.2022.110870",
        "corrections": (
            Correction(
                "ErratumIn",
                "35767954",
                "Cell Rep. 2022 Jun 28;39(13):111044. doi: 10.1016/j.celrep.2022.111044.",
            ),
        ),
        "status": "corrected (erratum PMID 35767954)",
        "mesh": (
            "Mitochondrial Membranes",
            "Triple Negative Breast Neoplasms",
            "Acetyl Coenzyme A",
            "Apoptosis",
            "Fatty Acids",
            "Humans",
            "Membrane Lipids",
            "Oxidation-Reduction",
            "Phospholipids",
        ),
        "abstract_holds": "fatty acid β-oxidation (FAO)",
        "copyright": "Copyright © 2022 The Authors. Published by Elsevier Inc. All rights reserved.",
    },
    "efetch_pmid_38048813.xml": {
        "pmid": "38048813",
        "title": "[A Broader Scope - Bio-Psycho-Social Medicine In Global Focus].",
        "original_title": "A Broader Scope \N{EN DASH} Bio-psycho-soziale Medizin im globalen Fokus.",
        "language": "ger",
        "date": "2023-12-04",
        "issue": "2023 Dec;73(12):487-488",
        "types": ("Editorial",),
        "labels": [],
        "doi": "10.1055/a-2189-0166",
    },
    "efetch_pmid_38329942.xml": {
        "pmid": "38329942",
        "date": "2024-02-08",
        "issue": "2024 Mar 19;9(3):e0129923",
        "pmcid": "PMC10949424",
        "labels": ["", "IMPORTANCE"],
        "abstract_holds": "activity such as Bacteroides ovatus was markedly reduced in the GM of IBS-D",
    },
    "efetch_pmid_38513076.xml": {
        "pmid": "38513076",
        "date": "2024-03-21",
        "abstract_holds": "compound 7d possessed the most brilliant antiviral inactive profile (EC50 = 157.6",
        "doi": "10.1021/acs.jafc.3c06806",
    },
    "efetch_pubmed4_unicode.xml": {
        "pmid": "27797938",
        "title": "Leucocyte telomere length, genetic variants at the TERT gene region and risk of pancreatic cancer.",
        "doi": "10.1136/gutjnl-2016-312510",
        "pmcid": "PMC5442267",
        "date": "2016-10-21",
        "issue": "2017 Jun;66(6):1116-1122",
        "labels": ["OBJECTIVE", "DESIGN", "RESULTS", "CONCLUSIONS"],
        "abstract_holds": "ptrend=0.048). Results remained unchanged",
        "corrections": (),
    },
    "jabref_MedlineImporterTestKeywordSingleEntry.xml": {
        "pmid": "1",
        "date": "1999",
        "issue": "1999 Spring;13(2):25-138",
        "authors": (),
        "keywords": ("apnea syndrome", "cardiovascular disease", "self management"),
        "doi": None,
    },
    "jabref_MedlineImporterTestMathML.xml": {
        "pmid": "32759406",
        "date": "2020-07-24",
        "doi": "10.1515/jib-2020-0021",
        "pmcid": "PMC7756617",
        "abstract_holds": "MathML elements: η_p^2 [0, 1, 0; 0, 0, 1; 1, 0, 0] 17 29 (a,b,c)(abc)|a,b,c> ∑_(i=1)^n(a_i)",
    },
    "klortho_efetch.pubmedexample.xml": {
        "pmid": "17284678",
        "title": "Sequencing and analysis of chromosome 1 of Eimeria tenella reveals a unique segmental organization.",
        "authors": ("Ling KH", "Rajandream MA"),
        "date": "2007-02-06",
        "doi": "10.1101/gr.5823007",
        "pmcid": "PMC1800922",
        "corrections": (),
        "labels": ["dummy-label"],
        "abstract_holds": "Lorem ipsum and ipsum lorem.",
        "other_kinds": ["AAMC", "AIDS"],
        "keywords": ("Krazy Kool", "The Snap!"),
    },
}

ERRORS: dict[str, tuple[str, str]] = {
    "efetch_not_xml_html.html": ("malformed_response", "a web page in place of data"),
    "jabref_MedlineImporterTestMalformedEntry.xml": ("malformed_response", "can't be read"),
    "error_rate_limit_body.json": ("rate_limited", "allows no more requests"),
    "esummary_error.xml": ("invalid_input", '"Neither query_key nor id specified"'),
    "klortho_esearch.baderror.json": ("invalid_input", '"Invalid db name specified: fleegle"'),
}

SEEN_ELSEWHERE = {
    "efetch_pmid_37909814.xml",
    "elink_empty.xml",
    "elink_related.xml",
    "esearch_phrase_ignored_errorlist.xml",
    "esearch_usehistory_webenv.xml",
    "espell_correction.xml",
    "klortho_esearch.error.json",
}


def test_every_recorded_answer_has_its_test() -> None:
    assert set(names_in("payloads/pubmed", "*")) <= {*ARTICLES, *ERRORS, *SEEN_ELSEWHERE}


@pytest.mark.parametrize("name", ARTICLES)
async def test_a_recorded_article_is_read_by_value(http: Any, clock: ManualClock, name: str) -> None:
    expected = ARTICLES[name]
    async with serving(Eutils({"efetch": recorded(name)})) as server:
        result = await toolkit.execute(PubMedFetch(client_over(http, server, clock)), {"ids": [expected["pmid"]]})

    article = result.value.articles[0]
    own = {field: getattr(article, field) for field in expected if hasattr(article, field)}
    own["labels"] = [section.label for section in article.abstract]
    own["other_kinds"] = [other.kind for other in article.other_abstracts]
    part = expected.get("abstract_holds", "")
    assert part in article.abstract_text
    assert {field: own.get(field, part) for field in expected} == expected
    assert result.value.missing == ()


@pytest.mark.parametrize("name", ARTICLES)
@pytest.mark.parametrize("length", [300, 3_000])
async def test_a_model_that_reads_only_the_text_can_cite_a_recorded_article(
    http: Any, clock: ManualClock, name: str, length: int
) -> None:
    arguments = {"ids": [ARTICLES[name]["pmid"]]} | ({} if length == 3_000 else {"max_abstract_chars": length})
    async with serving(Eutils({"efetch": recorded(name)})) as server:
        result = await toolkit.execute(PubMedFetch(client_over(http, server, clock)), arguments)

    article = result.value.articles[0]
    for needed in (article.title, article.journal, article.date, f"PMID {article.pmid}", article.url):
        assert needed in result.content
    assert f"DOI {article.doi or 'none'}" in result.content
    assert all(author in result.content for author in article.authors[:3])
    assert len(result.content) < length + 2_000
    assert ("\ntruncated: " in result.content) is (len(article.abstract_text) > length)


async def test_both_records_of_the_recorded_example_are_read(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"efetch": recorded("klortho_efetch.pubmedexample.xml")})) as server:
        found = await client_over(http, server, clock).articles(["20301295", "17284678"])

    chapter, article = found.articles
    assert (chapter.pmid, chapter.title, chapter.book) == ("20301295", "GeneReviews™", "NBK1116")
    assert (chapter.authors, chapter.editors) == ((), ("Pagon RA",))
    assert article.pmid == "17284678"


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("program", ["esearch", "efetch", "elink"])
async def test_a_recorded_failure_is_the_named_error_wherever_it_comes(
    http: Any, clock: ManualClock, name: str, program: str
) -> None:
    kind, text = ERRORS[name]
    async with serving(Eutils({program: recorded(name)})) as server:
        client = client_over(http, server, clock)
        asking = {
            "esearch": lambda: client.search("asthma"),
            "efetch": lambda: client.articles(["219391"]),
            "elink": lambda: client.related("219391"),
        }[program]
        with pytest.raises(ServiceError) as caught:
            await asking()

    assert (caught.value.kind, caught.value.status) == (kind, 200)
    assert text in str(caught.value)


async def test_the_recorded_limit_is_the_same_error_with_its_own_status(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("error_rate_limit_body.json", status=429)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).articles(["219391"])

    assert (caught.value.kind, caught.value.status) == ("rate_limited", 429)
    assert len(server.requests) == 3


async def test_a_recorded_answer_without_the_record_lists_it_as_missing(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("efetch_pmid_37909814.xml")) as server:
        result = await toolkit.execute(PubMedFetch(client_over(http, server, clock)), {"ids": ["37909814"]})

    assert (result.is_error, result.value.articles, result.value.missing) == (False, (), ("37909814",))
    assert result.content == "0 of 1 records (PubMed)\nmissing: 37909814 (PubMed has no such record)"


async def test_a_recorded_search_gives_no_more_than_was_asked_for(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": recorded("esearch_usehistory_webenv.xml")})) as server:
        result = await toolkit.execute(PubMedSearch(client_over(http, server, clock)), {"query": "cancer", "limit": 3})

    assert [article.pmid for article in result.value.results] == ["41297076", "41297074", "41297068"]
    assert (result.value.total, result.value.next_offset) == (42249, 3)
    assert result.value.translation.startswith('("cancer s"[All Fields] OR "cancerated"[All Fields]')
    assert result.content.startswith('1 to 3 of 42249 articles for "cancer" (PubMed)\n')
    assert "\nmore: 42246 articles; continue with offset=3\n" in result.content


async def test_a_recorded_search_that_found_nothing_says_why(http: Any, clock: ManualClock) -> None:
    answers = Eutils(
        {
            "esearch": recorded("esearch_phrase_ignored_errorlist.xml"),
            "espell": recorded("espell_correction.xml"),
        }
    )
    async with serving(answers) as server:
        result = await toolkit.execute(PubMedSearch(client_over(http, server, clock)), {"query": "biopythooon"})

    assert not result.is_error
    assert (result.value.results, result.value.total) == ((), 0)
    assert (result.value.not_found, result.value.suggestion) == (("abcXYZ",), "biopython")
    assert result.content == (
        'No results for "biopythooon" (PubMed)\n'
        "note: PubMed does not know, and searched without: abcXYZ\n"
        "note: PubMed read it as: (abcXYZ[All Fields])\n"
        'note: did you mean "biopython"?'
    )


async def test_a_recorded_search_with_an_unknown_phrase_tells_it_beside_its_results(
    http: Any, clock: ManualClock
) -> None:
    async with serving(Eutils({"esearch": recorded("klortho_esearch.error.json")})) as server:
        result = await toolkit.execute(
            PubMedSearch(client_over(http, server, clock)), {"query": "obstetrics[mh] OR fleegle[mh]", "limit": 2}
        )

    assert [article.pmid for article in result.value.results] == ["101595451", "101594756"]
    assert (result.value.total, result.value.not_found) == (5163, ("fleegle[MeSH Terms]",))
    assert "\nnote: PubMed does not know, and searched without: fleegle[MeSH Terms]\n" in result.content
    assert '\nnote: PubMed read it as: "obstetrics"[MeSH Terms]\n' in result.content


@pytest.mark.parametrize(
    ("kind", "first", "total"),
    [
        ("similar", ["8794856", "9700164", "7914521"], 100),
        ("cited_by", ["38830800", "38188366", "37424454"], 39),
        ("references", ["14732139", "8909532", "8898221"], 56),
    ],
)
async def test_recorded_links_are_told_apart_by_their_name(
    http: Any, clock: ManualClock, kind: Relation, first: list[str], total: int
) -> None:
    async with serving(Eutils({"elink": recorded("elink_related.xml")})) as server:
        result = await toolkit.execute(
            PubMedRelated(client_over(http, server, clock)), {"pmid": "9298984", "kind": kind, "limit": 3}
        )

    assert [article.pmid for article in result.value.results] == first
    assert result.value.total == total


async def test_a_recorded_article_without_links_is_a_statement(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("elink_empty.xml")) as server:
        result = await toolkit.execute(PubMedRelated(client_over(http, server, clock)), {"pmid": "12068369"})

    assert not result.is_error
    assert (result.value.results, result.value.total) == ((), 0)
    assert result.content.startswith("PubMed lists no articles similar to PMID 12068369.\n")
