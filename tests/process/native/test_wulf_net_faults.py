"""What strangers, misbehaving clients and a short machine do to wulf-net: it neither ends nor hangs, and serves on.

What is refused at the door stands in test_wulf_net_security; what needs a network of its own, in tests/lab.
Counts are small here; WULF_FAULTS=long (`make faults`) makes them what a day's attack would be.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import random
import re
import resource
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import wait_until

from . import filtered as filtering
from .raw import HOST, IDLE_THREADS, Listener, Run, connect, cpu_seconds, descriptors, header, rest_of, status
from .session import KEY, OTHER_KEY, ROOT, Pair, Session

LONG = os.environ.get("WULF_FAULTS") == "long"
DATAGRAMS = 1_000_000 if LONG else 100_000
CONNECTIONS = 20_000 if LONG else 2_000
SANITIZED = "WULF_SANITIZED" in os.environ
"""The program under test ($WULF_NET) is built with ASan, whose quarantine keeps memory: bounds on it mean nothing.
"undefined": with UBSan too."""
SANITIZER_THREADS = 1 if SANITIZED else 0
short_of_files = pytest.mark.skipif(
    os.environ.get("WULF_SANITIZED") == "undefined", reason="UBSan's own checks open files, and say so when they can't"
)


def pid(pair: Pair) -> int:
    return pair.server.process.pid


def port(pair: Pair) -> int:
    return int(pair.serving["port"])


def at_rest(pair: Pair) -> bool:
    """Whether nothing of a client is left in the server."""
    return status(pid(pair), "Threads") <= IDLE_THREADS[pair.transport] + SANITIZER_THREADS


def serves(pair: Pair, timeout: float = 10) -> bool:
    answer = pair.run("pingpong", seconds=0.01, timeout=timeout)
    assert answer["ok"], answer
    return True


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may hold some thousand connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)
    if wanted < 1500:
        pytest.skip(f"the hard limit of open files is {hard}: too few for a thousand connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# Replay: what an attacker can do who has recorded a run.


def test_a_replayed_data_header_gets_no_channel() -> None:
    with Pair("tcp") as pair, Run(port(pair), bytes=1) as run:
        assert run.hear() == {"op": "ready"}
        run.say({"op": "begin"})
        channel = connect(port(pair))
        channel.sendall(header(kind=2))
        assert run.hear() == {"op": "begun"}
        with connect(port(pair)) as replayed:  # while the run is on
            replayed.sendall(header(kind=2) + b"x")
            assert rest_of(replayed) == b""
        channel.sendall(b"x")
        assert channel.recv(2) == b"x", "the run's own channel goes on"
        channel.close()
        run.close()
        assert wait_until(lambda: at_rest(pair))
        with connect(port(pair)) as replayed:  # after it
            replayed.sendall(header(kind=2) + b"x")
            assert rest_of(replayed) == b""
        assert serves(pair)


def test_a_replayed_hello_is_answered_to_the_runs_client_alone() -> None:
    with Pair("udp") as pair, contextlib.ExitStack() as stack:
        own, attacker = (stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2))
        own.settimeout(30)
        attacker.settimeout(0.3)
        run = stack.enter_context(Run(port(pair), bytes=1))
        assert run.hear() == {"op": "ready"}
        run.say({"op": "begin"})
        own.sendto(header(kind=2), (HOST, port(pair)))
        _, channel = own.recvfrom(100)
        assert run.hear() == {"op": "begun"}
        attacker.sendto(header(kind=2), (HOST, port(pair)))
        attacker.sendto(b"x", channel)
        with pytest.raises(TimeoutError):
            attacker.recvfrom(100)
        assert own.recv(100).startswith(b"wulf-ok!"), "asked again, the server answers whom it knows"
        own.sendto(b"x", channel)
        assert own.recv(100) == b"x"
        run.close()
        assert wait_until(lambda: at_rest(pair))
        attacker.sendto(header(kind=2), (HOST, port(pair)))
        with pytest.raises(TimeoutError):
            attacker.recvfrom(100)


def test_a_replayed_control_header_opens_nothing_and_is_told_nothing() -> None:
    with Pair("tcp") as pair:
        with Run(port(pair), bytes=1) as run:
            assert run.hear() == {"op": "ready"}
            with connect(port(pair)) as replayed:  # while the run is on
                replayed.sendall(run.opening)
                assert rest_of(replayed) == b""
            run.say({"op": "begin"})
            with connect(port(pair)) as channel:
                channel.sendall(header(kind=2))
                assert run.hear() == {"op": "begun"}
        assert wait_until(lambda: at_rest(pair))
        with connect(port(pair)) as replayed:  # after it
            replayed.sendall(run.opening)
            assert rest_of(replayed) == b""
        counts = pair.stop()
        assert (counts["accepted"], counts["replayed"], counts["wrong_key"]) == (1, 2, 0), counts


def test_a_listener_learns_nothing_that_opens_a_run() -> None:
    with Pair("tcp") as pair, Listener(port(pair)) as listener:
        done = pair.client.ask(
            "run", pattern="pingpong", **pair.target | {"port": listener.port}, params={"seconds": 0.01}
        )
        assert done["ok"], done
        assert wait_until(lambda: at_rest(pair))
        assert len(listener.said) == 2, "the run's conversation, and its channel"
        for heard in (*listener.said, *listener.answered):
            assert bytes.fromhex(KEY) not in heard
            assert KEY.encode() not in heard.lower()
        for said in listener.said:
            with connect(port(pair)) as attacker, contextlib.suppress(ConnectionError):
                attacker.sendall(said)
                assert rest_of(attacker) == b""
        counts = pair.stop()
        assert (counts["accepted"], counts["replayed"]) == (1, 1), counts


def test_a_recorded_header_with_other_parameters_opens_nothing() -> None:
    with Pair("tcp") as pair:
        with Run(port(pair), bytes=1) as run:
            assert run.hear() == {"op": "ready"}
        for number, params in ((7, b'{"bytes": 2}'), (8, run.opening[64:])):
            forged = header(OTHER_KEY, run=number, params=params)
            with connect(port(pair)) as attacker:  # the recorded seal over what is the attacker's
                attacker.sendall(forged[:16] + run.opening[16:32] + forged[32:] + params)
                assert rest_of(attacker) == b""
        counts = pair.stop()
        assert (counts["accepted"], counts["wrong_key"]) == (1, 2), counts


# Strangers: no key, and much patience.


@pytest.mark.full
def test_a_thousand_half_open_connections_keep_nobody_out(many_files: None) -> None:
    with Pair("tcp") as pair, contextlib.ExitStack() as stack:
        before = descriptors(pid(pair))
        half_open = []
        for i in range(1000):
            half_open.append(stack.enter_context(connect(port(pair))))
            if i % 2:
                half_open[-1].sendall(header()[: i % 64])
        assert serves(pair)
        for connection in half_open:
            assert rest_of(connection) == b""  # closed by the server, five seconds after it came at the latest
        assert wait_until(lambda: at_rest(pair))
        assert descriptors(pid(pair)) <= before
        counts = pair.stop()
        assert (counts["accepted"], counts["malformed"], counts["wrong_key"]) == (1, 1000, 0), counts


@short_of_files
def test_strangers_keep_nobody_out_where_files_are_few(many_files: None) -> None:
    with Pair("tcp") as pair, contextlib.ExitStack() as stack:
        _, hard = resource.prlimit(pid(pair), resource.RLIMIT_NOFILE)
        resource.prlimit(pid(pair), resource.RLIMIT_NOFILE, (64, hard))
        for _ in range(200):
            stack.enter_context(connect(port(pair)))
        assert serves(pair)


@pytest.mark.full
def test_a_header_that_trickles_in_has_five_seconds_in_all() -> None:
    """Byte by byte, for the header and for the parameters: each byte buys no time."""
    with Pair("tcp") as pair, connect(port(pair)) as slow_header, connect(port(pair)) as slow_params:
        start = time.monotonic()
        slow_params.sendall(header(params=bytes(4096)))
        trickle = {slow_header: iter(header()), slow_params: itertools.repeat(ord("{"))}
        ended: dict[socket.socket, float] = {}
        while len(ended) < len(trickle) and time.monotonic() - start < 60:
            for connection, values in trickle.items():
                connection.setblocking(False)
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    connection.send(bytes([next(values)]))
                if connection not in ended and has_ended(connection):
                    ended[connection] = time.monotonic() - start
            time.sleep(0.2)
        assert set(ended) == set(trickle), "not closed within a minute"
        assert all(4.5 < seconds < 9 for seconds in ended.values()), list(ended.values())
        assert serves(pair)


def has_ended(connection: socket.socket) -> bool:
    """Whether the server has closed; what it said before does not matter."""
    try:
        while connection.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.full
def test_a_port_scan_leaves_nothing(many_files: None) -> None:
    reset = struct.pack("ii", 1, 0)  # SO_LINGER of no seconds: close() sends RST
    with Pair("tcp") as pair:
        before = descriptors(pid(pair))
        for i in range(CONNECTIONS):
            with connect(port(pair)) as scanner:
                if i % 2:
                    scanner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        assert serves(pair)
        assert wait_until(lambda: at_rest(pair))
        assert descriptors(pid(pair)) <= before
        assert pair.stop()["accepted"] == 1


def dropped(port: int) -> int:
    """Datagrams that the kernel dropped at the UDP socket bound to that port: /proc/net/udp's last column."""
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sum(int(row[-1]) for row in rows if row[1].endswith(f":{port:04X}"))


