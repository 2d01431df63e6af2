"""Keeps hostile files harmless: each is parsed in a worker process that is watched, and killed when it overreaches."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest import worker
from chapterverse.types import Document, ReadOptions, SourceItem, document_from_dict, to_dict

if TYPE_CHECKING:
    import psutil

_SECONDS_PER_MB = 10
"""A larger file may honestly take longer; a bomb is small, and gets no more than the base limit."""

_ENVIRONMENT = frozenset(
    "PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONNOUSERSITE HOME APPDATA"
    " LANG LC_ALL LC_CTYPE TMPDIR TEMP TMP SYSTEMROOT".split()
)
"""What Python needs to start and to find its packages; keys and tokens of the parent stay with the parent."""


class Sandbox:
    """One worker process, started when first needed and replaced when it dies.

    One thread parses at a time; any thread may close it, which also ends a parse that is under way.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, data: bytes, mime_type: str, sha256: str, item: SourceItem, options: ReadOptions) -> Document:
        """Parse a file in the worker; raises `UnreadableFileError` for whatever befalls it there."""
        extra = _SECONDS_PER_MB * len(data) // 1_000_000
        options = dataclasses.replace(
            options,
            max_seconds=options.max_seconds + 2 * extra,
            max_cpu_seconds=options.max_cpu_seconds + extra,
        )
        request = {
            "item": to_dict(item),
            "mime_type": mime_type,
            "sha256": sha256,
            "options": to_dict(options),
            "length": len(data),
        }
        process = self._start()
        reply = None
        try:
            with _Watch(process, options) as watch:
                reply = _exchange(process, request, data)
        finally:
            if reply is None or reply["retire"]:  # dead, interrupted half-way, or grown
                self._end()
        if reply is None:
            raise watch.verdict()
        if "error" in reply:
            reason, message = reply["error"]
            raise UnreadableFileError(reason, message)
        return document_from_dict(reply["document"])

    def close(self) -> None:
        """End the worker for good."""
        with self._lock:
            self._closed = True
        self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:  # it died while idle
            self._end()
        with self._lock:
            if self._closed:
                raise RuntimeError("The sandbox is closed.")
            if self._process is None:
                self._process = _spawn()
            return self._process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _spawn() -> subprocess.Popen[bytes]:
    """A worker that sees no secrets, imports nothing from the folder it is started in, and leaves Ctrl-C to us."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name.upper() in _ENVIRONMENT},
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a worker and the copies that it has made of itself: they are one group, which has the worker's number."""
    if sys.platform != "win32" and process.returncode is None:  # once it is reaped, the number may be another's
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _exchange(process: subprocess.Popen[bytes], request: dict[str, Any], data: bytes) -> dict[str, Any] | None:
    """Send a request and wait for its reply; None if the worker died over it."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        worker.send(process.stdin, worker.encode(request), data)
        return worker.receive(process.stdout, request["options"]["max_unpacked_mb"] * 1024 * 1024)
    except (OSError, ValueError):
        return None


class _Watch:
    """Kills a worker that takes too long or grows too large, whatever the system's own limits can do."""

    def __init__(self, process: subprocess.Popen[bytes], options: ReadOptions) -> None:
        self._process = process
        self._options = options
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._reason: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def verdict(self) -> UnreadableFileError:
        """Why the worker, which has ended, died."""
        if self._reason == "timeout" or (hasattr(signal, "SIGXCPU") and self._process.returncode == -signal.SIGXCPU):
            return UnreadableFileError("timeout", "Reading it takes too long; it may be damaged or made to do harm.")
        if self._reason == "memory":
            return worker.too_large(self._options)
        return UnreadableFileError("damaged", "The parser broke down over it; it is damaged or made to do harm.")

    def _run(self) -> None:
        import psutil

        end = time.monotonic() + self._options.max_seconds
        limit = self._options.max_memory_mb * 1024 * 1024
        pause = 0.01
        while not self._done.wait(pause):
            pause = min(pause * 1.5, 0.25)
            try:
                large = _memory(psutil.Process(self._process.pid)) > limit
            except psutil.Error:
                return
            if large or time.monotonic() > end:
                self._reason = "memory" if large else "timeout"
                _kill(self._process)
                return


def _memory(process: psutil.Process) -> int:
    """Bytes in use, with those of its copies; on Windows, an environment's Python only launches the one that works."""
    import psutil

    used = process.memory_info().rss
    for child in _children(process.pid):
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end at any moment
            used += psutil.Process(child).memory_info().rss
    return used


def _children(pid: int) -> list[int]:
    import psutil

    try:  # what Linux lists for a process without threads is found without looking at every other process
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()))
    except OSError:
        return [child.pid for child in psutil.Process(pid).children()]
