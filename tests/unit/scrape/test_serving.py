"""The server: what Prometheus asks for is answered, and nobody gets anything else."""

from __future__ import annotations

import http.client
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from wulf.core.errors import UsageError
from wulf.scrape import serving
from wulf.scrape.openmetrics import Family, Form, exposition

FAMILIES = (Family("wulf_nodes", "Nodes.", samples=[({"class": "a"}, 2.0)]),)


@pytest.fixture
def port() -> Iterator[int]:
    server = serving.Server("127.0.0.1", 0, lambda form: exposition(FAMILIES, form), "wulf")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def ask(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def raw(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(4096), b""))


def test_it_answers_in_the_format_that_is_asked_for(port: int) -> None:
    for accept, form in (("", Form.TEXT), ("application/openmetrics-text;version=1.0.0", Form.OPENMETRICS)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics", headers={"Accept": accept} if accept else {})
        answer = connection.getresponse()
        assert (answer.headers["Content-Type"], answer.headers["Vary"]) == (form.content_type, "Accept")
        assert answer.read().decode() == exposition(FAMILIES, form)
    assert ask(port, "/metrics", "HEAD") == (200, "")


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metrics?x=1", "/../etc/passwd", "/metrics/x", "http://x/metrics"])
def test_no_other_path_is_answered(port: int, path: str) -> None:
    assert ask(port, path) == (404, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "<script>"])
def test_no_other_method_is_answered(port: int, method: str) -> None:
    answer = raw(port, f"{method} /metrics HTTP/1.0\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.0 501 ")
    assert answer.endswith(b"\r\n\r\n")
    assert b"script" not in answer.partition(b"\r\n")[2]


@pytest.mark.parametrize("noise", [b"", b"\r\n\r\n", b"\x16\x03\x01\x00", b"GET " + b"a" * 70000, b"GET /metrics\r\n"])
def test_noise_gets_nothing_and_harms_nothing(port: int, noise: bytes) -> None:
    with suppress(OSError):  # closed while we still wrote
        assert b"wulf_nodes{" not in raw(port, noise) or noise == b"GET /metrics\r\n"
    assert ask(port, "/metrics")[0] == 200


def test_who_says_nothing_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "DEADLINE", 0.05)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(b"GET /met")
        assert client.recv(100) == b""


def test_who_opens_many_connections_and_says_nothing_keeps_nobody_out(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "DEADLINE", 3600.0)
    silent = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(serving.CONNECTIONS + 3)]
    try:
        assert [client.recv(1) for client in silent[:3]] == [b""] * 3
        assert ask(port, "/metrics")[0] == 200
        assert silent[3].recv(1) == b""
        silent[-1].sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert silent[-1].recv(12) == b"HTTP/1.0 200"
    finally:
        for client in silent:
            client.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)), ("9464", ("127.0.0.1", 9464)), (":1", ("127.0.0.1", 1)),
        ("localhost:0", ("127.0.0.1", 0)), ("[::1]:9464", ("::1", 9464)), ("10.0.0.7:80", ("10.0.0.7", 80)),
    ],
)  # fmt: skip
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert serving.parse_listen(text) == expected
    assert serving.is_loopback(expected[0]) == (expected[0] != "10.0.0.7")


@pytest.mark.parametrize("text", ["n1:9464", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1", "*:9464"])
def test_names_and_no_ports_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--listen"):
        serving.parse_listen(text)
    with pytest.raises(UsageError, match="--serve"):
        serving.parse_listen(text, "--serve")


def test_a_taken_port_is_said(port: int) -> None:
    with pytest.raises(UsageError, match="in use"):
        serving.Server("127.0.0.1", port, lambda form: "", "wulf")


def test_systemd_is_known_by_its_own_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYSTEMD_EXEC_PID", raising=False)
    assert not serving.under_systemd()
    monkeypatch.setenv("SYSTEMD_EXEC_PID", "1")  # a shell that systemd started hands it on
    assert not serving.under_systemd()
    monkeypatch.setenv("SYSTEMD_EXEC_PID", str(os.getpid()))
    assert serving.under_systemd()
