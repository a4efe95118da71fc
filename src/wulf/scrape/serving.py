"""Serves metrics to Prometheus: GET /metrics, and nothing else.

The one server of wulf's without a key, since Prometheus has none to show: it listens on loopback unless another address
is named, tells only what whoever runs it may read anyway, and keeps no connection longer than `DEADLINE`.
"""

from __future__ import annotations

import ipaddress
import os
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from wulf.core.errors import UsageError
from wulf.scrape.openmetrics import Form, preferred

ADDRESS, PORT = "127.0.0.1", 9464
DEADLINE = 5.0
"""Seconds that a connection may last in all: who sends a byte a second gains nothing."""

CONNECTIONS = 16
"""That may wait at once; one more has the one that waited longest cut off."""

Content = Callable[[Form], str]
"""What /metrics shows now, in the format that was asked for."""


def parse_listen(text: str, option: str = "--listen") -> tuple[str, int]:
    """Address and port of an option: `127.0.0.1:9464`, `[::1]:9464`, `:9464` or `9464` (both on loopback).

    Raises
    ------
    UsageError
        A name (which could come to mean any address), or no port.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or ADDRESS
    try:
        address = str(ipaddress.ip_address(ADDRESS if host == "localhost" else host))
        number = int(port) if port.isascii() and port.isdecimal() else -1
    except ValueError:
        next_step = "write an address such as 10.0.0.7:9464"
        raise UsageError(f"{option} {text!r}: {host!r} is not an address", next_step) from None
    if not 0 <= number <= 65535:
        raise UsageError(f"{option} {text!r} names no port", f"write {ADDRESS}:{PORT}; 0: any free port")
    return address, number


def is_loopback(address: str) -> bool:
    """Whether only this host reaches it."""
    return ipaddress.ip_address(address).is_loopback


def cut(connection: socket.socket) -> None:
    """End a connection that another thread may be reading from."""
    with suppress(OSError):  # it has ended by itself
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = "wulf", ""
    protocol_version = "HTTP/1.0"  # one request a connection
    timeout = DEADLINE
    server: Server

    def setup(self) -> None:
        self._end = threading.Timer(DEADLINE, cut, [self.request])
        self._end.daemon = True
        self._end.start()
        super().setup()

    def finish(self) -> None:
        self._end.cancel()
        with suppress(OSError):  # the client is gone
            super().finish()

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if self.path != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        form = preferred(",".join(self.headers.get_all("Accept", [])))
        body = self.server.content(form).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", form.content_type)
        self.send_header("Vary", "Accept")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The bare status: nothing that the client sent is repeated."""
        if self.request_version == "HTTP/0.9":
            return
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a scrape a minute is no news."""


class Server(ThreadingHTTPServer):
    """The server, bound and listening once it is made.

    Parameters
    ----------
    content
        Asked at every request, from several threads at once.
    name
        The command that serves, for what it says of its own errors.

    Raises
    ------
    UsageError
        The address is taken, not this host's, or its port is privileged.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: str, port: int, content: Content, name: str) -> None:
        self.content, self.name = content, name
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._waiting: list[socket.socket] = []
        """The longest first."""
        self._places = threading.BoundedSemaphore(2 * CONNECTIONS)
        self._lock = threading.Lock()
        try:
            super().__init__((address, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"can't listen on {address}, port {port}: {error.strerror}", "name another address or port"
            ) from error

    def server_bind(self) -> None:
        """Without the look-up of this host's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def url(self) -> str:
        """What Prometheus is to be told."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/metrics"

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own: who opens connections and says nothing keeps nobody out."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        with self._lock:
            if len(self._waiting) >= CONNECTIONS:
                cut(self._waiting.pop(0))
            self._waiting.append(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()
            with self._lock, suppress(ValueError):  # cut off
                self._waiting.remove(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what broke, in one line; a client that went away broke nothing."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"{self.name}: {type(error).__name__}: {error}", file=sys.stderr)


def under_systemd() -> bool:
    """Whether systemd started this very process, so that it also ends it: systemd.exec(5), SYSTEMD_EXEC_PID."""
    return os.environ.get("SYSTEMD_EXEC_PID") == str(os.getpid())


def serve(server: Server, *, stay: bool) -> None:
    """Serve until stdin closes, or for good with `stay`; ends by KeyboardInterrupt as well."""
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        if stay:
            thread.join()
        else:
            _until_closed(sys.stdin.fileno())
    finally:
        server.shutdown()
        server.server_close()


def _until_closed(descriptor: int) -> None:
    """Return when whoever holds the other end has closed it, or ended; what is written there is thrown away."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        poll.poll()
        if not os.read(descriptor, 4096):
            return
