"""`toolwire call` on PubMed's tools, with an HTTP client that answers by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builtin_tools.pubmed.answers import record
from tests.cli.conftest import Command

LIBRARY = f"""
import httpx
from dependency_injector import containers, providers

from containers import BuiltinTools
from toolkit import Agent
from toolkit.injection import AppScoped, provide

RECORDS = '''<PubmedArticleSet>{record("7")}</PubmedArticleSet>'''
ANSWERS = {{
    "esearch.fcgi": {{"json": {{"esearchresult": {{"count": "1", "idlist": ["7"]}}}}}},
    "elink.fcgi": {{"json": {{"linksets": [{{"linksetdbs": [{{"linkname": "pubmed_pubmed", "links": ["7"]}}]}}]}}}},
    "efetch.fcgi": {{"text": RECORDS}},
}}


def answer(request):
    return httpx.Response(200, **ANSWERS[request.url.path.rpartition("/")[2]])


class Library(containers.DeclarativeContainer):
    config = providers.Configuration()
    http = AppScoped(httpx.AsyncClient, transport=httpx.MockTransport(answer))
    tools = providers.Container(BuiltinTools, config=config, http=http)
    agent = provide(Agent, tools=[])


library = Library(config={{"contact": "ada@example.org"}})
"""
CITED = "PMID 7, DOI none\nhttps://pubmed.ncbi.nlm.nih.gov/7/\n"
CALLS = pytest.mark.parametrize(
    ("name", "arguments", "first"),
    [
        ("pubmed_search", '{"query": "asthma"}', '1 to 1 of 1 articles for "asthma" (PubMed)'),
        ("pubmed_fetch", '{"ids": ["7"]}', "1 of 1 records (PubMed)"),
        ("pubmed_related", '{"pmid": "9"}', "1 of 1 articles similar to PMID 9 (PubMed)"),
    ],
)


@CALLS
def test_a_tool_of_pubmed_is_called_by_its_name(
    toolwire: Command, folder: Path, name: str, arguments: str, first: str
) -> None:
    (folder / "library.py").write_text(LIBRARY)

    answer = toolwire("call", name, arguments, "--app", "library:library")

    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"{first}\n[1] A title.\n")
    assert CITED in answer.out


@CALLS
def test_without_a_contact_the_command_says_what_to_set(
    toolwire: Command, name: str, arguments: str, first: str
) -> None:
    answer = toolwire("call", name, arguments)

    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("toolwire: not configured: PubMed ")
    assert "TOOLWIRE_CONTACT" in answer.err
