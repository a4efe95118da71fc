"""What a unit test may not do: being exact and instant, it starts no process, waits for no clock, asks no network."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from typing import Any, NoReturn

import pytest

PROCESSES = ((subprocess.Popen, "__init__"), (os, "fork"), (os, "posix_spawn"), (os, "system"))


def _no_process(*_: Any, **__: Any) -> NoReturn:
    pytest.fail("a unit test starts a process: it belongs into tests/process")


def _no_sleep(seconds: float) -> None:
    if seconds > 0:
        pytest.fail(f"a unit test sleeps for {seconds} s: inject a clock, or put it into tests/process")


_getaddrinfo = socket.getaddrinfo


def _no_lookup(host: Any, *given: Any, **named: Any) -> Any:
    """Names are unknown: to ask the network for one takes seconds where there is none."""
    try:
        return _getaddrinfo(host, *given, **{**named, "flags": named.get("flags", 0) | socket.AI_NUMERICHOST})
    except socket.gaierror:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from None


@pytest.fixture(autouse=True)
def exact_and_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name in PROCESSES:
        monkeypatch.setattr(place, name, _no_process)
    monkeypatch.setattr(time, "sleep", _no_sleep)
    monkeypatch.setattr(socket, "getaddrinfo", _no_lookup)
