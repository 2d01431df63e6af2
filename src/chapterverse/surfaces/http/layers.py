"""What every request passes before it reaches a router, in the service and in the MCP server that stands alone."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from chapterverse.settings import ServiceSettings
from chapterverse.surfaces.http.envelope import REQUEST_ID, Envelope
from chapterverse.surfaces.http.errors import error_response
from chapterverse.surfaces.http.guard import FOREIGN, BodyLimit, Guard
from chapterverse.surfaces.http.metrics import Metrics

_OK, _INVALID, _FORBIDDEN = 200, 400, 403
_METHODS = ("GET", "POST", "DELETE")


def layers(service: ServiceSettings, metrics: Metrics) -> list[Middleware]:
    """The layers, outermost first."""
    return [
        Middleware(Envelope, metrics=metrics),
        Middleware(Cors, service=service),
        Middleware(Guard, service=service),
        Middleware(BodyLimit, service=service),
    ]


class Cors(CORSMiddleware):
    """Lets the pages of allowed sites send requests and read the responses."""

    def __init__(self, app: ASGIApp, service: ServiceSettings) -> None:
        super().__init__(
            app,
            allow_origins=service.origins,
            allow_methods=_METHODS,
            # Which sites may ask is what is decided here. Clients of MCP and of OpenAI send headers of their own, some
            # of them named after the arguments of a tool, so that they cannot be listed.
            allow_headers=("*",),
            expose_headers=(REQUEST_ID, "Retry-After", "Mcp-Session-Id"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        asks = scope.get("method") == "OPTIONS" and "access-control-request-method" in headers
        if not asks or "origin" not in headers or self.preflight_response(headers).status_code == _OK:
            await super().__call__(scope, receive, send)
        elif not self.is_allowed_origin(headers["origin"]):
            await error_response(scope, _FORBIDDEN, FOREIGN)(scope, receive, send)
        else:
            detail = f"Pages of other sites may only use the methods {', '.join(_METHODS)} here."
            await error_response(scope, _INVALID, detail)(scope, receive, send)

    def is_allowed_origin(self, origin: str) -> bool:
        return super().is_allowed_origin(origin.casefold())
