"""The service: a book's readers ask over HTTP. An application factory that takes a library; no globals."""

from chapterverse.surfaces.http.app import create_app

__all__ = ["create_app"]
