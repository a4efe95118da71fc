"""A program that speaks ARCHITECTURE.md's session contract, over pipes of this process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any, Self

from bench.engine.errors import BenchError


def once(argv: Sequence[str], op: str, **fields: Any) -> dict[str, Any]:
    """The answer of a session that is started for this request alone, as a peer is started for each of its figures.

    Two launches of one MPI differ by themselves, by 1 to 2 %: one for all of our figures would leave that out of the
    interval, and put it into the ratio.
    """
    with Session(argv) as session:
        return session.request(op, **fields)


class Session:
    """One program; requests one at a time. As a context manager, it is gone at the end, whatever happens.

    Parameters
    ----------
    argv
        Its command line; its standard error is ours.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = list(argv)
        self._pending = b""
        self._next_id = 1
        self._process = subprocess.Popen(
            self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
        )
        try:
            self.greeting = self._read(time.monotonic() + 20)
        except BaseException:
            self.close()
            raise

    def request(self, op: str, timeout: float = 60.0, **fields: Any) -> dict[str, Any]:
        """Ask, and wait for the answer. BenchError when it is a refusal, or does not come."""
        number, self._next_id = self._next_id, self._next_id + 1
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"id": number, "op": op, **fields}).encode() + b"\n")
        except BrokenPipeError as error:
            raise BenchError(f"{self._argv[-1]} has ended") from error
        deadline = time.monotonic() + timeout
        while (answer := self._read(deadline)).get("id") != number:
            pass  # the answer to a request that was given up
        if answer.get("ok") is not True:
            raise BenchError(f"{op}: {answer.get('error')}")
        return answer

    def close(self) -> None:
        """Close its input; kill whatever is left of it after two seconds."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, deadline: float) -> dict[str, Any]:
        assert self._process.stdout
        while b"\n" not in self._pending:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                raise BenchError(f"no answer in time from {' '.join(self._argv)}")
            read = os.read(self._process.stdout.fileno(), 1 << 16)
            if not read:
                raise BenchError(f"ended without an answer: {' '.join(self._argv)}")
            self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        message = json.loads(line)
        if not isinstance(message, dict):
            raise BenchError(f"not an answer: {line!r}")
        return message
