"""How the JSON of a request is read: of a name that is given twice, the last value would count in silence."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from chapterverse.errors import AstRagValidationError

_SHOWN = 100
"""Characters of a name."""


class OnceRoute(APIRoute):
    """A route whose body says each thing once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_OnceRequest(request.scope, request.receive))

        return handle


class _OnceRequest(Request):
    async def json(self) -> Any:
        return json.loads(await self.body(), object_pairs_hook=once)


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; it is an error that a name is given twice."""
    said: dict[str, Any] = {}
    for name, value in pairs:
        if name in said:
            raise AstRagValidationError(f"{name[:_SHOWN]!r} is given twice in one object of the body: give it once.")
        said[name] = value
    return said
