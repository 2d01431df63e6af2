"""A Google Drive folder: three calls of the Drive v3 REST interface (files.list, files.get, files.export)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from chapterverse.errors import AstRagAuthError, AstRagError, AstRagSourceError, UnreadableFileError
from chapterverse.ingest import detect
from chapterverse.ingest.sources.drive_auth import WAYS, DriveAuth
from chapterverse.ingest.sources.http import Http, Reply
from chapterverse.ingest.sources.options import SourceOptions
from chapterverse.types import Notice, SourceItem

DOCUMENT = "application/vnd.google-apps.document"
PRESENTATION = "application/vnd.google-apps.presentation"
FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"

_GOOGLE = "application/vnd.google-apps."
_EXPORTS = {DOCUMENT: detect.DOCX, PRESENTATION: detect.PPTX}
_NOT_TEXT = ("image/", "video/", "audio/", "font/")
_RATE_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
_FIELDS = "id,name,mimeType,size,modifiedTime,webViewLink,shortcutDetails(targetId,targetMimeType)"
_ID = re.compile(r"[\w-]+", re.ASCII)

File = dict[str, Any]
"""A file as Drive describes it."""


class DriveSource:
    """The files of a Drive folder, of its subfolders, and of those that its shortcuts lead to. Ids are Drive's."""

    def __init__(self, folder_id: str, options: SourceOptions) -> None:
        if not _ID.fullmatch(folder_id):
            raise AstRagSourceError(
                f"gdrive:{folder_id} does not name a Google Drive folder: after gdrive: comes its id, the part of its"
                " address after /folders/."
            )
        self.notices: list[Notice] = []
        self.unseen: set[str] = set()
        self._root = folder_id
        self._options = options
        self._left: set[str] = set()
        """Ids that were to be left out, and were."""
        self._base = options.drive_url.rstrip("/")
        self._http = Http(options)

    @cached_property
    def _auth(self) -> DriveAuth:
        return DriveAuth(self._options)

    def items(self) -> Iterator[SourceItem]:
        self.notices.clear()
        self.unseen.clear()
        self._left.clear()
        try:
            root = self._resolve(self._file(self._root))
            items = self._walk(root) if root["mimeType"] == FOLDER else self._offer(root, root["name"])
        except _Refusal as refusal:
            raise self._explain(refusal) from refusal
        except UnreadableFileError as error:
            raise AstRagSourceError(
                f"gdrive:{self._root} cannot be listed: {error.explanation}", cause=error, retryable=error.retryable
            ) from error
        self._options.tell_unmet(self._left, self.notices, self.unseen)
        yield from self._options.limit(
            items, f"gdrive:{self._root}", self.notices, counts=lambda item: detect.may_be_book(item.file_name)
        )

    def fetch(self, item: SourceItem) -> bytes:
        try:
            mime_type = item.mime_type or self._file(item.file_id)["mimeType"]
            if mime_type in _EXPORTS:
                return self._export(item, _EXPORTS[mime_type])
            return self._get(f"files/{_quoted(item.file_id)}", alt="media", supportsAllDrives="true").body
        except _Refusal as refusal:
            raise UnreadableFileError(
                refusal.word, refusal.sentence, file=item.file_name, cause=refusal, retryable=refusal.passing
            ) from refusal
        except UnreadableFileError as error:
            raise UnreadableFileError(
                error.reason, error.explanation, file=item.file_name, cause=error, retryable=error.retryable
            ) from error

    def _walk(self, root: File) -> list[SourceItem]:
        """Folder by folder, nearest first; no folder and no file twice, whatever links to it."""
        items: list[SourceItem] = []
        folders, seen = deque([("", root["id"])]), {root["id"]}
        while folders:
            path, folder = folders.popleft()
            for entry, file in self._children(folder, is_root=folder == root["id"]):
                left = {file["id"], entry["id"]} & self._options.exclude_file_ids
                self._left |= left
                if left or file["id"] in seen:
                    continue
                seen.add(file["id"])
                child = path + unicodedata.normalize("NFC", entry["name"])
                if file["mimeType"] != FOLDER:
                    items.extend(self._offer(file, child) if self._options.selects(child) else ())
                elif self._options.include_subfolders and not self._options.excludes(f"{child}/"):
                    folders.append((f"{child}/", file["id"]))
        return items

    def _children(self, folder: str, is_root: bool) -> list[tuple[File, File]]:
        """What is in a folder, by name: each entry, and the file that it is or, as a shortcut, leads to."""
        entries: list[File] = []
        query = {
            "q": "'{}' in parents and trashed = false".format(folder.replace("\\", "\\\\").replace("'", "\\'")),
            "fields": f"nextPageToken,incompleteSearch,files({_FIELDS})",
            "pageSize": "1000",
            "supportsAllDrives": "true",
            "includeItemsFromAllDrives": "true",
        }
        try:
            while True:
                page = self._json("files", **query)
                entries += page.get("files", [])
                if page.get("incompleteSearch"):
                    self._leave({"id": folder, "name": folder}, "Google could not search all drives for its files.")
                    self.unseen.add("")
                if not page.get("nextPageToken"):
                    break
                query["pageToken"] = page["nextPageToken"]
        except _Refusal as refusal:
            if is_root:
                raise
            self._miss({"id": folder, "name": folder}, refusal)
        entries.sort(key=lambda entry: (unicodedata.normalize("NFC", entry["name"]), entry["id"]))
        return list(self._resolved(entries))

    def _resolved(self, entries: list[File]) -> Iterator[tuple[File, File]]:
        for entry in entries:
            try:
                yield entry, self._resolve(entry)
            except _Refusal as refusal:
                self._miss(entry, refusal, "it is a shortcut to something that cannot be had. ")

    def _resolve(self, file: File) -> File:
        """The file itself, or the one that it is a shortcut to."""
        return self._file(file["shortcutDetails"]["targetId"]) if file["mimeType"] == SHORTCUT else file

    def _offer(self, file: File, path: str) -> list[SourceItem]:
        """The item for a file, unless it is none that can be read: then a notice."""
        mime_type, size = file["mimeType"], int(file["size"]) if "size" in file else None
        if mime_type.startswith(_GOOGLE) and mime_type not in _EXPORTS:
            kind = mime_type.removeprefix(_GOOGLE)
            self._leave(file, f"of Google's own kinds only Docs and Slides are read, and this is a {kind}.")
        elif mime_type.startswith(_NOT_TEXT):
            self._leave(file, f"{path} is {mime_type}, which holds no text.")
        elif size is not None and size > self._options.max_bytes and mime_type not in _EXPORTS:
            self._leave(file, f"it is over {self._options.max_file_mb} MB.")
            self.unseen.add(file["id"])
        else:
            changed, url = file.get("modifiedTime"), file.get("webViewLink")
            return [SourceItem(file["id"], file["name"], size, changed, url, mime_type)]
        return []

    def _export(self, item: SourceItem, mime_type: str) -> bytes:
        """A Google document in an office format or, if Google finds it too large for that, as its bare text."""
        call = f"files/{_quoted(item.file_id)}/export"
        try:
            return self._get(call, mimeType=mime_type).body
        except _Refusal as refusal:
            if refusal.reason != "exportSizeLimitExceeded":
                raise
        text = self._get(call, mimeType=detect.TEXT).body
        reason = "Google exports at most 10 MB with layout: it was read as plain text, without headings and pages."
        self.notices.append(Notice(item.file_id, item.file_name, reason))
        return text

    def _file(self, file_id: str) -> File:
        return self._json(f"files/{_quoted(file_id)}", fields=_FIELDS, supportsAllDrives="true")

    def _json(self, call: str, **query: str) -> dict[str, Any]:
        reply = self._get(call, **query)
        try:
            answer = json.loads(reply.body)
        except ValueError as error:
            raise AstRagSourceError(f"{self._base} does not answer as Google Drive does.", cause=error) from error
        if not isinstance(answer, dict):
            raise AstRagSourceError(f"{self._base} does not answer as Google Drive does.")
        return answer

    def _get(self, call: str, **query: str) -> Reply:
        url = f"{self._base}/{call}?{urlencode(query)}"
        reply = self._signed(url)
        if reply.status == 401 and self._auth.can_renew:
            reply = self._signed(url, renew=True)
        if reply.status == 401:
            raise AstRagAuthError(f"Google does not accept the token: it may have expired. {WAYS}")
        if reply.status != 200:
            raise _Refusal(reply)
        return reply

    def _signed(self, url: str, renew: bool = False) -> Reply:
        headers = self._auth.sign(url, renew)
        return self._http.get(url, headers=headers, check=self._check, is_passing=_over_rate)

    def _check(self, url: str) -> None:
        """Our token is for Drive alone, wherever it may redirect to."""
        if not url.startswith(f"{self._base}/"):
            raise UnreadableFileError("refused", "Google Drive redirects to another place.")

    def _explain(self, refusal: _Refusal) -> AstRagError:
        """Why the folder itself cannot be listed, and what to do."""
        if refusal.status == 404:
            return AstRagSourceError(
                f"There is no gdrive:{self._root}, or it is not shared with {self._auth.identity}.", cause=refusal
            )
        if refusal.status == 403 and not refusal.passing:
            return AstRagAuthError(
                f"gdrive:{self._root} may not be read: {refusal.message} Share it with {self._auth.identity}, and see"
                " that the Drive API is switched on and the token has the scope drive.readonly.",
                details={"reason": refusal.reason},
                cause=refusal,
            )
        return AstRagSourceError(
            f"gdrive:{self._root} cannot be listed. {refusal.sentence}", cause=refusal, retryable=refusal.passing
        )

    def _miss(self, file: File, refusal: _Refusal, why: str = "") -> None:
        """What is no longer there is gone; of what could not be had, nobody knows what is in it."""
        self._leave(file, why + refusal.sentence)
        if refusal.status != 404:
            self.unseen.add("")

    def _leave(self, file: File, why: str) -> None:
        self.notices.append(Notice(file["id"], file["name"], f"Left out: {why}"))


class _Refusal(Exception):
    """An answer of Drive that is not the one asked for, in Google's words."""

    def __init__(self, reply: Reply) -> None:
        self.status = reply.status
        self.reason, self.message = _reason(reply.body)
        self.passing = reply.is_passing or _over_rate(reply)
        self.sentence = f"Google Drive answers: {self.message or 'nothing more'} (HTTP status {self.status})"
        super().__init__(self.sentence)

    @property
    def word(self) -> str:
        """One word for machines."""
        if self.reason == "exportSizeLimitExceeded":
            return "too_large"
        if self.passing:
            return "unreachable"
        return {403: "refused", 404: "missing"}.get(self.status, "unreachable")


def _over_rate(reply: Reply) -> bool:
    """Whether Google asks to slow down, for which it has two statuses."""
    return reply.status == 403 and _reason(reply.body)[0] in _RATE_LIMITS


def _reason(body: bytes) -> tuple[str, str]:
    """Google's word and sentence for an error; empty if the body holds none."""
    try:
        error = json.loads(body)["error"]
        return str(error["errors"][0]["reason"]), str(error["message"])
    except (ValueError, LookupError, TypeError):
        return "", ""


def _quoted(file_id: str) -> str:
    return quote(file_id, safe="")
