"""Functions of which any may hang, called side by side, each until its deadline.

A file system whose server is gone holds whoever asks in the kernel, where not even SIGKILL reaches it. So each function
runs in a process of its own, and nobody waits for one that stays.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

Clock = Callable[[], float]


@dataclass(frozen=True)
class Answer:
    """What a function returned (anything that JSON holds), or the words of its exception; or that time was over."""

    value: Any = None
    error: str = ""
    late: bool = False


@dataclass
class _Child:
    pid: int
    deadline: float
    heard: bytes = b""


def call_all(
    functions: Mapping[str, tuple[Callable[[], Any], float]], until: float, clock: Clock = time.monotonic
) -> dict[str, Answer]:
    """Call them side by side.

    Parameters
    ----------
    functions
        Name → the function, and the seconds that it may take.
    until
        When time is over for all, by ``clock``.
    """
    answers: dict[str, Answer] = {}
    with selectors.DefaultSelector() as pipes:
        for name, (function, seconds) in functions.items():
            child, pipe = _begin(function)
            pipes.register(pipe, selectors.EVENT_READ, (name, _Child(child, min(clock() + seconds, until))))
        while pipes.get_map():
            _hear(pipes, answers, clock)
            _give_up(pipes, answers, clock)
    return {name: answers[name] for name in functions}


def _begin(function: Callable[[], Any]) -> tuple[int, int]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _answer(function, writer)
    os.close(writer)
    os.set_blocking(reader, False)
    return child, reader


def _answer(function: Callable[[], Any], writer: int) -> NoReturn:
    """In the child: nothing of the parent's is kept open, for who waits for the parent waits for its output's end."""
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            said = {"value": function()}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            said = {"error": str(error) or type(error).__name__}
        with os.fdopen(writer, "w") as pipe:
            json.dump(said, pipe)
    finally:
        os._exit(0)


def _hear(pipes: selectors.BaseSelector, answers: dict[str, Answer], clock: Clock) -> None:
    """Take in what has been said until the next deadline; a child that closes its end has said all."""
    nearest = min(key.data[1].deadline for key in pipes.get_map().values())
    for key, _ in pipes.select(max(0.0, nearest - clock())):
        name, child = key.data
        if part := os.read(key.fd, 65536):
            child.heard += part
            continue
        pipes.unregister(key.fd)
        os.close(key.fd)
        os.waitpid(child.pid, 0)  # it said all, and exits
        answers[name] = Answer(**json.loads(child.heard)) if child.heard else Answer(error="it died without an answer")


def _give_up(pipes: selectors.BaseSelector, answers: dict[str, Answer], clock: Clock) -> None:
    for key in [key for key in pipes.get_map().values() if key.data[1].deadline <= clock()]:
        name, child = key.data
        pipes.unregister(key.fd)
        os.close(key.fd)
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, os.WNOHANG)  # one that the kernel holds stays, and is init's to reap
        answers[name] = Answer(late=True)