def flood(port: int, datagrams: int) -> int:
    """Garbage of every length to the port, as fast as it goes; returns how many were sent."""
    noise = random.Random(1)
    garbage = [noise.randbytes(length) for length in (0, 1, 63, 64, 65, 1472)]
    garbage += [header(OTHER_KEY, kind=2), header(KEY, kind=2), header(KEY, kind=1)]  # of no run that is open
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for data in itertools.islice(itertools.cycle(garbage), datagrams):
            sender.sendto(data, (HOST, port))
    return datagrams


def test_a_flood_of_garbage_datagrams_harms_no_run() -> None:
    with Pair("udp") as pair:
        assert serves(pair)
        before = status(pid(pair), "VmRSS")
        sent: list[int] = []
        flooder = threading.Thread(target=lambda: sent.append(flood(port(pair), DATAGRAMS)))
        flooder.start()
        start = time.monotonic()
        answer = pair.run("pingpong", seconds=0.2, timeout=5)
        took = time.monotonic() - start
        flooder.join()
        assert answer["ok"] or answer["error"]["code"] == "timeout", answer
        assert took < 60
        assert serves(pair)
        assert status(pid(pair), "VmRSS") - before < 4096 or SANITIZED
        lost = dropped(port(pair))
        counts = pair.stop()
        # of nine datagrams, six are no header, one has a wrong key, and two are of runs that are not open
        seen = counts["malformed"] + counts["wrong_key"]
        assert (sent[0] - lost) * 0.5 < seen <= sent[0], (counts, lost)


