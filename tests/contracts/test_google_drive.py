"""Google Docs and Slides through `RAG.buildIndex`, against a server that speaks Drive's calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from chapterverse.contracts import RAG
from chapterverse.errors import AstRagAuthError
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.library import Library
from chapterverse.protocols import Source
from tests.ingest.google_drive import APPS, GoogleDrive
from tests.ingest.office_docx import docx, p
from tests.ingest.office_pptx import ap, pptx, slide, sp, title


@pytest.fixture
def drive(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> GoogleDrive:
    """A folder with a document and a presentation; the library looks for Drive here."""
    drive = GoogleDrive(httpserver)
    essay = docx(p("Bells", style="Heading1") + p("The bell is heavy."))
    drive.add("doc", "Essay", APPS + "document", "root", essay)
    deck = pptx(slide(title("Ropes"), sp(ap("Hemp is used."))), slide(title("Oak"), sp(ap("The bell hangs from oak."))))
    drive.add("deck", "Talk", APPS + "presentation", "root", deck)

    def opened(address: str, options: SourceOptions) -> Source:
        return open_source(address, replace(options, drive_url=drive.url))

    monkeypatch.setattr("chapterverse.library.offers.open_source", opened)
    return drive


def built(rag: RAG, mime_type: str, **auth: Any) -> str:
    source = {"folderId": "gdrive:root", "includeMimeTypes": [APPS + mime_type]}
    return str(rag.buildIndex({"source": source, "index": {"indexName": "drive"}, "auth": auth})["indexFileId"])


@pytest.mark.parametrize(
    ("mime_type", "file", "text", "slide"),
    [("document", "doc", "The bell is heavy.", None), ("presentation", "deck", "The bell hangs from oak.", 2)],
    ids=["document", "presentation"],
)
def test_mime_type(
    rag: RAG, library: Library, drive: GoogleDrive, mime_type: str, file: str, text: str, slide: int | None
) -> None:
    index = built(rag, mime_type, gdrive="good-token")
    (source,) = rag.inspectIndex({"indexFileId": index})["sources"]
    found = rag.search({"indexFileId": index, "query": "the bell"})["results"]
    library.remove(index)
    assert source["fileId"] == file
    assert {result["fileId"] for result in found} == {file}
    assert text in found[0]["text"]
    assert found[0]["slide"] == slide


def test_its_token_is_needed_and_stands_under_its_name(rag: RAG, drive: GoogleDrive) -> None:
    with pytest.raises(AstRagAuthError):
        built(rag, "document", gdrive="bad-token")
