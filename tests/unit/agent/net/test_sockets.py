"""The kernel's account of sockets, decoded: an answer of sock_diag that was recorded on Linux 6.18."""

from __future__ import annotations

import socket
from base64 import b64decode
from pathlib import Path

import pytest

from wulf.agent.net.sockets import ESTABLISHED, LISTEN, decoded, text_of
from wulf.agent.session import Refused

RECORDED = b64decode((Path(__file__).parent / "sock_diag.b64").read_text())
"""A listener on 127.0.0.1:47077, and both ends of one connection to it, over which 40 messages of 20,000 bytes went."""


def test_a_recorded_answer() -> None:
    (listener, client, server), last = decoded(RECORDED)
    assert last
    assert (listener.state, listener.port, listener.info) == (LISTEN, 47077, None)
    assert (client.state, client.port, client.peer_port) == (ESTABLISHED, 41806, 47077)
    assert text_of(client.family, client.peer) == "127.0.0.1"
    assert client.info is not None
    assert server.info is not None
    assert (client.info.bytes_acked, server.info.bytes_received) == (800_001, 800_000)  # the SYN counts as one
    assert (client.info.data_segs_out, client.info.delivered, client.info.total_retrans) == (40, 41, 0)
    assert (client.info.rtt, client.info.min_rtt, client.info.snd_wnd) == (11, 1, 391_168)
    assert len({listener.cookie, client.cookie, server.cookie}) == 3


def test_sockets_of_one_length_may_be_laid_out_differently() -> None:
    info = RECORDED.index(b"\x1c\x01\x02\x00", 408)
    begin, end = 408, 408 + int.from_bytes(RECORDED[408:412], "little")
    fixed, before, own, behind = begin + 88, RECORDED[begin + 88 : info], RECORDED[info : info + 284], info + 284
    moved = RECORDED[begin:fixed] + own[:280] + before + RECORDED[behind - 4 : end]
    assert len(moved) == end - begin
    (client,), _ = decoded(RECORDED[begin:end])
    found, _ = decoded(RECORDED[begin:end] + moved + RECORDED[begin:end])
    assert [one.info for one in found] == [client.info] * 3


def test_the_last_part_says_so() -> None:
    assert decoded(RECORDED)[1]
    assert decoded(RECORDED[:-20]) == (decoded(RECORDED)[0], False)


def test_the_kernels_refusal_is_raised_with_its_reason() -> None:
    refusal = (36).to_bytes(4, "little") + b"\x02\0" + bytes(10) + (-1).to_bytes(4, "little", signed=True) + bytes(16)
    with pytest.raises(PermissionError, match="not permitted"):
        decoded(refusal)


def test_a_kernel_that_counts_too_little_is_refused() -> None:
    info = RECORDED.index(b"\x1c\x01\x02\x00", 408)  # the client's INET_DIAG_INFO of 280 bytes
    short = RECORDED[408:info] + (196).to_bytes(2, "little") + RECORDED[info + 2 : info + 196]
    with pytest.raises(Refused, match=r"Linux 4\.18"):
        decoded(len(short).to_bytes(4, "little") + short[4:])


@pytest.mark.parametrize(
    ("family", "address", "text"),
    [
        (socket.AF_INET, bytes([10, 0, 0, 3]) + bytes(12), "10.0.0.3"),
        (socket.AF_INET6, bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 3]), "10.0.0.3"),
        (socket.AF_INET6, bytes(15) + b"\x01", "::1"),
    ],
)
def test_addresses(family: int, address: bytes, text: str) -> None:
    assert text_of(family, address) == text
