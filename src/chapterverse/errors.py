"""Every error that Chapterverse raises on purpose.

    AstRagError
    ├── AstRagValidationError            a request, field or question is invalid
    │   └── InvalidQueryError
    ├── AstRagAuthError                  a provider key is missing or refused
    ├── AstRagSourceError                a source cannot be listed
    │   └── UnreadableFileError          a file cannot be read; `reason` says why in one word
    ├── AstRagIndexError                 index unknown, locked, corrupt, of another schema, or empty
    ├── AstRagRetrievalError             the store cannot be reached or answers wrongly
    │   ├── RetrievalError
    │   └── StoreUnreachableError        also a ConnectionRefusedError
    ├── AstRagEmbeddingCapabilityError   unknown provider or model, wrong count or dimension, input too long
    └── AstRagGroundingError             nothing grounded can be said
        ├── GenerationError              the model failed, timed out or broke the schema
        └── NoContentError               nothing to generate from

Each carries a `message` that says what happened and what to do next, `details` for machines, the foreign `cause`
where there is one, and whether trying again may help (`retryable`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AstRagError(Exception):
    """The root: catch it to catch everything that Chapterverse raises on purpose."""

    retryable_by_default = False

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        cause: BaseException | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.cause = cause
        self.retryable = self.retryable_by_default if retryable is None else retryable
        if cause is not None:
            self.__cause__ = cause

    def __str__(self) -> str:
        return self.message


class AstRagValidationError(AstRagError):
    """A request, field or question is invalid."""


class InvalidQueryError(AstRagValidationError):
    """The question or its scope cannot be understood."""


class AstRagAuthError(AstRagError):
    """A provider's key is missing or was refused."""


class AstRagSourceError(AstRagError):
    """A source cannot be listed, or something in it cannot be had."""


class UnreadableFileError(AstRagSourceError):
    """A file cannot be read; `reason` is one word for machines, the message is for people."""

    def __init__(self, reason: str, message: str, *, file: str | None = None, **kwargs: Any) -> None:
        super().__init__(f"{file}: {message}" if file else message, **kwargs)
        self.reason = reason
        self.explanation = message
        self.file = file
        self.details.update(reason=reason, file=file)


class AstRagIndexError(AstRagError):
    """An index is unknown, locked, corrupt, of another schema, or empty after a build."""


class AstRagRetrievalError(AstRagError):
    """The store cannot be reached or answers wrongly."""

    retryable_by_default = True


class RetrievalError(AstRagRetrievalError):
    """Searching failed."""


class StoreUnreachableError(AstRagRetrievalError, ConnectionRefusedError):
    """Nothing answers at the store's address."""


class AstRagEmbeddingCapabilityError(AstRagError):
    """An embedding provider or model is unknown, or does not deliver what it declares."""


class AstRagGroundingError(AstRagError):
    """Nothing grounded can be said."""


class GenerationError(AstRagGroundingError):
    """The model failed, timed out, or broke the schema after its retry."""

    retryable_by_default = True


class NoContentError(AstRagGroundingError):
    """There is nothing to generate from."""
