"""`/indexes`: what can be asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from chapterverse.surfaces.http.dependencies import TheLibrary

router = APIRouter(tags=["indexes"])


@router.get("/indexes")
async def indexes(library: TheLibrary) -> list[dict[str, Any]]:
    """The indexes that can be asked."""
    return [
        {"index": one.id, "name": one.name, "updated_at": one.updated_at, "embedding": asdict(one.embedding)}
        for one in await library.indexes()
    ]
