"""Ranks that see what comes by TCP at their library's ticks alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.unit.trace.making import made, recv
from tests.wording import Wording, lacking
from wulf.trace.record import Record
from wulf.trace.summary import summarise
from wulf.trace.ticks import LEAST

MS = 1_000_000


def ticking(count: int, *, computing: int = 0, off: float = 0.0) -> list[Record]:
    """Receives that end 10 ms after the one before, or after a rank that computed longer came back."""
    draw = random.Random(1)
    found = [recv(1, 8, call=3 * MS)]
    for _ in range(count):
        gap = computing or draw.randrange(6 * MS)
        wait = 10 * MS - (gap if gap < 10 * MS else 0)
        found += [recv(1, 8, gap=gap, call=round(wait + off * draw.uniform(-10, 10) * MS))]
    return found


def ranks_of(folder: Path, *records: list[Record], mpi: str = "Open MPI 4.1.4") -> list[int | None]:
    trace = made(folder, [[*own, Record("finalize")] for own in records], {0: {"mpi": mpi}, 1: {"mpi": mpi}})
    return [fault.rank for fault in summarise(trace).faults if fault.kind == "ticks"]


@pytest.mark.parametrize("computing", [0, 25 * MS])
def test_a_rank_whose_waits_end_with_a_tick_is_named(tmp_path: Path, computing: int, wording: Wording) -> None:
    trace = made(tmp_path, [ticking(9, computing=computing), []], {0: {"mpi": "Open MPI 4.1.4"}})
    (text,) = [fault.text for fault in summarise(trace).faults if fault.kind == "ticks"]
    assert lacking(text, "rank 0", "every 10 ms", "OMPI_MCA_mpi_event_tick_rate=1") == []
    wording(text, "ticks")


def test_waits_of_about_that_long_are_none(tmp_path: Path) -> None:
    """Four crossings of 2.5 ms each: a third of them end near a tick."""
    assert ranks_of(tmp_path / "a", ticking(200, off=0.06), []) == []
    assert ranks_of(tmp_path / "b", ticking(200, off=0.015), []) == [0]


def test_few_waits_tell_nothing(tmp_path: Path) -> None:
    assert ranks_of(tmp_path / "a", ticking(LEAST - 1), []) == []
    assert ranks_of(tmp_path / "b", ticking(LEAST), []) == [0]


def test_short_calls_between_are_no_waits(tmp_path: Path) -> None:
    short = [one for wait in ticking(9) for one in (wait, recv(1, 8, call=100))]
    assert ranks_of(tmp_path / "a", short, []) == [0]


def test_several_ranks_are_one_fault(tmp_path: Path) -> None:
    assert ranks_of(tmp_path, ticking(9), ticking(9)) == [None]


def test_another_mpi_has_no_such_tick(tmp_path: Path) -> None:
    assert ranks_of(tmp_path, ticking(9), [], mpi="MPICH 4.0.2") == []
