"""A stand-in for Google Drive: a real HTTP server that speaks the three calls as Google documents them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

APPS = "application/vnd.google-apps."
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
SCOPE = "https://www.googleapis.com/auth/drive.readonly"


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def error(status: int, reason: str, message: str, domain: str = "global", **headers: str) -> Response:
    """An error as Drive words it."""
    entry = {"domain": domain, "reason": reason, "message": message}
    body = {"error": {"code": status, "message": message, "errors": [entry]}}
    return packed(body, status, **headers)


def packed(value: Any, status: int = 200, **headers: str) -> Response:
    """JSON as Google sends it: packed, to those who understand that."""
    headers["Content-Encoding"] = "gzip"
    body = gzip.compress(json.dumps(value).encode())
    return Response(body, status, headers, content_type="application/json; charset=UTF-8")


class GoogleDrive:
    """Files in folders, the tokens that open them, and failures to answer with before all else."""

    page_size = 2

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.url = server.url_for("/drive/v3").rstrip("/")
        self.files: dict[str, dict[str, Any]] = {}
        self.parents: dict[str, str] = {}
        self.contents: dict[str, bytes] = {}
        self.failures: dict[str, deque[Response]] = {}
        """By what the path ends with: replies to give first."""
        self.tokens = {"good-token"}
        self.issued = 0
        self.token_url = server.url_for("/token")
        server.expect_request(re.compile("/drive/v3/files.*")).respond_with_handler(self._answer)
        server.expect_request("/token", method="POST").respond_with_handler(self._token)
        self.add("root", "The Book", APPS + "folder")

    def add(self, file_id: str, name: str, mime_type: str, parent: str = "", content: bytes = b"", **more: Any) -> None:
        self.files[file_id] = {
            "id": file_id,
            "name": name,
            "mimeType": mime_type,
            "modifiedTime": "2026-03-04T05:06:07.089Z",
            "webViewLink": f"https://drive.google.com/file/d/{file_id}/view",
            **more,
        }
        if not mime_type.startswith(APPS):
            self.files[file_id]["size"] = str(len(content))
        self.parents[file_id] = parent
        self.contents[file_id] = content

    def folder(self, file_id: str, name: str, parent: str = "root") -> None:
        self.add(file_id, name, APPS + "folder", parent)

    def shortcut(self, file_id: str, name: str, target: str, parent: str = "root") -> None:
        kind = self.files[target]["mimeType"] if target in self.files else "text/plain"
        details = {"targetId": target, "targetMimeType": kind}
        self.add(file_id, name, APPS + "shortcut", parent, shortcutDetails=details)

    def fail(self, path_end: str, *replies: Response) -> None:
        self.failures[path_end] = deque(replies)

    def asked(self, path_end: str) -> list[Request]:
        return [request for request, _ in self.server.log if request.path.endswith(path_end)]

    def _answer(self, request: Request) -> Response:
        assert request.headers["Accept-Encoding"] == "gzip"
        for path_end, replies in self.failures.items():
            if request.path.endswith(path_end) and replies:
                return replies.popleft()
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return error(401, "authError", "Invalid Credentials")
        parts = request.path.removeprefix("/drive/v3/files").strip("/").split("/")
        if parts == [""]:
            return self._list(request)
        if parts[0] not in self.files:
            return error(404, "notFound", f"File not found: {parts[0]}.")
        file = self.files[parts[0]]
        if parts[1:] == ["export"]:
            return self._export(file, request.args["mimeType"])
        assert request.args["supportsAllDrives"] == "true"
        if request.args.get("alt") != "media":
            return packed({key: file[key] for key in self._fields(request.args["fields"]) if key in file})
        if file["mimeType"].startswith(APPS):
            message = "Only files with binary content can be directly downloaded. Use Export with Docs Editors files."
            return error(403, "fileNotDownloadable", message)
        return Response(self.contents[file["id"]], content_type=file["mimeType"])

    def _list(self, request: Request) -> Response:
        parent = re.fullmatch(r"'(.+)' in parents and trashed = false", request.args["q"])
        assert parent is not None, request.args["q"]
        assert (request.args["supportsAllDrives"], request.args["includeItemsFromAllDrives"]) == ("true", "true")
        if parent[1] not in self.files:
            return error(404, "notFound", "File not found: .")
        listed, wanted = re.fullmatch(r"(.*),files\((.*)\)", request.args["fields"]).groups()  # type: ignore[union-attr]
        assert "nextPageToken" in listed
        files = [file for file in self.files.values() if self.parents[file["id"]] == parent[1]]
        start = int(request.args.get("pageToken", "page-0").removeprefix("page-"))
        end = start + self.page_size
        keys = self._fields(wanted)
        page: dict[str, Any] = {"files": [{k: f[k] for k in keys if k in f} for f in files[start:end]]}
        if end < len(files):
            page["nextPageToken"] = f"page-{end}"
        return packed(page)

    def _export(self, file: dict[str, Any], mime_type: str) -> Response:
        if not file["mimeType"].startswith(APPS):
            return error(403, "fileNotExportable", "Export only supports Docs Editors files.")
        content = self.contents[file["id"]] or f"{file['name']} as {mime_type}".encode()
        return Response(content, content_type=mime_type)

    def _fields(self, fields: str) -> list[str]:
        return re.sub(r"\(.*?\)", "", fields).split(",")

    # --- signing in

    def service_account(self, folder: Path) -> Path:
        """A key file as Google's console hands it out."""
        pem = _key().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        info = {
            "type": "service_account",
            "project_id": "project",
            "private_key_id": "1",
            "private_key": pem.decode(),
            "client_email": "reader@project.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": self.token_url,
        }
        path = folder / "key.json"
        path.write_text(json.dumps(info))
        return path

    def authorized_user(self, folder: Path) -> Path:
        """The file of a user who has signed in."""
        info = {
            "type": "authorized_user",
            "client_id": "client",
            "client_secret": "client-secret",
            "refresh_token": "refresh",
        }
        path = folder / "user.json"
        path.write_text(json.dumps(info))
        return path

    def _token(self, request: Request) -> Response:
        """Check what signs in as Google would, and hand out a new token."""
        form = {key: values[0] for key, values in parse_qs(request.get_data(as_text=True)).items()}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != "refresh":
                return self._refuse_token()
        else:
            assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
            signed, _, signature = form["assertion"].rpartition(".")
            _key().public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), SHA256())
            claims = json.loads(_decoded(signed.partition(".")[2]))
            assert claims["scope"] == SCOPE
            if claims["iss"] != "reader@project.iam.gserviceaccount.com":
                return self._refuse_token()
        self.issued += 1
        self.tokens = {f"token-{self.issued}"}
        return packed({"access_token": f"token-{self.issued}", "expires_in": 3600, "token_type": "Bearer"})

    def _refuse_token(self) -> Response:
        body = {"error": "invalid_grant", "error_description": "Invalid grant: account not found"}
        return packed(body, 400)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
