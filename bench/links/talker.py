"""`python -m bench.links.talker KIND SEED OWN NODE=ADDRESS …`: one node's part of a load, until it is killed.

`bulk`: streams between pairs, whose pattern changes every few seconds, and that need not be the same both ways.
`requests`: clients that read and write 4 to 64 KiB of one or two servers over persistent connections, as NFS does, and
think between. Each node draws the pattern from the same seed, so that nobody has to tell the others.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

PORT = {"bulk": 7078, "requests": 2049}

EPOCH = 1.0
"""Seconds for which a pattern of streams holds."""

MOST_STREAMS = 1
"""Out of a node at a time."""

CHUNK = bytes(1 << 16)
LEAST_REQUEST, MOST_REQUEST = 4 << 10, 64 << 10
THINK = 0.1
"""Seconds that a client thinks between two requests, on average."""

MOUNTS = 2
"""Connections of a client to each server."""

SERVERS = 2
PATIENCE = 30.0
"""Seconds that the others may take to listen."""

_REQUEST = struct.Struct("!cI")
_READ, _WRITE = b"r", b"w"


def streams(seed: int, epoch: int, own: str, nodes: Sequence[str]) -> list[str]:
    """To whom a node sends in one epoch; about a third of them only receive."""
    drawn = random.Random(f"{seed} {epoch} {own}")
    if drawn.random() < 1 / 3:
        return []
    others = [node for node in nodes if node != own]
    return drawn.sample(others, drawn.randint(1, min(MOST_STREAMS, len(others))))


def servers(seed: int, nodes: Sequence[str]) -> list[str]:
    """Who serves requests: `SERVERS` of the nodes."""
    return random.Random(f"{seed} servers").sample(list(nodes), SERVERS)


def bulk(seed: int, own: str, addresses: Mapping[str, str]) -> None:
    """Send to whom the epoch's pattern has; a connection with each node is open all the time."""
    _serve(addresses[own], PORT["bulk"], _drain)
    began = time.monotonic()
    for peer in addresses:
        if peer != own:
            threading.Thread(target=_stream, args=(seed, own, peer, addresses, began), daemon=True).start()


def _stream(seed: int, own: str, peer: str, addresses: Mapping[str, str], began: float) -> None:
    link = _connected(addresses[peer], PORT["bulk"])
    while True:
        since = time.monotonic() - began
        if peer in streams(seed, int(since / EPOCH), own, list(addresses)):
            link.sendall(CHUNK)
        else:
            time.sleep(EPOCH - since % EPOCH)


def requests(seed: int, own: str, addresses: Mapping[str, str]) -> None:
    """Serve, or ask the servers."""
    known = servers(seed, list(addresses))
    if own in known:
        _serve(addresses[own], PORT["requests"], _answer)
        return
    for number, server in enumerate(known * MOUNTS):
        words = (f"{seed} {own} {number}", addresses[server])
        threading.Thread(target=_ask, args=words, daemon=True).start()


def _ask(seed: str, server: str) -> None:
    drawn, link = random.Random(seed), _connected(server, PORT["requests"])
    while True:
        time.sleep(drawn.expovariate(1 / THINK))
        size, reads = drawn.randint(LEAST_REQUEST, MOST_REQUEST), drawn.random() < 0.5
        link.sendall(_REQUEST.pack(_READ if reads else _WRITE, size) + (b"" if reads else bytes(size)))
        _take(link, size if reads else 1)


def _answer(link: socket.socket) -> None:
    while True:
        kind, size = _REQUEST.unpack(_take(link, _REQUEST.size))
        if kind == _READ:
            link.sendall(bytes(size))
        else:
            _take(link, size)
            link.sendall(b".")


def _drain(link: socket.socket) -> None:
    while link.recv(1 << 16):
        pass


def _take(link: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = link.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionResetError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _connected(address: str, port: int) -> socket.socket:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            link = socket.create_connection((address, port))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link


def _serve(address: str, port: int, with_each: Callable[[socket.socket], None]) -> None:
    server = socket.create_server((address, port), backlog=64)

    def one(link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            with_each(link)

    def accept() -> None:
        while True:
            threading.Thread(target=one, args=server.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def main(words: Sequence[str]) -> None:
    """Ends with its stdin, so that nothing is left where ssh is killed."""
    kind, seed, own, *nodes = words
    addresses = dict(word.split("=") for word in nodes)
    {"bulk": bulk, "requests": requests}[kind](int(seed), own, addresses)
    print("talking", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
