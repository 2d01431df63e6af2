"""What all tests share: the network is closed but for this machine itself, and the contracts' items are proved."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any

import pytest

from tests.clocks import clocks, clocks_home
from tests.traceability.outcomes import Outcomes

__all__ = ["clocks", "clocks_home"]

os.environ["CHAPTERVERSE_DEADLINE"] = "300"
"""A machine that is busy with other tests is slow; those of the deadline set their own."""

_connect = socket.socket.connect
_getaddrinfo = socket.getaddrinfo


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Outcomes(), "traceability")


class NetworkBlocked(RuntimeError):
    """A test tried to reach another machine."""


def _is_local(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(str(address[0])):
        raise NetworkBlocked(f"a test tried to connect to {address}")
    _connect(self, address)


def _guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    try:
        ipaddress.ip_address(name or "")
    except ValueError:
        if name and not _is_local(name):
            raise socket.gaierror(socket.EAI_NONAME, f"a test tried to look up {name}") from None
    return _getaddrinfo(host, *args, **kwargs)


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Any:
    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", _guarded_connect)
    patch.setattr(socket, "getaddrinfo", _guarded_getaddrinfo)
    yield
    patch.undo()
