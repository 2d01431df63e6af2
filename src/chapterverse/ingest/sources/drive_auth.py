"""Who we are to Google Drive: a ready token, a key file, or the credentials that Google's tools have set up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from chapterverse.errors import AstRagAuthError, AstRagSourceError
from chapterverse.ingest.sources.options import SourceOptions

SCOPES = ("https://www.googleapis.com/auth/drive.readonly",)

WAYS = (
    "Give credentials_file (a service account's key, or an authorised user's file) or access_token, or run"
    " `gcloud auth application-default login --scopes=openid,https://www.googleapis.com/auth/drive.readonly`."
)


class DriveAuth:
    """Signs requests to Drive. Google's library is loaded only where it is needed: a token needs none."""

    def __init__(self, options: SourceOptions) -> None:
        self._token = options.access_token
        self._timeout = options.timeout_seconds
        self._credentials = None if self._token else _credentials(options.credentials_file)

    @property
    def identity(self) -> str:
        """Whom to share a folder with."""
        return getattr(self._credentials, "service_account_email", None) or "the account that you signed in with"

    def sign(self, url: str, renew: bool = False) -> dict[str, str]:
        """The headers that make a request ours; `renew` asks for a new token first."""
        if self._credentials is None:
            return {"Authorization": f"Bearer {self._token}"}
        from google.auth import exceptions

        headers: dict[str, str] = {}
        try:
            if renew:
                self._credentials.refresh(self._ask)
            self._credentials.before_request(self._ask, "GET", url, headers)
        except exceptions.TransportError as error:
            raise AstRagSourceError(
                f"Google's sign-in cannot be reached: {error}", cause=error, retryable=True
            ) from error
        except exceptions.GoogleAuthError as error:
            raise AstRagAuthError(
                f"Google does not accept these credentials: {error.args[0]}. {WAYS}", cause=error
            ) from error
        return headers

    @property
    def can_renew(self) -> bool:
        return self._credentials is not None

    def _ask(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> _Answer:
        """Google's library speaks through us, so that it needs no HTTP client of its own."""
        from google.auth import exceptions

        try:
            reply = httpx2.request(method, url, content=body, headers=headers, timeout=timeout or self._timeout)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise exceptions.TransportError(error) from error  # type: ignore[no-untyped-call]
        return _Answer(reply.status_code, reply.headers, reply.content)


class _Answer(NamedTuple):
    """What Google's library wants to know of a reply."""

    status: int
    headers: Mapping[str, str]
    data: bytes


def _credentials(file: Path | None) -> Any:
    if file is None:
        return _default()
    try:
        return _from_file(file)
    except (OSError, ValueError) as error:
        raise AstRagAuthError(f"{file} cannot be used as Google credentials: {error}. {WAYS}", cause=error) from error


def _default() -> Any:
    import google.auth
    from google.auth import exceptions

    try:
        return google.auth.default(scopes=SCOPES)[0]
    except exceptions.DefaultCredentialsError as error:
        raise AstRagAuthError(f"No way into Google Drive was given or found. {WAYS}", cause=error) from error


def _from_file(file: Path) -> Any:
    from google.oauth2 import credentials, service_account

    info = json.loads(file.read_bytes())
    loaders: dict[str, Any] = {
        "service_account": service_account.Credentials.from_service_account_info,
        "authorized_user": credentials.Credentials.from_authorized_user_info,
    }
    kind = info.get("type") if isinstance(info, dict) else None
    if kind not in loaders:
        raise ValueError(f"its type is {kind!r}, not one of {', '.join(loaders)}")
    return loaders[kind](info, scopes=SCOPES)
