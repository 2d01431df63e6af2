"""The process in which files are parsed: it takes one file after another on its input, and answers each in JSON.

A message is a line with the length of a JSON head, the head, and (to the worker) the bytes of the file. The worker
holds no secrets and trusts nothing: it is killed, with the copies it may make of itself, when a file makes it too large
or too slow.
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
from chapterverse.ingest.spread import allow_copies
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


def too_large(options: ReadOptions) -> UnreadableFileError:
    return UnreadableFileError("memory", f"Reading it takes more than {options.max_memory_mb} MB of memory.")


def encode(head: dict[str, Any]) -> bytes:
    return json.dumps(head, ensure_ascii=True).encode()


def send(stream: IO[bytes], head: bytes, body: bytes = b"") -> None:
    """Write one message."""
    stream.write(b"%d\n%b" % (len(head), head))
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes], max_bytes: int = sys.maxsize) -> dict[str, Any] | None:
    """Read one message's head; None at the end of the stream, `ValueError` for what is no message."""
    line = stream.readline(32)
    if not line.endswith(b"\n"):
        return None
    length = int(line)
    if not 0 < length <= max_bytes:
        raise ValueError(f"a message of {length} bytes")
    head = stream.read(length)
    return json.loads(head) if len(head) == length else None


def main() -> None:
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a native library prints must not break a reply
    requests = sys.stdin.buffer
    allow_copies()
    while (request := receive(requests)) is not None:
        data = requests.read(request["length"])
        options = ReadOptions(**request["options"])
        _limit(options)
        send(replies, _reply(data, request, options))


def _reply(data: bytes, request: dict[str, Any], options: ReadOptions) -> bytes:
    """The document, or why there is none; and whether this worker grew so much that another should replace it."""
    try:
        item = SourceItem(**request["item"])
        document = parse(data, request["mime_type"], request["sha256"], item, options)
        reply = encode({"document": to_dict(document), "retire": _grown(options)})
        if len(reply) > options.max_unpacked_mb * 1024 * 1024:
            raise UnreadableFileError("bomb", f"Its text takes more than {options.max_unpacked_mb} MB.")
        return reply
    except UnreadableFileError as error:
        refusal = error
    except MemoryError:
        refusal = too_large(options)
    except RecursionError:
        refusal = UnreadableFileError("damaged", "It is nested too deeply to be read.")
    except Exception as error:  # a parser's bug on one file must not end the reading of a thousand others
        refusal = UnreadableFileError("damaged", f"It could not be read ({type(error).__name__}: {str(error)[:200]}).")
    retire = refusal.reason == "memory" or _grown(options)
    return encode({"error": [refusal.reason, refusal.explanation], "retire": retire})


def _limit(options: ReadOptions) -> None:
    """Cap memory, and CPU time from now on, and leave no core dumps; what the system cannot do, the parent watches."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + options.max_cpu_seconds + 1
    memory = options.max_memory_mb * 1024 * 1024
    for name, soft in (("RLIMIT_CPU", cpu), ("RLIMIT_AS", memory), ("RLIMIT_CORE", 0)):
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


def _grown(options: ReadOptions) -> bool:
    """Whether the next file would not find nearly all of its memory free."""
    import psutil  # getrusage would not do: its peak is inherited from the parent, which may be large

    return bool(psutil.Process().memory_info().rss > options.max_memory_mb * 1024 * 1024 / 3)


if __name__ == "__main__":
    main()
