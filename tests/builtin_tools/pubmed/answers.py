"""Small answers in the form of NCBI's E-utilities, and the recorded ones where they lie beside the repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_tools.http import Identity, Secret
from builtin_tools.pubmed import PubMedClient, PubMedSettings
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, Received, Reply
from tests.shared_files import shared

CONTACT = "ada@example.org"
XML = {"Content-Type": "text/xml; charset=UTF-8"}
DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)


def recorded(name: str, status: int = 200) -> Reply:
    """The recorded answer; the test is skipped where there is none."""
    kind = {"xml": "text/xml", "html": "text/html", "json": "application/json"}[name.rpartition(".")[2]]
    body = shared(f"payloads/pubmed/{name}").read_bytes()
    return Reply(body, status=status, headers={"Content-Type": f"{kind}; charset=UTF-8"})


def record(
    pmid: str = "101",
    *,
    title: str = "A title.",
    article: str = "",
    citation: str = "",
    ids: str = "",
    data: str = "",
    date: str = "<Year>2020</Year>",
) -> str:
    """An article's XML; the arguments are XML that goes into its parts."""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue><Title>Journal of Tests</Title></Journal>"
        f"<ArticleTitle>{title}</ArticleTitle>{article}</Article>{citation}</MedlineCitation>"
        f"<PubmedData><ArticleIdList>{ids}</ArticleIdList>{data}</PubmedData></PubmedArticle>"
    )


def records(*found: str) -> Reply:
    """efetch's answer."""
    body = f"{DOCTYPE}<PubmedArticleSet>{''.join(found)}</PubmedArticleSet>"
    return Reply(body.encode(), headers=XML)


def hits(*pmids: str, count: int | None = None, **more: Any) -> Reply:
    """esearch's answer."""
    found = {"count": str(len(pmids) if count is None else count), "idlist": [*pmids], **more}
    return Reply({"header": {"type": "esearch"}, "esearchresult": found})


def spelling(corrected: str) -> Reply:
    body = f"<eSpellResult><CorrectedQuery>{corrected}</CorrectedQuery><ERROR/></eSpellResult>"
    return Reply(body.encode(), headers=XML)


def links(name: str, *found: Any) -> Reply:
    """elink's answer, with ids or with objects of id and score."""
    return Reply({"linksets": [{"dbfrom": "pubmed", "linksetdbs": [{"linkname": name, "links": [*found]}]}]})


class Eutils:
    """Answers by the program that is asked for; efetch's with the records that are asked for."""

    def __init__(self, programs: Mapping[str, Reply] | None = None, **articles: str) -> None:
        self.programs = {"espell": spelling(""), **(programs or {})}
        self.articles = {name.removeprefix("pmid_"): xml for name, xml in articles.items()}

    def __call__(self, request: Received) -> Reply:
        program = request.path.rpartition("/")[2].removesuffix(".fcgi")
        if program in self.programs:
            return self.programs[program]
        assert program == "efetch", f"nobody expected {program}"
        asked = request.form["id"].split(",")
        return records(*(self.articles.get(pmid, record(pmid)) for pmid in asked))


def settings_for(
    server: LoopbackServer, contact: str | None = CONTACT, key: str | None = None, timeout: float = GUARD
) -> PubMedSettings:
    return PubMedSettings(
        identity=Identity(contact, "Acme/2.1"),
        base_url=f"{server.url}/eutils",
        timeout=timeout,
        api_key=None if key is None else Secret(key),
    )


def client_over(
    http: Any,
    server: LoopbackServer,
    clock: ManualClock,
    contact: str | None = CONTACT,
    key: str | None = None,
    timeout: float = GUARD,
) -> PubMedClient:
    return PubMedClient(http, settings_for(server, contact, key, timeout), clock=clock)
