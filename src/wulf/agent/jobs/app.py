"""Runs applications on this node: in a folder of their own, for a limited time, with a limited output.

`app_run` is one run. Where ranks on several nodes need files, each node makes the folder (`app_folder`) and the files
(`app_file`) first, and removes them afterwards (`app_clear`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import wulf
from wulf.agent.counting import difference, snapshot
from wulf.agent.jobs.job import START
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 1 << 20
"""Bytes of an output that are kept: the first half and the last half of so many."""

MOST_STDERR = 1 << 16

GRACE = 20.0
"""Seconds that all it started may take to end once it was ended: its supervisor kills what is left after 5."""

PIPE = 1 << 20
"""Bytes that wait for us: more than the usual 64 KiB, so that an application that writes much is not held up."""

OWN = Path(f"wulf-{os.getuid()}")
"""Of the temporary files, the folder of this user's."""

_F_SETPIPE_SZ = 1031  # linux/fcntl.h; Python has the name from 3.10 on

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")

_folders: set[Path] = set()
_lock = threading.Lock()


class StreamEnds:
    """The first and the last bytes of a stream of any length, in a memory of `most` bytes."""

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head, self._tail = bytearray(), bytearray()
        self.seen = 0

    def take(self, more: bytes) -> None:
        """The next bytes."""
        self.seen += len(more)
        room = self._half - len(self._head)
        self._head += more[:room]
        self._tail += more[room:] if room < len(more) else b""
        if len(self._tail) > 2 * self._half:  # now and then: each byte is moved once on average
            del self._tail[: -self._half]

    @property
    def lost(self) -> int:
        """Bytes between what is kept."""
        return max(0, self.seen - 2 * self._half)

    def text(self) -> str:
        """What is kept, with a line that says what is not."""
        tail = bytes(self._tail[-self._half :])
        gap = f"\n… {self.lost} bytes left out …\n".encode() if self.lost else b""
        return (bytes(self._head) + gap + tail).decode(errors="replace")


def app_folder(name: Any, place: Any = None) -> dict[str, Any]:
    """{"op": "app_folder", "name": "job-1"}: a folder for one run, in `place` or among the temporary files."""
    above = Path(place) if place else Path(tempfile.gettempdir(), OWN, "jobs")
    folder = above / _checked(name)
    try:
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = not folder.is_dir()
        folder.mkdir(mode=0o700, exist_ok=True)
        # /tmp is everybody's: who owns a folder above ours could put another in its place
        for path in (folder, above, above.parent if above.parent.name == OWN.name else above):
            if path.lstat().st_uid != os.getuid():
                raise Refused("limit", f"{path} belongs to somebody else", "place")
    except OSError as error:
        raise Refused("limit", f"{folder} can't be made: {error.strerror}", "place") from error
    with _lock:
        _folders.add(folder)
    return {"folder": str(folder), "place": str(above), "fresh": fresh}


def app_file(folder: Any, name: Any, text: Any, append: Any = False) -> dict[str, Any]:
    """{"op": "app_file", "folder": …, "name": "HPL.dat", "text": …}: a file there, or more of it."""
    target = Path(folder) / _checked(name)
    try:
        with target.open("a" if append else "w", encoding="utf-8") as file:
            file.write(str(text))
    except OSError as error:
        raise Refused("limit", f"{target} can't be written: {error.strerror}", "name") from error
    return {}


def app_clear(folder: Any) -> dict[str, Any]:
    """{"op": "app_clear", "folder": …}: a folder that `app_folder` made here is gone, with all that is in it."""
    with _lock:
        known = Path(folder) in _folders
        _folders.discard(Path(folder))
    if known:
        shutil.rmtree(folder, ignore_errors=True)
    return {}


def app_outputs(folder: Any, outputs: Any, most: Any = MOST) -> dict[str, Any]:
    """{"op": "app_outputs", "folder": …, "outputs": ["hpccoutf.txt"]}: what ranks of this node have written there."""
    return {"files": _outputs(Path(folder), outputs, int(most))}


def clear_all() -> None:
    """Remove every folder that this session made and has not removed."""
    for folder in list(_folders):
        app_clear(str(folder))


def app_counters() -> dict[str, Any]:
    """{"op": "app_counters"}: what this node has counted so far: CPUs, network, faults."""
    return {"at": time.monotonic(), "counters": snapshot()}


