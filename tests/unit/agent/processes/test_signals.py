"""Every signal has a name."""

from __future__ import annotations

import signal

import pytest

from wulf.agent.processes.signals import name_of


@pytest.mark.parametrize(
    ("number", "name"),
    [(9, "SIGKILL"), (int(signal.SIGRTMIN), "SIGRTMIN"), (signal.SIGRTMIN + 3, "SIGRTMIN+3"), (99, "signal 99")],
)
def test_names(number: int, name: str) -> None:
    assert name_of(number) == name
