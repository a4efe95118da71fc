"""Lines of programs behind a gateway: whole, cut, long, and without an end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.processes import PATIENCE
from wulf.agent.jobs import relay
from wulf.agent.jobs.relay import Relay

Run = Callable[[str], list[list[Any]]]


@pytest.fixture
def run() -> Iterator[Run]:
    relaying = Relay()

    def started(program: str) -> list[list[Any]]:
        """All that is told of a program, without its number."""
        relaying.act([["spawn", 1, [sys.executable, "-c", program], None]])
        told: list[list[Any]] = []
        deadline = time.monotonic() + PATIENCE
        while not told or told[-1][0] != "end":
            assert time.monotonic() < deadline, told
            told += [[name, *rest] for name, _, *rest in relaying.fetch(1.0)]
        return told

    yield started
    relaying.act([["kill", 1]])


def test_lines_come_whole_and_the_last_one_is_told_to_be_cut(run: Run) -> None:
    told = run(
        "import sys, time\nfor part in ('a', 'b\\nc', '\\n\\nd'): print(part, end='', flush=True); time.sleep(.05)"
    )
    assert told == [["line", "ab"], ["line", "c"], ["line", ""], ["line", "d", False], ["end", 0, None]]


def test_a_line_without_an_end_ends_its_program(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "LONGEST_LINE", 1 << 20)
    told = run("import sys\nwhile True: sys.stdout.write('x' * 65536)")
    assert (told[0], told[-1]) == (["stderr", "a line is longer than 1 MiB: it was ended"], ["end", None, 9])
    assert all(rest == [False] for name, _, *rest in told[1:-1] if name == "line"), "what was in the pipe is cut"
