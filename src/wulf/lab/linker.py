"""The lab's wulf-link: one process for all emulated links, asked over two named pipes in the lab's directory."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError
from wulf.core.programs import program_path

from .state import INSIDE, alive, identify, kill

PROGRAM = "wulf-link"
PATIENCE_S = 20.0
"""For one answer; what is asked for takes milliseconds."""
NEXT_STEP = "`wulf lab set NODE …` starts it anew; `wulf lab down`, then `wulf lab up`, make a fresh lab."


def start(directory: Path, init: dict[str, Any]) -> dict[str, Any]:
    """Start it in the lab whose first process is `init`: {"pid", "start", "added"}, as lab.json keeps it.

    "added" is what it measured itself to add to a frame's way at zero setting: value, low and high in seconds.

    Raises
    ------
    LabError, UsageError
        It can't start, or has not been built.
    """
    program = program_path(PROGRAM)
    for name in ("link.in", "link.out"):
        (directory / name).unlink(missing_ok=True)
        os.mkfifo(directory / name, 0o600)
    words = [sys.executable, "-I", "-S", INSIDE, "link", init["pid"], init["start"], program.resolve(), directory]
    started = subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False
    )
    if started.returncode != 0:
        raise LabError(f"{PROGRAM} can't start in the lab: {started.stderr.strip()}")
    try:
        process = identify(int(started.stdout))
    except ProcessLookupError as error:
        log = (directory / "link.log").read_text(errors="replace").strip()
        raise LabError(f"{PROGRAM} can't start in the lab: {log or error}") from error
    try:
        return {**process, "added": request(directory, "calibrate")["added"]}
    except LabError as error:
        kill(process)
        log = (directory / "link.log").read_text(errors="replace").strip()
        raise LabError(f"{log or error.what}: the lab can't emulate links", error.next_step) from error


def is_alive(linker: dict[str, Any] | None) -> bool:
    """Whether the process that `start` returned still runs; False for None."""
    return linker is not None and alive(linker)


def request(directory: Path, op: str, **fields: Any) -> dict[str, Any]:
    """Ask the lab's wulf-link; LabError with its reason, or when it has ended."""
    with _pipes(directory) as (requests, answers):
        number = secrets.randbelow(1 << 31)
        os.write(requests, json.dumps({"id": number, "op": op, **fields}).encode() + b"\n")
        for line in _lines(answers):
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") != number or "ok" not in answer:
                continue  # the greeting, or an answer to somebody who was killed before it came
            if not answer["ok"]:
                raise LabError(f"{PROGRAM}: {answer['error']['message']}", _advice(answer["error"]["message"]))
            return answer
    raise LabError(f"{PROGRAM} has ended, and with it every emulated link of the lab", NEXT_STEP)


def _advice(message: str) -> str:
    if "/dev/net/tun" not in message:
        return ""
    return "Run as root, have /dev/net/tun opened to all (mode 0666), or leave the emulation out; --rate needs none."


@contextlib.contextmanager
def _pipes(directory: Path) -> Iterator[tuple[int, int]]:
    """Both pipes, ours alone while the context lasts."""
    opened = []
    try:
        try:
            opened.append(os.open(directory / "link.in", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
            opened.append(os.open(directory / "link.out", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as error:
            if error.errno not in (errno.ENXIO, errno.ENOENT):
                raise
            raise LabError(f"{PROGRAM} has ended, and with it every emulated link of the lab", NEXT_STEP) from None
        fcntl.flock(opened[0], fcntl.LOCK_EX)
        yield opened[0], opened[1]
    finally:
        for fd in opened:
            os.close(fd)


def _lines(answers: int) -> Iterator[bytes]:
    """Lines as they come, until it ends; LabError when none comes in time."""
    deadline = time.monotonic() + PATIENCE_S
    pending = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([answers], [], [], left)[0]:
            raise LabError(f"{PROGRAM} doesn't answer within {PATIENCE_S:.0f} s", "This machine may be overloaded.")
        got = os.read(answers, 1 << 16)
        if not got:
            return
        *whole, pending = (pending + got).split(b"\n")
        yield from whole
