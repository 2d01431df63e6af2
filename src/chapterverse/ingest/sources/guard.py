"""A way to the web that keeps to public addresses and to its time, whatever names and servers say.

The check happens where the connection is made: a name is resolved once, and the address that was checked is the one
that is connected to, so neither a redirect nor a name that changes its mind (DNS rebinding) leads into a private
network. Proxies from the environment are not used here: behind a proxy, nothing of this could be checked.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from ssl import SSLContext
from typing import Any

import httpcore2
import httpx2

from chapterverse.errors import UnreadableFileError

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SITE_LOCAL = ipaddress.IPv6Network("fec0::/10")

_deadline: ContextVar[float] = ContextVar("deadline")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Everything read inside must have arrived within `seconds`."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> float:
    """The seconds left; raises when there are none."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise UnreadableFileError("timeout", "The download took too long.", retryable=True)
    return left


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, seen through the ways to write IPv4 inside IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(ip.packed[-4:])
        if inner is not None:
            return is_public(str(inner))
        if ip in _SITE_LOCAL:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


class GuardedTransport(httpx2.BaseTransport):
    """The transport of an HTTP client that must not be led astray."""

    def __init__(self, allow_private: bool) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_keepalive_connections=2,
            keepalive_expiry=5.0,
            network_backend=_Backend(allow_private),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = self._pool.handle_request(
            httpcore2.Request(request.method, url, headers=request.headers.raw, extensions=request.extensions)
        )
        return httpx2.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, allow_private: bool) -> None:
        self._network = httpcore2.SyncBackend()
        self._allow_private = allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        trouble: Exception | None = None
        for address in self._addresses(host, port):
            try:
                with _in_time(timeout) as seconds:
                    return _Stream(self._network.connect_tcp(address, port, seconds, local_address, socket_options))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble or httpcore2.ConnectError(f"{host} has no address")

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} cannot be resolved") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        public = addresses if self._allow_private else [address for address in addresses if is_public(address)]
        if addresses and not public:
            raise UnreadableFileError(
                "refused",
                f"{host} is at {addresses[0]}, an address of this machine or of a private network. "
                "If you trust it, allow private addresses (allow_private_addresses).",
            )
        return public


class _Stream(httpcore2.NetworkStream):
    """A connection that knows the deadline: a server that sends a byte now and then does not hold us for ever."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _in_time(timeout) as seconds:
            return self._stream.read(max_bytes, seconds)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _in_time(timeout) as seconds:
            self._stream.write(buffer, seconds)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        with _in_time(timeout) as seconds:
            return _Stream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@contextmanager
def _in_time(timeout: float | None) -> Iterator[float]:
    """How long one step may take; running out of all time is final, and not a time-out to try again after."""
    left = check_time()
    try:
        yield left if timeout is None else min(left, timeout)
    except httpcore2.TimeoutException:
        check_time()
        raise
