"""How the service is doing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from chapterverse import __version__
from chapterverse.surfaces.http.dependencies import TheLibrary

router = APIRouter(tags=["status"])


@router.get("/health")
async def health(library: TheLibrary) -> dict[str, Any]:
    """Whether the store answers."""
    return {"status": "ok", "version": __version__, "indexes": len(await library.indexes())}
