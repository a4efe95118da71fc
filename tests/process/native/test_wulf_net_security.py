"""Servers are shut to whoever has no key, and nothing outlives its session."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import gone, wait_until

from .raw import header
from .session import KEY, OTHER_KEY, Pair, Session, binary

# At once, in seconds on a busy machine: far from the 30 s that the runs would go on, and from a minute's time-out.
PROMPT = 20


def send_tcp(port: int, data: bytes) -> bytes:
    """What the server answers before it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        try:
            return connection.recv(4096)
        except ConnectionResetError:
            return b""


def counts_when(pair: Pair, name: str, value: int) -> dict[str, int]:
    """The server's counts; it is given a moment to have counted."""
    time.sleep(0.2)
    counts = pair.stop()
    assert counts[name] == value, counts
    return counts


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_wrong_key_is_closed_without_an_answer_and_counted(transport: str) -> None:
    with Pair(transport) as pair:
        assert send_tcp(pair.serving["port"], header(OTHER_KEY)) == b""
        assert pair.run("pingpong", seconds=0.01)["ok"]
        assert counts_when(pair, "wrong_key", 1)["accepted"] == 1


def test_garbage_is_closed_and_counted() -> None:
    with Pair("tcp") as pair:
        assert send_tcp(pair.serving["port"], b"GET / HTTP/1.1\r\n" + b"x" * 100) == b""
        assert send_tcp(pair.serving["port"], header(KEY, kind=9)) == b""
        assert counts_when(pair, "malformed", 2)["accepted"] == 0


def test_the_right_key_with_garbage_behind_it_gets_an_error() -> None:
    with Pair("tcp") as pair:
        assert b"bad-parameter" in send_tcp(pair.serving["port"], header(params=b"{{{") + b"{{{")
        assert pair.run("pingpong", seconds=0.01)["ok"]


@pytest.mark.full
def test_a_header_that_does_not_come_is_given_up_after_five_seconds() -> None:
    with Pair("tcp") as pair:
        start = time.monotonic()
        assert send_tcp(pair.serving["port"], header(KEY)[:20]) == b""
        assert 4.5 < time.monotonic() - start < 15
        counts_when(pair, "malformed", 1)


def test_silent_connections_do_not_keep_others_out() -> None:
    with Pair("tcp") as pair:
        silent = [socket.create_connection(("127.0.0.1", pair.serving["port"])) for _ in range(40)]
        assert pair.run("pingpong", seconds=0.01)["ok"]
        assert pair.stop()["ok"]  # does not wait for them either
        for connection in silent:
            connection.close()


@pytest.mark.parametrize("data", [b"", b"x", header(OTHER_KEY, kind=2), header(KEY, kind=2)[:-1], b"y" * 2000])
def test_udp_answers_nobody_without_the_key(data: bytes) -> None:
    with Pair("udp") as pair, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.settimeout(0.3)
        stranger.sendto(data, ("127.0.0.1", pair.serving["port"]))
        with pytest.raises(TimeoutError):
            stranger.recvfrom(4096)
        counts = pair.stop()
        assert counts["wrong_key"] + counts["malformed"] == 1


def test_a_server_is_bound_to_its_address_alone() -> None:
    with Pair("tcp", "127.0.0.1") as pair, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", pair.serving["port"]), timeout=2)


def test_the_key_is_in_no_argument_list() -> None:
    with Pair("tcp") as pair:
        for session in (pair.server, pair.client):
            with open(f"/proc/{session.process.pid}/cmdline", "rb") as file:  # noqa: PTH123
                assert KEY.encode() not in file.read()


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
@pytest.mark.parametrize("end", ["server", "client"])
def test_closing_stdin_ends_a_session_in_the_middle_of_a_run(transport: str, pattern: str, end: str) -> None:
    with Pair(transport) as pair:
        number = pair.start(pattern, seconds=30)
        time.sleep(0.3)
        start = time.monotonic()
        assert getattr(pair, end).close() == 0
        assert time.monotonic() - start < PROMPT
        if end == "server":
            assert pair.client.wait(number, timeout=PROMPT)["error"]["code"] == "peer-lost"
        else:
            assert pair.stop()["accepted"] == 1


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_killed_server_is_noticed_at_once(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        number = pair.start(pattern, seconds=30)
        time.sleep(0.3)
        pair.server.process.kill()
        start = time.monotonic()
        assert pair.client.wait(number, timeout=PROMPT)["error"]["code"] == "peer-lost"
        assert time.monotonic() - start < PROMPT
        assert pair.client.ask("ping")["ok"]


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_killed_client_leaves_nothing_at_the_server(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        pair.start(pattern, seconds=30)
        time.sleep(0.3)
        pair.client.process.kill()
        tasks = Path(f"/proc/{pair.server.process.pid}/task")
        # reader, dispatcher, parent's guard, acceptor, intake; one ended, not yet joined
        assert wait_until(lambda: len(list(tasks.iterdir())) <= 6)
        start = time.monotonic()
        assert pair.stop()["accepted"] == 1
        assert time.monotonic() - start < PROMPT


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_frozen_server_ends_the_run_within_the_timeout(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        number = pair.start(pattern, seconds=30, timeout=0.5)
        time.sleep(0.3)
        pair.server.process.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        answer = pair.client.wait(number, timeout=60)
        pair.server.process.send_signal(signal.SIGCONT)
        assert answer["error"]["code"] == "timeout", answer
        assert time.monotonic() - start < PROMPT


def test_a_stopped_server_ends_its_runs() -> None:
    with Pair("tcp") as pair:
        number = pair.start("stream", seconds=30)
        time.sleep(0.3)
        assert pair.stop()["accepted"] == 1
        assert pair.client.wait(number, timeout=PROMPT)["error"]["code"] == "peer-lost"


def test_a_blocked_stdout_does_not_keep_a_session_alive() -> None:
    process = subprocess.Popen([binary()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b'{"id": 1, "op": "describe"}\n' * 200)  # far more than the pipe holds; nobody reads
    process.stdin.close()
    assert process.wait(timeout=PROMPT) == 0
    assert process.stdout is not None
    process.stdout.close()


def test_a_session_ends_when_its_parent_is_killed() -> None:
    """Even where a brother still holds the pipe to its stdin open."""
    script = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{str(binary())!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "brother = subprocess.Popen(['sleep', '600'], stdin=child.stdin, stdout=subprocess.DEVNULL,\n"
        "                           pass_fds=[child.stdin.fileno()])\n"
        "print(child.pid, brother.pid, flush=True)\n"
        "time.sleep(30)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child, brother = map(int, parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        assert gone(child)
    finally:
        os.kill(brother, signal.SIGKILL)


def test_a_session_outlives_the_thread_that_started_it() -> None:
    """PR_SET_PDEATHSIG fires when the parent's thread ends: that must not count as the parent's death."""
    import threading

    started: list[Session] = []
    thread = threading.Thread(target=lambda: started.append(Session()))
    thread.start()
    thread.join()
    time.sleep(0.2)
    with started[0] as session:
        assert session.ask("ping")["ok"]
