"""A client of wulf-net's wire protocol that may misbehave, and what can be seen of a server from outside."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Any

from .session import KEY

HOST = "127.0.0.1"


def header(
    key: str = KEY, kind: int = 1, *, run: int = 7, channel: int = 0, pattern: str = "pingpong", params: bytes = b""
) -> bytes:
    """The fixed header of native/net/wire/header.hpp, sealed. `kind`: 1 control, 2 data; `params`: what follows it."""

    def filled(seal: bytes) -> bytes:
        name = pattern.encode()
        return struct.pack(">8sHBxI16sQ16sI4x", b"wulf-net", 2, kind, channel, seal, run, name, len(params))

    return filled(hashlib.blake2b(filled(b"") + params, key=bytes.fromhex(key), digest_size=16).digest())


def connect(port: int) -> socket.socket:
    return socket.create_connection((HOST, port), timeout=30)


def rest_of(connection: socket.socket) -> bytes:
    """All that the server says before it closes."""
    said = b""
    try:
        while part := connection.recv(65536):
            said += part
    except (ConnectionResetError, BrokenPipeError):
        pass
    return said


class Run:
    """A run's conversation, opened by hand with the right key."""

    def __init__(self, port: int, *, run: int = 7, pattern: str = "pingpong", **params: Any) -> None:
        text = json.dumps(params).encode()
        self.opening = header(run=run, pattern=pattern, params=text) + text
        self.connection = connect(port)
        self.connection.sendall(self.opening)
        self._lines = self.connection.makefile("rb")

    def say(self, message: Any) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """The server's next message; EOFError when it has closed."""
        line = self._lines.readline()
        if not line:
            raise EOFError("the server closed the control connection")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._lines.close()
        self.connection.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Listener:
    """A place on the way to a server's port that hears all that both ends say."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._door = socket.create_server((HOST, 0))
        self.port = int(self._door.getsockname()[1])
        self.said: list[bytearray] = []
        """By the client, a connection each."""
        self.answered: list[bytearray] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the door is closed
            while True:
                client, server = self._door.accept()[0], connect(self._target)
                for way, heard in (((client, server), self.said), ((server, client), self.answered)):
                    heard.append(bytearray())
                    threading.Thread(target=self._carry, args=(*way, heard[-1]), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket, heard: bytearray) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                heard += part
                target.sendall(part)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()


def status(pid: int, field: str) -> int:
    """A figure of /proc/PID/status: VmRSS and VmHWM in KiB, Threads."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208


def cpu_seconds(pid: int) -> float:
    """User and system time of the process, proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


IDLE_THREADS = {"tcp": 4, "udp": 5}
"""Of a server without clients: reader, dispatcher, parent's guard, acceptor; and for UDP, the intake."""
