"""The PubMed client over both HTTP libraries, against a loopback server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from builtin_tools.http import Identity, Secret, ServiceError
from builtin_tools.pubmed import PubMedClient, PubMedSettings, ncbi_pace
from tests.builtin_tools.pubmed.answers import (
    CONTACT,
    Eutils,
    client_over,
    hits,
    links,
    record,
    records,
    settings_for,
    spelling,
)
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, Received, Reply, serving
from toolkit.errors import ConfigurationError

KEY = "abc+/=def 0123"


async def test_all_is_asked_by_post_and_says_who_asks(http: Any, clock: ManualClock) -> None:
    answers = Eutils({"esearch": hits("7"), "elink": links("pubmed_pubmed", "9")})
    async with serving(answers) as server:
        client = client_over(http, server, clock, key=KEY)
        await client.search("asthma")
        await client.related("8")

    assert [(request.method, request.target) for request in server.requests] == [
        ("POST", "/eutils/esearch.fcgi"),
        ("POST", "/eutils/efetch.fcgi"),
        ("POST", "/eutils/elink.fcgi"),
        ("POST", "/eutils/efetch.fcgi"),
    ]
    for request in server.requests:
        said = {name: request.form[name] for name in ("db", "tool", "email", "api_key")}
        assert said == {"db": "pubmed", "tool": "Acme", "email": CONTACT, "api_key": KEY}
        assert request.headers["user-agent"] == f"Acme/2.1 ({CONTACT})"
        assert KEY not in str(dict(request.headers))


async def test_a_search_asks_for_one_page_and_then_for_its_records(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7", "5", "9", count=40)})) as server:
        found = await client_over(http, server, clock).search(
            ' "asthma"[mh] \n AND  steroids ',
            limit=3,
            offset=20,
            sort="pub_date",
            year_from=2019,
            year_to=2026,
            article_types=["Review", "Clinical Trial"],
        )

    search, fetch = (request.form for request in server.requests)
    introduction = {"db": "pubmed", "tool": "Acme", "email": CONTACT}
    assert search == {
        **introduction,
        "term": '("asthma"[mh] AND steroids) AND ("Review"[pt] OR "Clinical Trial"[pt])',
        "retmax": "3",
        "retstart": "20",
        "sort": "pub_date",
        "datetype": "pdat",
        "mindate": "2019",
        "maxdate": "2026",
        "retmode": "json",
    }
    assert fetch == {**introduction, "id": "7,5,9", "retmode": "xml"}
    assert [article.pmid for article in found.results] == ["7", "5", "9"]
    assert (found.total, found.offset, found.next_offset) == (40, 20, 23)


@pytest.mark.parametrize(
    ("years", "dates"),
    [
        ({"year_from": 2020}, ("2020", "3000")),
        ({"year_to": 2020}, ("1000", "2020")),
        ({"year_from": 2020, "year_to": 2020}, ("2020", "2020")),
    ],
)
async def test_both_ends_of_a_range_of_years_are_sent(
    http: Any, clock: ManualClock, years: dict[str, int], dates: tuple[str, str]
) -> None:
    async with serving(Eutils({"esearch": hits()})) as server:
        await client_over(http, server, clock).search("asthma", **years)

    form = server.requests[0].form
    assert (form["mindate"], form["maxdate"]) == dates


async def test_records_are_put_in_the_order_of_the_search(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("2", "1"), "efetch": records(record("1"), record("2"))})) as server:
        found = await client_over(http, server, clock).search("asthma")

    assert [article.pmid for article in found.results] == ["2", "1"]


async def test_a_record_that_does_not_come_is_named_and_one_nobody_asked_for_is_left_out(
    http: Any, clock: ManualClock
) -> None:
    async with serving(Eutils({"esearch": hits("1", "2"), "efetch": records(record("2"), record("3"))})) as server:
        found = await client_over(http, server, clock).search("asthma")

    assert [article.pmid for article in found.results] == ["2"]
    assert found.missing == ("1",)


@pytest.mark.parametrize(
    ("offset", "limit", "asked", "count", "next_offset"),
    [
        (0, 5, "5", 5, None),
        (0, 5, "5", 6, 5),
        (9_990, 20, "9", 50_000, None),
        (9_998, 20, "1", 50_000, None),
        (9_980, 10, "10", 50_000, 9_990),
    ],
)
async def test_no_page_crosses_the_border_of_what_pubmed_serves(
    http: Any, clock: ManualClock, offset: int, limit: int, asked: str, count: int, next_offset: int | None
) -> None:
    def answer(request: Received) -> Reply:
        if "efetch" in request.path:
            return records(*map(record, request.form["id"].split(",")))
        size = int(request.form["retmax"])
        return hits(*map(str, range(1, size + 1)), count=count)

    async with serving(answer) as server:
        found = await client_over(http, server, clock).search("asthma", offset=offset, limit=limit)

    assert server.requests[0].form["retmax"] == asked
    assert found.next_offset == next_offset


async def test_an_offset_past_the_end_is_told(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits(count=12)})) as server:
        found = await client_over(http, server, clock).search("asthma", offset=50)

    assert (found.results, found.total, found.suggestion) == ((), 12, None)
    assert found.notes == ("only 12 articles match; use a smaller offset",)
    assert len(server.requests) == 1


async def test_what_pubmed_left_out_of_a_query_is_told(http: Any, clock: ManualClock) -> None:
    said = hits(
        "1",
        querytranslation="asthma[All Fields]",
        errorlist={"phrasesnotfound": ["fleegle"], "fieldsnotfound": ["xx"]},
        warninglist={
            "phrasesignored": ["of", "the"],
            "quotedphrasesnotfound": ['"flee gle"'],
            "outputmessages": ["Odd."],
        },
    )
    async with serving(Eutils({"esearch": said})) as server:
        found = await client_over(http, server, clock).search("asthma of the fleegle[xx]")

    assert found.translation == "asthma[All Fields]"
    assert found.not_found == ("fleegle", '"flee gle"', "xx")
    assert found.notes == ("PubMed left out: of, the", "PubMed says: Odd.")


@pytest.mark.parametrize(
    ("answer", "suggestion"),
    [
        (spelling("asthma"), "asthma"),
        (spelling(""), None),
        (spelling("ASTMA"), None),
        (Reply(status=400), None),
        (Reply("<html>"), None),
    ],
    ids=["another", "none", "the same", "a failure", "a page"],
)
async def test_a_search_that_found_nothing_offers_another_spelling(
    http: Any, clock: ManualClock, answer: Reply, suggestion: str | None
) -> None:
    async with serving(Eutils({"esearch": hits(), "espell": answer})) as server:
        found = await client_over(http, server, clock).search("astma")

    assert (found.results, found.suggestion) == ((), suggestion)


async def test_an_answer_in_xml_is_read_as_one_in_json(http: Any, clock: ManualClock) -> None:
    search = (
        "<eSearchResult><Count>2</Count><IdList><Id>1</Id></IdList><QueryTranslation>a  b</QueryTranslation>"
        "<ErrorList><FieldNotFound>xx</FieldNotFound></ErrorList><WarningList><PhraseIgnored>of</PhraseIgnored>"
        "<QuotedPhraseNotFound>q</QuotedPhraseNotFound><OutputMessage>Odd.</OutputMessage></WarningList></eSearchResult>"
    )
    async with serving(Eutils({"esearch": Reply(search)})) as server:
        found = await client_over(http, server, clock).search("x", limit=1)

    assert (found.total, found.next_offset, found.translation) == (2, 1, "a b")
    assert (found.not_found, found.notes) == (("q", "xx"), ("PubMed left out: of", "PubMed says: Odd."))


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        ("219391", "pmid", "219391"),
        (" PMID: 219391 ", "pmid", "219391"),
        ("pmid219391", "pmid", "219391"),
        ("000219391", "pmid", "219391"),
        ("https://pubmed.ncbi.nlm.nih.gov/219391/", "pmid", "219391"),
        ("http://www.ncbi.nlm.nih.gov/pubmed/219391", "pmid", "219391"),
        ("10.1000/ABC(1)", "doi", "10.1000/ABC(1)"),
        ("doi: 10.1000/abc.", "doi", "10.1000/abc"),
        ("DOI:10.1000/ABC", "doi", "10.1000/abc"),
        ("https://doi.org/10.1000/abc", "doi", "10.1000/abc"),
        ("pmc5442267", "pmcid", "PMC5442267"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC5442267/", "pmcid", "PMC5442267"),
    ],
)
async def test_an_id_may_be_written_as_people_write_it(
    http: Any, clock: ManualClock, given: str, kind: str, value: str
) -> None:
    ids = f'<ArticleId IdType="doi">{value.upper()}</ArticleId><ArticleId IdType="pmc">{value}</ArticleId>'
    pmid = value if kind == "pmid" else "101"
    async with serving(Eutils({"esearch": hits("55", pmid)}, **{f"pmid_{pmid}": record(pmid, ids=ids)})) as server:
        found = await client_over(http, server, clock).articles([given])

    assert [article.pmid for article in found.articles] == [pmid]
    terms = [request.form["term"] for request in server.requests if "esearch" in request.path]
    assert terms == {"pmid": [], "doi": [f'"{value}"[doi]'], "pmcid": [f"{value}[pmcid]"]}[kind]


@pytest.mark.parametrize("given", ["asthma", "0", "-5", "1.5", "1234567890", '10.1000/a"b', "PMC", "http://a/1", "1,2"])
async def test_what_can_be_no_id_is_missing_and_never_sent(http: Any, clock: ManualClock, given: str) -> None:
    async with serving(Eutils()) as server:
        found = await client_over(http, server, clock).articles([given, "7"])

    assert [article.pmid for article in found.articles] == ["7"]
    assert found.missing == (given,)
    assert found.notes == (f'"{given}" is no PMID, DOI or PMCID',)
    assert [request.form["id"] for request in server.requests] == ["7"]


async def test_articles_come_once_and_in_the_order_of_their_ids_and_the_missing_are_listed(
    http: Any, clock: ManualClock
) -> None:
    doi = '<ArticleId IdType="doi">10.1000/x</ArticleId>'
    answers = Eutils({"esearch": hits("5"), "efetch": records(record("5", ids=doi), record("7"))})
    async with serving(answers) as server:
        found = await client_over(http, server, clock).articles(["7", "8", "10.1000/x", "10.1000/none", "PMID 7", "7"])

    assert [article.pmid for article in found.articles] == ["7", "5"]
    assert found.missing == ("8", "10.1000/none")
    assert server.requests[0].form["term"] == '"10.1000/x"[doi] OR "10.1000/none"[doi]'
    assert server.requests[1].form["id"] == "7,8,5"


@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_that_no_id_is_correct_is_all_missing(http: Any, clock: ManualClock, status: int) -> None:
    body = "<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"
    async with serving(Reply(body, status=status)) as server:
        found = await client_over(http, server, clock).articles(["99999999"])

    assert (found.articles, found.missing) == ((), ("99999999",))


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("similar", "pubmed_pubmed", "neighbor_score"),
        ("cited_by", "pubmed_pubmed_citedin", "neighbor"),
        ("references", "pubmed_pubmed_refs", "neighbor"),
    ],
)
async def test_related_articles_are_asked_for_by_their_link(
    http: Any, clock: ManualClock, kind: Any, name: str, command: str
) -> None:
    scored = [{"id": pmid, "score": score} for pmid, score in (("8", 99), ("3", 50), ("4", 20), ("3", 10))]
    async with serving(Eutils({"elink": links(name, *scored)})) as server:
        found = await client_over(http, server, clock).related("PMID 8", kind, limit=1)

    form = server.requests[0].form
    assert {key: form[key] for key in ("dbfrom", "db", "id", "linkname", "cmd", "retmode")} == {
        "dbfrom": "pubmed",
        "db": "pubmed",
        "id": "8",
        "linkname": name,
        "cmd": command,
        "retmode": "json",
    }
    assert [article.pmid for article in found.results] == ["3"]
    assert (found.pmid, found.kind, found.total) == ("8", kind, 2)


@pytest.mark.parametrize(
    "body",
    [
        {
            "linksets": [
                {
                    "linksetdbs": [
                        {"linkname": "pubmed_pubmed", "links": ["1"]},
                        {"linkname": "pubmed_pubmed_refs", "links": ["2", 3]},
                    ]
                }
            ]
        },
        "<eLinkResult><LinkSet><LinkSetDb><LinkName>pubmed_pubmed</LinkName><Link><Id>1</Id></Link></LinkSetDb>"
        "<LinkSetDb><LinkName>pubmed_pubmed_refs</LinkName><Link><Id>2</Id></Link><Link><Id>3</Id></Link></LinkSetDb>"
        "</LinkSet></eLinkResult>",
    ],
    ids=["JSON", "XML"],
)
async def test_links_of_another_name_are_left_out(http: Any, clock: ManualClock, body: Any) -> None:
    async with serving(Eutils({"elink": Reply(body)})) as server:
        found = await client_over(http, server, clock).related("8", "references")

    assert [article.pmid for article in found.results] == ["2", "3"]


@pytest.mark.parametrize(
    ("said", "kind", "text", "asked"),
    [
        ("API rate limit exceeded", "rate_limited", "allows no more requests", 3),
        ("API key invalid", "unauthorized", "check `pubmed.api_key`", 1),
        ("Search Backend failed: Exception", "unavailable", "Search Backend failed", 3),
        ("Service temporarily unavailable", "unavailable", "temporarily", 3),
        ("Empty term and query_key - nothing todo", "invalid_input", "nothing todo", 1),
    ],
)
@pytest.mark.parametrize("form", ["error", "ERROR", "list", "inside", "xml"])
@pytest.mark.parametrize("status", [200, 400])
async def test_an_error_in_an_answer_of_any_status_is_an_error(
    http: Any, clock: ManualClock, said: str, kind: str, text: str, asked: int, form: str, status: int
) -> None:
    body = {
        "error": {"error": said, "count": "11"},
        "ERROR": {"ERROR": said},
        "list": {"header": {}, "esearchresult": {"ERROR": [said]}},
        "inside": {"esearchresult": {"ERROR": said}},
        "xml": f"<eSearchResult><ERROR> {said}\n</ERROR></eSearchResult>",
    }[form]
    async with serving(Reply(body, status=status)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("asthma")

    assert (caught.value.kind, caught.value.status) == (kind, status)
    assert text in str(caught.value)
    assert len(server.requests) == asked


async def test_a_limit_told_by_the_status_is_one_whatever_the_body_says(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"error": "Slow down"}, status=429, headers={"Retry-After": "60"})) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("asthma")

    assert (caught.value.kind, caught.value.retry_after, len(server.requests)) == ("rate_limited", 60.0, 1)
    assert str(caught.value).endswith("Wait 60 seconds before trying again.")


@pytest.mark.parametrize(
    "body",
    [
        {"linksets": [{"ERROR": "Invalid uid"}]},
        "<eLinkResult><LinkSet><ERROR>Invalid uid</ERROR></LinkSet></eLinkResult>",
    ],
    ids=["JSON", "XML"],
)
async def test_an_error_among_links_is_an_error(http: Any, clock: ManualClock, body: Any) -> None:
    async with serving(Reply(body)) as server:
        with pytest.raises(ServiceError, match='PubMed answered "Invalid uid"'):
            await client_over(http, server, clock).related("7")


async def test_a_summary_that_is_an_error_is_an_error(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"esummaryresult": ["Invalid db name specified: x"]})) as server:
        with pytest.raises(ServiceError, match="Invalid db name"):
            await client_over(http, server, clock).search("asthma")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"esearchresult": {}},
        {"esearchresult": []},
        {"esearchresult": {"count": "many", "idlist": []}},
        {"esearchresult": {"count": "1", "idlist": "7"}},
        {"linksets": 5},
        "<eSearchResult/>",
        "<other/>",
        "[]",
        "null",
    ],
    ids=str,
)
async def test_an_answer_of_another_shape_is_malformed_and_never_an_empty_success(
    http: Any, clock: ManualClock, body: Any
) -> None:
    async with serving(Reply(body)) as server:
        client = client_over(http, server, clock)
        for asking in (client.search("asthma"), client.related("7")):
            with pytest.raises(ServiceError) as caught:
                await asking
            assert caught.value.kind == "malformed_response"


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "x" * 2_001, "\udfff"], ids=lambda text: ascii(text)[:20])
async def test_a_query_that_can_be_none_is_refused_before_anything_is_sent(
    http: Any, clock: ManualClock, query: str
) -> None:
    async with serving(Eutils()) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search(query)

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"year_from": 2021, "year_to": 2020},
        {"article_types": ['Review"[pt] OR "x']},
        {"article_types": ["x" * 81]},
        {"article_types": [" "]},
    ],
    ids=str,
)
async def test_filters_that_can_be_none_are_refused_before_anything_is_sent(
    http: Any, clock: ManualClock, arguments: dict[str, Any]
) -> None:
    async with serving(Eutils()) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("asthma", **arguments)

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


@pytest.mark.parametrize("pmid", ["", "asthma", "10.1000/x", "PMC7", "\ud800"], ids=ascii)
async def test_related_articles_of_what_is_no_pmid_are_refused(http: Any, clock: ManualClock, pmid: str) -> None:
    async with serving(Eutils()) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).related(pmid)

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


@pytest.mark.parametrize("count", [0, 201])
async def test_no_ids_and_more_than_200_are_refused(http: Any, clock: ManualClock, count: int) -> None:
    async with serving(Eutils()) as server:
        with pytest.raises(ServiceError, match="1 to 200"):
            await client_over(http, server, clock).articles([str(number + 1) for number in range(count)])

    assert server.requests == []


@pytest.mark.parametrize("key", [None, KEY])
async def test_without_a_contact_nothing_is_sent_with_or_without_a_key(
    http: Any, clock: ManualClock, key: str | None
) -> None:
    async with serving(Eutils()) as server:
        client = client_over(http, server, clock, contact=None, key=key)
        for asking in (client.search("asthma"), client.articles(["7"]), client.related("7")):
            with pytest.raises(ServiceError, match=r"^not configured: PubMed .*`contact`.*TOOLWIRE_CONTACT"):
                await asking

    assert server.requests == []


@pytest.mark.parametrize(
    ("identity", "introduction"),
    [
        (Identity("ada@example.org"), {"tool": "toolwire", "email": "ada@example.org"}),
        (Identity("mailto:ada@example.org", "Acme Lab/2 x"), {"tool": "Acme", "email": "ada@example.org"}),
        (Identity("https://example.org/bot", "Acme"), {"tool": "Acme"}),
    ],
)
def test_ncbi_is_told_the_program_and_an_address_where_the_contact_is_one(
    identity: Identity, introduction: dict[str, str]
) -> None:
    assert PubMedSettings(identity).introduction == introduction


@pytest.mark.parametrize(
    ("config", "environment", "key"),
    [
        ({"pubmed": {"api_key": "own"}}, {"NCBI_API_KEY": "a", "SEARCH_PUBMED_API_KEY": "b"}, "own"),
        ({"pubmed": {"api_key": Secret("own")}}, {}, "own"),
        ({}, {"NCBI_API_KEY": "a", "SEARCH_PUBMED_API_KEY": "b"}, "a"),
        ({"pubmed": {"api_key": ""}}, {"SEARCH_PUBMED_API_KEY": "b"}, "b"),
        (None, {}, None),
    ],
)
def test_the_key_comes_from_the_configuration_or_the_environment(
    config: Any, environment: dict[str, str], key: str | None
) -> None:
    found = PubMedSettings.read(config, environment).api_key

    assert (None if found is None else found.reveal()) == key


def test_settings_have_ncbis_address_and_ten_seconds_by_default_and_are_read_otherwise() -> None:
    default = PubMedSettings.read(environment={})
    other = PubMedSettings.read({"timeout": 3, "pubmed": {"base_url": "http://localhost:1/e/"}}, {})

    assert (default.base_url, default.timeout) == ("https://eutils.ncbi.nlm.nih.gov/entrez/eutils", 10.0)
    assert (other.base_url, other.timeout) == ("http://localhost:1/e", 3.0)
    with pytest.raises(ConfigurationError, match=r"pubmed\.base_url"):
        PubMedSettings.read({"pubmed": {"base_url": "eutils"}}, {})


@pytest.mark.parametrize(("key", "interval"), [(None, 0.35), (KEY, 0.11)])
async def test_requests_start_as_far_apart_as_ncbi_wants_it(
    http: Any, clock: ManualClock, key: str | None, interval: float
) -> None:
    async with serving(Eutils()) as server:
        client = client_over(http, server, clock, key=key)
        for pmid in range(1, 5):
            await client.articles([str(pmid)])

    assert len(server.requests) == 4
    assert clock.slept == pytest.approx([interval] * 3)


async def test_what_was_asked_is_kept_for_five_minutes(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7"), "elink": links("pubmed_pubmed", "7")})) as server:
        client = client_over(http, server, clock)

        async def ask() -> list[str]:
            before = len(server.requests)
            await client.search("asthma")
            await client.articles(["7"])
            await client.related("8")
            return [request.path.rpartition("/")[2] for request in server.requests[before:]]

        assert await ask() == ["esearch.fcgi", "efetch.fcgi", "elink.fcgi"]
        assert await ask() == []
        clock.elapsed += 301
        assert await ask() == ["esearch.fcgi", "efetch.fcgi", "elink.fcgi"]


async def test_what_decides_an_answer_tells_searches_apart(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7", count=99)})) as server:
        client = client_over(http, server, clock)
        for _ in range(2):
            await client.search("a")
            await client.search("a", limit=6)
            await client.search("a", offset=5)
            await client.search("a", sort="pub_date")
            await client.search("a", year_from=2000)
            await client.search("a", article_types=["Review"])

    assert len([request for request in server.requests if "esearch" in request.path]) == 6


async def test_a_failure_and_a_missing_record_are_not_kept(http: Any, clock: ManualClock) -> None:
    async with serving([Reply(status=404), records(), records(record("7"))]) as server:
        client = client_over(http, server, clock)
        with pytest.raises(ServiceError):
            await client.articles(["7"])

        assert (await client.articles(["7"])).missing == ("7",)
        assert (await client.articles(["7"])).missing == ()


async def test_cancelling_leaves_no_connection_and_no_place_taken(http: Any, clock: ManualClock) -> None:
    def answer(request: Received) -> Reply:
        return Reply(never=True) if request.form["id"] == "666" else records(record("7"))

    async with serving(answer) as server:
        client = client_over(http, server, clock)
        tasks = [asyncio.create_task(client.articles(["666"])) for _ in range(5)]
        async with asyncio.timeout(GUARD):
            await server.arrived.wait()

        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await server.until_no_connection()

        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        assert (await client.articles(["7"])).missing == ()


@pytest.mark.parametrize("library", LIBRARIES)
def test_pace_and_cache_serve_two_event_loops_in_sequence(library: Any, clock: ManualClock) -> None:
    pace = ncbi_pace(clock)

    async def ask() -> list[str]:
        async with serving(Eutils()) as server, open_client(library) as http:
            client = PubMedClient(http, settings_for(server), pace=pace, clock=clock)
            found = await asyncio.gather(*(client.articles([str(number)]) for number in range(1, 6)))
            return [result.articles[0].pmid for result in found]

    assert asyncio.run(ask()) == asyncio.run(ask()) == ["1", "2", "3", "4", "5"]
