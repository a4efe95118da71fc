"""The decoder against the kernel's own tcp_info of a socket at hand, and what a poll of 1,000 sockets costs."""

from __future__ import annotations

import json
import resource
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from wulf.agent.net.sockets import dump
from wulf.agent.net.traffic import Traffic
from wulf.measure.net.traffic import groups_of

WHERE = {
    "rtt": (68, "I"), "snd_cwnd": (80, "I"), "total_retrans": (100, "I"), "bytes_acked": (120, "Q"),
    "bytes_received": (128, "Q"), "segs_out": (136, "I"), "min_rtt": (148, "I"), "data_segs_out": (156, "I"),
    "busy_time": (168, "Q"), "rwnd_limited": (176, "Q"), "sndbuf_limited": (184, "Q"), "delivered": (192, "I"),
    "dsack_dups": (216, "I"), "snd_wnd": (228, "I"),
}  # fmt: skip
"""Where struct tcp_info has them (linux/tcp.h)."""


DELAYED_ACK_S = 0.1
"""Until all that was sent is acknowledged, on a busy machine, too (Linux waits 40 ms at least)."""


@pytest.fixture
def connections() -> Iterator[list[socket.socket]]:
    """Both ends of 500 connections to one port of this machine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2048)), hard))
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=16))
        ends = []
        for _ in range(500):
            ends.append(stack.enter_context(socket.create_connection(server.getsockname())))
            ends.append(stack.enter_context(server.accept()[0]))
        yield ends
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_figures_are_those_of_tcp_info(connections: list[socket.socket]) -> None:
    one = connections[0]
    one.sendall(bytes(100_000))
    time.sleep(0.2)
    info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (found,) = (own.info for own in dump() if own.port == one.getsockname()[1])
    assert found is not None
    said = {name: struct.unpack_from(f"={kind}", info, at)[0] for name, (at, kind) in WHERE.items()}
    assert {name: getattr(found, name) for name in WHERE} == said
    assert found.bytes_acked > 60_000


def test_a_poll_of_a_thousand_sockets(connections: list[socket.socket]) -> None:
    """Each 10 s, 10 ms of CPU are a thousandth of a core. Held to five times that, as the machine is everybody's."""
    polling, port = Traffic(), connections[0].getpeername()[1]
    polling.poll()
    costs = []
    for _ in range(5):
        for one in connections:
            one.sendall(bytes(1000))
        time.sleep(DELAYED_ACK_S)
        before = time.process_time()
        answer = polling.poll()
        costs.append(time.process_time() - before)
    told = [group for group in groups_of(answer["groups"]) if group["port"] == port]
    assert sum(group["sockets"] for group in told) == 1000
    assert sum(group["acked"] for group in told) == pytest.approx(1_000_000, rel=0.05)
    print(f"a poll of 1,000 sockets: {min(costs) * 1e3:.1f} ms of CPU, {min(costs) / 10:.3%} of a core each 10 s")
    assert min(costs) < 0.05


def test_a_poll_of_sockets_that_each_have_another_peer(connections: list[socket.socket]) -> None:
    """As many groups as sockets: 250 connections, each to a listener of its own; JSON and all."""
    polling = Traffic()
    with ExitStack() as stack:
        ends = []
        for _ in range(250):
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            ends.append(stack.enter_context(socket.create_connection(server.getsockname())))
            ends.append(stack.enter_context(server.accept()[0]))
        polling.poll()
        costs = []
        for _ in range(5):
            for one in ends:
                one.sendall(bytes(1000))
            before = time.process_time()
            text = json.dumps(polling.poll())
            costs.append(time.process_time() - before)
    assert len(json.loads(text)["groups"]["peer"]) >= 500
    print(f"a poll of 500 sockets of 500 peers beside 1,000 idle ones: {min(costs) * 1e3:.1f} ms of CPU")
    assert min(costs) < 0.05