def app_run(
    *,
    command: Any,
    files: Any = None,
    environment: Any = None,
    outputs: Any = None,
    timeout: Any = 600.0,
    most: Any = MOST,
    folder: Any = None,
) -> dict[str, Any]:
    """{"op": "app_run", "command": ["xhpl"], "files": {"HPL.dat": "…"}, "timeout": 60}: one run of a program.

    Answered with "status" or "signal", "seconds", "timed_out", "stdout", "stderr", "files" (of `outputs`, those that
    there are), "counters" (of this node, by how much they changed), "usage"; "error" alone where it can't be started.
    """
    words = _checked_words(command)
    own = app_folder(f"run-{os.getpid()}-{secrets.token_hex(6)}")["folder"] if folder is None else None
    where = Path(folder if own is None else own)
    try:
        for name, text in (files or {}).items():
            app_file(str(where), name, text)
        before = snapshot()
        ran = _run(words, where, environment or {}, _seconds(timeout), int(most))
        counted = difference(before, snapshot())
        return {**ran, "counters": counted, "files": _outputs(where, outputs or [], int(most))}
    finally:
        if own is not None:
            app_clear(own)


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refused("bad-parameter", f"{name!r} is no plain file name: letters, digits, _ . + -", "name")
    return name


def _checked_words(command: Any) -> list[str]:
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise Refused("bad-parameter", f"command must be a program and its words, not {command!r}", "command")
    return command


def _seconds(timeout: Any) -> float:
    if not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise Refused("bad-parameter", f"timeout must be a number of seconds above 0, not {timeout!r}", "timeout")
    return float(timeout)


def _run(words: list[str], folder: Path, environment: Mapping[str, str], timeout: float, most: int) -> dict[str, Any]:
    """Start the supervisor, keep what comes, and let go of its input when the time is over."""
    told, tell = os.pipe()
    try:
        job = subprocess.Popen(
            [sys.executable, "-S", "-c", START, str(Path(wulf.__file__).parent.parent), str(tell), *words],
            cwd=folder, env={**os.environ, **environment}, pass_fds=(tell,), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        os.close(told)
        return {"error": f"{error.filename or folder}: {error.strerror}"}
    finally:
        os.close(tell)
    with job, os.fdopen(told, "rb") as report:
        assert job.stdin and job.stdout and job.stderr  # noqa: S101 - asked for above
        streams = {job.stdout: StreamEnds(most), job.stderr: StreamEnds(MOST_STDERR)}
        timed_out = not _drain(streams, report, timeout)
        job.stdin.close()
        if timed_out and not _drain(streams, report, GRACE):
            os.killpg(job.pid, 9)
        out, err = streams[job.stdout], streams[job.stderr]
        ended: dict[str, Any] = json.loads(report.read() or b'{"status": null, "signal": "SIGKILL", "seconds": null}')
    if "error" in ended:
        return ended
    flood = {"flooded": True} if out.lost or err.lost else {}
    seen = {"stdout": out.seen, "stderr": err.seen}
    return {**ended, "timed_out": timed_out, "stdout": out.text(), "stderr": err.text(), "bytes": seen, **flood}


def _drain(streams: Mapping[IO[bytes], StreamEnds], report: IO[bytes], patience: float) -> bool:
    """Keep what the streams carry until all of them end, and the report is there; False: the time was over before."""
    deadline = time.monotonic() + patience
    with selectors.DefaultSelector() as waiting:
        for stream in streams:
            if not stream.closed:
                os.set_blocking(stream.fileno(), False)
                with contextlib.suppress(OSError):  # where the user has used up what may wait in pipes
                    fcntl.fcntl(stream, _F_SETPIPE_SZ, PIPE)
                waiting.register(stream, selectors.EVENT_READ)
        waiting.register(report, selectors.EVENT_READ)
        while waiting.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in waiting.select(left):
                if key.fileobj is report:
                    waiting.unregister(report)
                    continue
                more = os.read(key.fd, 1 << 18)
                streams[key.fileobj].take(more)  # type: ignore[index]
                if not more:
                    waiting.unregister(key.fileobj)
    return True


def _outputs(folder: Path, names: list[str], most: int) -> dict[str, str]:
    """The files that there are, each in its first and last part where it is long."""
    found = {}
    for name in names:
        try:
            with (folder / _checked(name)).open("rb") as file:
                kept = StreamEnds(most)
                while more := file.read(1 << 18):
                    kept.take(more)
        except OSError:  # the application did not write it: what reads it says so
            continue
        found[name] = kept.text()
    return found
