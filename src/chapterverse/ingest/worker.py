"""The process in which files are parsed: it takes one file after another on its input, and answers each in JSON.

A message is a line with the length of a JSON head, the head, and (to the worker) the bytes of the file. The worker
holds no secrets and trusts nothing: it is killed when a file makes it too large or too slow.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import IO, Any

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest import detect
from chapterverse.ingest.composer import Composer
from chapterverse.types import Document, ReadOptions, SourceItem, to_dict

_PARSERS = {
    detect.PDF: "pdf",
    detect.EPUB: "epub",
    detect.DOCX: "docx",
    detect.PPTX: "pptx",
    detect.HTML: "html",
    detect.MARKDOWN: "markdown",
    detect.TEXT: "text",
}


def parse(data: bytes, mime_type: str, sha256: str, item: SourceItem, options: ReadOptions) -> Document:
    """Parse a file of a known type in this process."""
    composer = Composer()
    if detect.suffix_disagrees(mime_type, item.file_name):
        composer.warn(f"The file's name suggests another format, but its content is {mime_type}: read as that.")
    importlib.import_module(f"chapterverse.ingest.formats.{_PARSERS[mime_type]}").parse(data, composer, options)
    if composer.empty:
        raise UnreadableFileError("no_text", "No text was found in the file.")
    return composer.document(
        file_id=item.file_id,
        file_name=item.file_name,
        mime_type=mime_type,
        sha256=sha256,
        source_url=item.url,
        modified_time=item.modified_time,
    )


def send(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    """Write one message."""
    encoded = json.dumps(head, ensure_ascii=True).encode()
    stream.write(b"%d\n%b" % (len(encoded), encoded))
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Read one message's head; None at the end of the stream."""
    length = stream.readline(32)
    if not length.endswith(b"\n"):
        return None
    encoded = stream.read(int(length))
    return json.loads(encoded) if len(encoded) == int(length) else None


def main() -> None:
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a native library prints must not break a reply
    requests = sys.stdin.buffer
    while (request := receive(requests)) is not None:
        data = requests.read(request["length"])
        options = ReadOptions(**request["options"])
        _limit(options)
        reply = _reply(data, request, options)
        # A worker that grew is retired, so that the next file finds all of its memory free.
        retire = "memory" in reply.get("error", ()) or _peak_mb() > options.max_memory_mb / 3
        send(replies, {**reply, "retire": retire})
        if retire:
            break


def _reply(data: bytes, request: dict[str, Any], options: ReadOptions) -> dict[str, Any]:
    try:
        item = SourceItem(**request["item"])
        return {"document": to_dict(parse(data, request["mime_type"], request["sha256"], item, options))}
    except UnreadableFileError as error:
        return {"error": [error.reason, error.explanation]}
    except MemoryError:
        return {"error": ["memory", f"Reading it takes more than {options.max_memory_mb} MB of memory."]}
    except RecursionError:
        return {"error": ["damaged", "It is nested too deeply to be read."]}
    except Exception as error:  # a parser's bug on one file must not end the reading of a thousand others
        return {"error": ["damaged", f"It could not be read ({type(error).__name__}: {error})."]}


def _limit(options: ReadOptions) -> None:
    """Cap this process's memory, and its CPU time from now on; where the system cannot, the parent watches alone."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + options.max_cpu_seconds + 1
    memory = options.max_memory_mb * 1024 * 1024
    for name, soft in (("RLIMIT_CPU", cpu), ("RLIMIT_AS", memory)):
        limit = getattr(resource, name, None)
        if limit is None:
            continue
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
        try:
            resource.setrlimit(limit, (soft, hard))
        except (ValueError, OSError):
            continue  # macOS refuses RLIMIT_AS: the parent's watch stands in


def _peak_mb() -> float:
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 / (1024 if sys.platform == "darwin" else 1)


if __name__ == "__main__":
    main()
