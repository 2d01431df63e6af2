"""Every way in which a hosted model can fail, as one of our own errors.

- no key, 401, 402, 403, a key refused by other means: `AstRagAuthError`
- 408, 429, 5xx, a timeout, no connection: `GenerationError`, retryable
- any other 4xx, a quota that is spent: `GenerationError`, not retryable
"""

from __future__ import annotations

from chapterverse.errors import AstRagAuthError, AstRagError, GenerationError
from chapterverse.providers.failures import Failure, Provider, error_for, retry_after


def generation_error(provider: Provider, error: Exception, key: str | None) -> AstRagError | None:
    """The error to raise for what the client raised; None if that is not a failure of the provider."""
    failure = _failure(error)
    if failure is None:
        return None
    ours = error_for(provider, failure, key, error)
    if not isinstance(ours, AstRagAuthError):
        ours = GenerationError(ours.message, details=ours.details, cause=ours.cause, retryable=ours.retryable)
    ours.details["parameter"] = getattr(error, "param", None)
    return ours


def _failure(error: Exception) -> Failure | None:
    import openai
    from google.auth import exceptions as google

    if isinstance(error, openai.APIStatusError):
        said = _said(error)
        return Failure(
            said,
            error.status_code,
            retry_after(error.response.headers),
            # Google calls a key that is no key at all a bad request, not an unauthorised one.
            key_refused=error.status_code == 400 and "API key not valid" in said,
            quota_spent=error.code == "insufficient_quota",
        )
    if isinstance(error, openai.APITimeoutError):
        return Failure("it did not answer in time")
    if isinstance(error, openai.APIConnectionError):
        return Failure(str(error.__cause__ or error))
    if type(error) is openai.APIError:  # in the midst of a stream, after a status that was good
        return Failure(_said(error), broke_off=True)
    if isinstance(error, google.TransportError):
        return Failure(str(error))
    if isinstance(error, google.GoogleAuthError):
        return Failure(str(error.args[0] if error.args else error), key_refused=True)
    return None


def _said(error: object) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:  # as Google does it
        body = body[0]
    if isinstance(body, dict):
        inner = body.get("error")
        body = inner if isinstance(inner, dict) else body
        return str(body.get("message") or body.get("detail") or body)
    return str(body or error)
