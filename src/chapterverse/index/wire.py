"""What two processes say to each other about an index: frames of JSON, in which points, records and errors travel.

Vectors are bytes in base64, as four-byte floats of the machine that both processes run on. Nothing that is received is
executed, and nothing but our own kinds of error is made from it.
"""

from __future__ import annotations

import asyncio
import base64
import json
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from chapterverse import errors
from chapterverse.errors import AstRagError, RetrievalError
from chapterverse.index.points import RawPoint
from chapterverse.types import SparseVector

PROTOCOL = 4
"""Processes understand each other if they have the same."""

Message = dict[str, Any]

_LENGTH_BYTES = 4


async def send(stream: asyncio.StreamWriter, message: Message) -> None:
    """Write one frame: its length, then its JSON."""
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    await stream.drain()


async def receive(stream: asyncio.StreamReader) -> Message:
    """The next frame; raises EOFError when the other side has gone, ValueError if it does not speak this language."""
    length = int.from_bytes(await stream.readexactly(_LENGTH_BYTES), "big")
    message = json.loads(await stream.readexactly(length))
    if not isinstance(message, dict):
        raise ValueError("a frame must hold an object")
    return message


def vector_to_json(vector: Sequence[float] | SparseVector) -> Any:
    if isinstance(vector, SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return base64.b64encode(array("f", vector)).decode()


def vector_from_json(data: Any) -> list[float] | SparseVector:
    """The inverse of `vector_to_json`."""
    if isinstance(data, dict):
        return SparseVector(tuple(data["indices"]), tuple(data["values"]))
    return array("f", base64.b64decode(data)).tolist()


def point_to_json(point: RawPoint) -> Message:
    return {
        "id": point.id,
        "payload": point.payload,
        "dense": None if point.dense is None else vector_to_json(point.dense),
        "terms": None if point.terms is None else vector_to_json(point.terms),
    }


def point_from_json(data: Mapping[str, Any]) -> RawPoint:
    """The inverse of `point_to_json`."""
    vectors = {name: None if data[name] is None else vector_from_json(data[name]) for name in ("dense", "terms")}
    return RawPoint(data["id"], data["payload"], **vectors)  # type: ignore[arg-type]


def error_to_json(error: Exception) -> Message:
    """An error as its receiver can raise it again; what was never meant to be raised becomes a `RetrievalError`."""
    if not isinstance(error, AstRagError):
        error = RetrievalError(f"The process that holds the indexes failed: {error!r}", retryable=False)
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "details": json.loads(json.dumps(error.details, default=str)),
        "retryable": error.retryable,
    }


def error_from_json(data: Mapping[str, Any]) -> AstRagError:
    """The inverse of `error_to_json`."""
    kind = getattr(errors, data["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, AstRagError)):
        kind = RetrievalError
    return kind(data["message"], details=data["details"], retryable=data["retryable"])