@pytest.mark.full
def test_a_flood_of_garbage_connections_harms_no_run(many_files: None) -> None:
    noise = random.Random(2)
    with Pair("tcp") as pair:
        assert serves(pair)
        before = status(pid(pair), "VmRSS")
        number = pair.start("pingpong", seconds=0.5, timeout=10)
        for _ in range(CONNECTIONS):
            with connect(port(pair)) as stranger, contextlib.suppress(ConnectionError):
                stranger.sendall(noise.randbytes(noise.randrange(200)))
        answer = pair.client.wait(number)
        assert answer["ok"], answer
        assert serves(pair)
        assert wait_until(lambda: at_rest(pair))
        assert status(pid(pair), "VmRSS") - before < 8192 or SANITIZED
        counts = pair.stop()
        assert counts["accepted"] == 3
        assert counts["malformed"] + counts["wrong_key"] == CONNECTIONS, counts


# Clients with the key that do not keep to the protocol: a fault of theirs is theirs alone.


@pytest.mark.parametrize(
    "said",
    [
        b'{"op": 5}\n',
        b"[1, 2]\n",
        b"{}\n",
        b"\xff\xfe\n",
        b'{"op":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    ],
    ids=["a number for the op", "no object", "no op", "no text", "nested deep"],
)
def test_a_client_that_talks_nonsense_ends_its_own_run_alone(said: bytes) -> None:
    """Each of more runs than a server takes at once: none may leave its place taken."""
    with Pair("tcp") as pair:
        for number in range(70):
            with Run(port(pair), run=number) as run:
                assert run.hear() == {"op": "ready"}
                with contextlib.suppress(ConnectionError):
                    run.connection.sendall(said)
                rest_of(run.connection)
        assert serves(pair)
        assert wait_until(lambda: at_rest(pair))


def test_a_client_that_owes_a_figure_is_told() -> None:
    with Pair("udp") as pair, Run(port(pair), pattern="stream", seconds=0.01, warmup_seconds=0, bytes=8) as run:
        assert run.hear() == {"op": "ready"}
        run.say({"op": "begin"})
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
            channel.settimeout(30)
            channel.sendto(header(kind=2, pattern="stream"), (HOST, port(pair)))
            _, data = channel.recvfrom(100)
            channel.sendto(b"12345678", data)
            while run.hear()["op"] != "finished":
                pass
            run.say({"op": "total"})  # without the number of datagrams
            assert run.hear()["error"]["code"] == "internal"
        assert serves(pair)


@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_client_that_opens_a_run_and_says_nothing_is_given_up(pattern: str) -> None:
    with Pair("tcp") as pair, Run(port(pair), pattern=pattern, timeout=0.1) as run:
        assert run.hear() == {"op": "ready"}
        assert run.hear()["error"]["code"] == "timeout"
        assert wait_until(lambda: at_rest(pair))


@pytest.mark.full
def test_a_client_that_stops_reading_is_given_up() -> None:
    """It sends messages to be echoed, and takes none back: the server's sending blocks."""
    with Pair("tcp") as pair, Run(port(pair), bytes=65536, timeout=2) as run:
        assert run.hear() == {"op": "ready"}
        run.say({"op": "begin"})
        with connect(port(pair)) as channel:
            channel.sendall(header(kind=2))
            assert run.hear() == {"op": "begun"}
            run.say({"op": "start"})
            assert run.hear() == {"op": "started"}
            channel.settimeout(1)
            with contextlib.suppress(TimeoutError):
                while True:
                    channel.sendall(bytes(1 << 20))
            assert run.hear()["error"]["code"] == "timeout"
        assert wait_until(lambda: at_rest(pair))
        assert serves(pair)


@pytest.mark.full
def test_a_client_that_stops_sending_is_given_up_in_the_middle_of_a_stream() -> None:
    """Its host may be gone without a word: the server does not wait for the end of an hour's measurement."""
    with Pair("tcp") as pair:
        with Run(port(pair), pattern="stream", seconds=3600, warmup_seconds=0, timeout=2) as run:
            assert run.hear() == {"op": "ready"}
            run.say({"op": "begin"})
            with connect(port(pair)) as channel:
                channel.sendall(header(kind=2, pattern="stream") + bytes(100))
                assert run.hear() == {"op": "begun"}
                assert run.hear()["error"]["code"] == "timeout"
        assert wait_until(lambda: at_rest(pair))


# A machine that is short of something.


@contextlib.contextmanager
def files_left(session: Session, number: int) -> Iterator[None]:
    """The session may open so many files more."""
    soft, hard = resource.prlimit(session.process.pid, resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir(f"/proc/{session.process.pid}/fd")}  # noqa: PTH208
    free = (fd for fd in itertools.count() if fd not in used)
    limit = next(itertools.islice(free, number, None))  # the lowest limit that leaves so many numbers free
    resource.prlimit(session.process.pid, resource.RLIMIT_NOFILE, (limit, hard))
    yield
    resource.prlimit(session.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


@short_of_files
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_serve_without_files_is_refused_and_works_again(transport: str) -> None:
    """However many are left: a server is whole or is none, and one that is whole can be stopped."""
    fields: dict[str, Any] = {"transport": transport, "address": HOST, "key": KEY}
    refused = 0
    with Session() as session:
        before = descriptors(session.process.pid)
        for left in range(6):
            with files_left(session, left):
                answer = session.ask("serve", **fields)
                if answer["ok"]:
                    assert session.ask("stop", server=answer["server"])["ok"]
                else:
                    refused += 1
                    assert answer["error"]["code"] == "limit", answer
                assert session.ask("ping")["ok"]
            assert descriptors(session.process.pid) == before
        assert refused >= 2
        answer = session.ask("serve", **fields)
        assert answer["ok"], answer


@short_of_files
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_run_without_files_is_refused_and_works_again(transport: str) -> None:
    with Pair(transport) as pair:
        assert serves(pair)
        before = descriptors(pair.client.process.pid)
        refused = 0
        for left in range(5):
            with files_left(pair.client, left):
                answer = pair.run("pingpong", seconds=0.01, timeout=10)
                if not answer["ok"]:
                    refused += 1
                    assert answer["error"]["code"] == "limit", answer
                assert pair.client.ask("ping")["ok"]
        assert refused >= 2
        assert wait_until(lambda: descriptors(pair.client.process.pid) <= before)
        assert serves(pair)


@pytest.mark.full
@short_of_files
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_server_without_files_waits_calmly_and_serves_again(transport: str) -> None:
    with Pair(transport) as pair:
        assert serves(pair)
        for left in range(3):
            assert wait_until(lambda: at_rest(pair))
            with files_left(pair.server, left):
                spent = cpu_seconds(pid(pair))
                answer = pair.run("pingpong", seconds=0.01, timeout=2)
                assert answer["ok"] or answer["error"]["code"] in ("timeout", "peer-lost", "refused", "limit"), answer
                assert cpu_seconds(pid(pair)) - spent < 1, "it spins"
                assert pair.server.ask("ping")["ok"]
        assert serves(pair)


def filtered(name: str) -> list[str]:
    """What starts wulf-net under a filter of filtered.py."""
    if platform.machine() not in filtering.CALLS:
        pytest.skip(f"the numbers of system calls on {platform.machine()} are not in filtered.py")
    return [sys.executable, filtering.__file__, name]


@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_device_queue_that_stays_full_holds_up_nothing_for_ever(pattern: str) -> None:
    """ENOBUFS for every datagram of one length."""
    with Pair("udp") as pair, Session(*filtered("full-queue")) as client:
        number = client.send(
            "run", pattern=pattern, **pair.target,
            params={"bytes": filtering.FULL_QUEUE_BYTES, "seconds": 1800, "timeout": 0.5},
        )  # fmt: skip
        answer = client.wait(number, timeout=60)
        if answer["ok"]:  # a run of its own kind of result: every datagram was lost
            assert answer["metrics"]["rtt"]["value"] is None, answer
        else:
            assert answer["error"]["code"] == "timeout", answer
        after = client.ask("run", pattern=pattern, **pair.target, params={"bytes": 8, "seconds": 0.1, "timeout": 10})
        assert after["ok"], after


# Clocks: a step of the wall clock can't be made in a namespace, and the host's is not ours to set.


READS_WALL_CLOCK = {
    "operations.cpp": "the counters' `at`, for people",
    "host_clock.cpp": "one-way delays, which two hosts' clocks have to time, and say so with a bound",
}


def test_no_source_reads_the_wall_clock_but_for_those_that_have_to() -> None:
    """All else is timed with the monotonic clock, which nobody steps."""
    wall = re.compile(r"system_clock|CLOCK_REALTIME|high_resolution_clock|gettimeofday|\btime\(|sleep_until|wait_until")
    found = {
        path.name
        for path in sorted((ROOT / "native").glob("[cn]*/**/*.?pp"))
        for line in path.read_text().splitlines()
        if wall.search(line) and not line.strip().startswith("//")
    }
    assert found <= set(READS_WALL_CLOCK)
    assert "operations.cpp" in found  # the pattern finds what it looks for


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's own threads may wait as they like")
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_nothing_waits_for_a_time_of_the_wall_clock(transport: str) -> None:
    """Server and client run under a filter that kills whoever does, through a run, a time-out and a stop."""
    words = filtered("wall-clock")
    with Session(*words) as server, Session(*words) as client:
        serving = server.ask("serve", transport=transport, address=HOST, key=KEY)
        target = {"transport": transport, "address": HOST, "port": serving["port"], "key": KEY}
        for pattern, more in (("pingpong", {}), ("stream", {"streams": 2}), ("stream", {"rate": 1e5})):
            answer = client.ask("run", pattern=pattern, **target, params={"seconds": 0.1, "timeout": 10, **more})
            assert answer["ok"], answer
        number = client.send("run", pattern="pingpong", **target, params={"seconds": 1800, "timeout": 0.3})
        time.sleep(0.2)
        server.process.send_signal(signal.SIGSTOP)
        error = client.wait(number, timeout=60)["error"]
        server.process.send_signal(signal.SIGCONT)
        assert error["code"] == "timeout"
        assert server.ask("stop", server=serving["server"])["ok"]
        assert (client.close(), server.close()) == (0, 0)


def test_refused_memory_for_a_request_ends_that_request_alone() -> None:
    with Pair("tcp") as pair:
        assert serves(pair)
        _, hard = resource.prlimit(pair.client.process.pid, resource.RLIMIT_AS)
        resource.prlimit(pair.client.process.pid, resource.RLIMIT_AS, (64 << 20, hard))
        if SANITIZED:
            return  # a sanitizer's own memory is beyond any such limit
        answer = pair.run("stream", streams=128, seconds=0.01, timeout=5)  # a thread each, with its stack
        assert not answer["ok"]
        assert answer["error"]["code"] in ("limit", "internal"), answer
        assert pair.client.ask("ping")["ok"]
        resource.prlimit(pair.client.process.pid, resource.RLIMIT_AS, (hard, hard))
        assert serves(pair)
