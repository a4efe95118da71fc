"""Drives a session of a built program over its pipes, as a launcher does."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any, Self

from tests.processes import PATIENCE, wait_until
from wulf.cluster.answers import fault

ROOT = Path(__file__).resolve().parents[3]
STANDSTILL = 20.0
"""Seconds without anything moving, which a busy machine does not reach either."""

KEY = "00112233445566778899aabbccddeeff"
OTHER_KEY = "00112233445566778899aabbccddeefe"


def binary(program: str = "wulf-net") -> Path:
    """The built program: $WULF_NET (and the like), the build folder, or the one inside the package."""
    candidates = [
        ROOT / "build/native" / program,
        ROOT / "src/wulf/programs" / platform.machine() / program,
    ]
    chosen = program.replace("-", "_").upper()
    if chosen in os.environ:
        candidates = [Path(os.environ[chosen])]
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{program} is not built: none of {[str(path) for path in candidates]}; run `make build`")


class Session:
    """One process; answers are matched to requests by their id. `words`: a command that starts the program."""

    def __init__(self, *words: str | Path, program: str = "wulf-net", path: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [*words, path or binary(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._answers: dict[int | None, dict[str, Any]] = {}
        self._asked: dict[int | None, str] = {}
        self._last = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.hello = self._next(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def _next(self, timeout: float) -> dict[str, Any]:
        line = self._lines.get(timeout=timeout)
        if line is None:
            raise EOFError("the program ended")
        return line

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def send(self, op: str, **fields: Any) -> int:
        """Sends a request and returns its id."""
        self._last += 1
        self._asked[self._last] = op
        self.write(json.dumps({"id": self._last, "op": op, **fields}) + "\n")
        return self._last

    def wait(self, number: int | None, timeout: float = PATIENCE) -> dict[str, Any]:
        """The answer to that request, whatever else arrives before it: a good one has the shape of its operation."""
        while number not in self._answers:
            line = self._next(timeout)
            self._answers[line["id"]] = line
        answer = self._answers.pop(number)
        if answer["ok"]:
            found = fault(self.hello["hello"], self._asked.pop(number, ""), answer)
            assert found is None, found
        return answer

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        return self.wait(self.send(op, **fields))

    def close(self, timeout: float = PATIENCE) -> int:
        """Closes stdin; returns the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()  # a program that was started by way of another still reads it
        self._reader.join()


MEASURING = 0.05
"""Seconds of CPU time that no opening of a run takes."""


def _cpu_seconds(session: Session) -> float:
    fields = Path(f"/proc/{session.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # proc(5): utime, stime


class Pair:
    """A server's session and a client's, and the server's address."""

    def __init__(self, transport: str, address: str = "127.0.0.1") -> None:
        self.server = Session()
        self.client = Session()
        self.transport = transport
        self.serving = self.server.ask("serve", transport=transport, address=address, key=KEY)
        assert self.serving["ok"], self.serving

    @property
    def target(self) -> dict[str, Any]:
        """The fields of `run` that say whom to measure."""
        return {
            "transport": self.transport,
            "address": self.serving["address"],
            "port": self.serving["port"],
            "key": KEY,
        }

    def start(self, pattern: str, **params: Any) -> int:
        return self.client.send("run", pattern=pattern, **self.target, params={"timeout": STANDSTILL, **params})

    def start_and_see_running(self, pattern: str, **params: Any) -> int:
        """Start a run, and wait until it measures: both ends then take far more CPU time than an opening does."""
        enough = {end: _cpu_seconds(end) + MEASURING for end in (self.client, self.server)}
        number = self.start(pattern, **params)
        measures = wait_until(lambda: all(_cpu_seconds(end) >= least for end, least in enough.items()), PATIENCE)
        assert measures, "the run did not get to measuring"
        return number

    def run(self, pattern: str, **params: Any) -> dict[str, Any]:
        return self.client.wait(self.start(pattern, **params))

    def stop(self) -> dict[str, Any]:
        return self.server.ask("stop", server=self.serving["server"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__()
        self.server.__exit__()
