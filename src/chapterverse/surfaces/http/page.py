"""The reading page at `/`, and the script that brings it to other people's pages: static files, nothing else."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from chapterverse.surfaces.http.envelope import POLICY

STATIC = Path(__file__).parent / "static"
_FILES = {path.name: path for path in STATIC.iterdir()}

_NO_MARKUP = "require-trusted-types-for 'script'; trusted-types 'none'"
"""No text can become markup, whatever a book says: the page has no code that could make it so."""
_HEADERS = {"Content-Security-Policy": f"{POLICY}; {_NO_MARKUP}", "Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> FileResponse:
    """The reading page."""
    return _file("index.html")


@router.get("/chapterverse.js")
async def script() -> FileResponse:
    """The script for other pages, at an address that is easy to write down."""
    return _file("chapterverse.js")


@router.get("/static/{name}")
async def static(name: str) -> FileResponse:
    """The page's own modules and styles; they all lie in one folder."""
    return _file(name)


def _file(name: str) -> FileResponse:
    if name not in _FILES:
        raise HTTPException(404, "There is no such file.")
    return FileResponse(_FILES[name], headers=_HEADERS)
