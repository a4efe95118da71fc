"""Runs the peers on a node of the lab: a session that starts programs and ends with them. Standard library only.

It is started with `python inside.py` inside the node, so that a peer costs a fork and no more when it is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LISTENING = {"tcp": "0A", "udp": "07"}
"""States in /proc/net/tcp and /proc/net/udp of a socket that waits for clients."""


class Failure(Exception):  # noqa: N818 - it becomes an answer
    """A request can't be carried out."""


class Programs:
    """What has been started and not yet stopped."""

    def __init__(self) -> None:
        self._running: dict[int, subprocess.Popen[str]] = {}

    def start(self, argv: list[str]) -> dict[str, Any]:
        """Start a server."""
        process = _popen(argv)
        self._running[process.pid] = process
        return {"pid": process.pid}

    def stop(self, pid: int) -> dict[str, Any]:
        """Kill it; what it has printed."""
        process = self._running.pop(pid)
        _kill(process)
        return {"output": process.communicate()[0]}

    def stop_all(self) -> None:
        """Kill them all."""
        for pid in list(self._running):
            self.stop(pid)

    def run(self, argv: list[str], seconds: float) -> dict[str, Any]:
        """A program to its end."""
        process = _popen(argv)
        try:
            output = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            _kill(process)
            raise Failure(f"{argv} did not end within {seconds:g} s: {process.communicate()[0][-500:]}") from None
        if process.returncode != 0:
            raise Failure(f"{argv} ended with {process.returncode}: {output[-500:]}")
        return {"output": output}


def _popen(argv: list[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            process_group=0,
        )  # fmt: skip
    except OSError as error:
        raise Failure(f"can't run {argv[0]}: {error.strerror}") from error


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def await_listener(protocol: str, port: int, seconds: float) -> dict[str, Any]:
    """Until a socket of this node waits at the port; asked of the kernel, since a connection would disturb a peer."""
    deadline = time.monotonic() + seconds
    while not _listens(protocol, port):
        if time.monotonic() > deadline:
            raise Failure(f"nobody listens at {protocol} port {port} after {seconds:g} s")
        time.sleep(0.005)
    return {}


def _listens(protocol: str, port: int) -> bool:
    for table in (protocol, protocol + "6"):
        with contextlib.suppress(FileNotFoundError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                if state == LISTENING[protocol] and int(local.rpartition(":")[2], 16) == port:
                    return True
    return False


def status(pid: int) -> dict[str, Any]:
    """A process as /proc/PID/status describes it."""
    try:
        return {"output": Path(f"/proc/{pid}/status").read_text()}
    except OSError as error:
        raise Failure(f"process {pid}: {error.strerror}") from error


def main() -> None:
    """Answer until standard input ends."""
    programs = Programs()
    ops: dict[str, Callable[..., dict[str, Any]]] = {
        "start": programs.start, "stop": programs.stop, "run": programs.run,
        "listening": await_listener, "status": status,
    }  # fmt: skip
    print(json.dumps({"hello": "bench", "pid": os.getpid()}), flush=True)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            number, op = request.pop("id"), request.pop("op")
            try:
                answer = {"ok": True, **ops[op](**request)}
            except Failure as failure:
                answer = {"ok": False, "error": str(failure)}
            print(json.dumps({"id": number, **answer}), flush=True)
    finally:
        programs.stop_all()


if __name__ == "__main__":
    main()
