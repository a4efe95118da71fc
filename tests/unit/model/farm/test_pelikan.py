"""The table of 2007, and that docs/how-to/farm.md's figures are those that the code computes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from wulf.model.farm.costs import karp_flatt
from wulf.model.farm.pelikan import (
    LAST_DIGIT,
    Printed,
    counted,
    cycle,
    least_saturation,
    published,
    row_of,
    serial_fractions,
)

DOC = (Path(__file__).parents[4] / "docs" / "how-to" / "farm.md").read_text()


def test_the_published_speedups_follow_from_the_published_seconds() -> None:
    """Within what a digit behind the point leaves open."""
    theirs = published()
    for workers, row in theirs.speedup.items():
        low, high = (203.3 + i for i in (-LAST_DIGIT, LAST_DIGIT))
        seconds = theirs.tables.seconds[workers][100]
        assert low / (seconds + LAST_DIGIT) <= row[100] <= high / (seconds - LAST_DIGIT), workers


def test_the_published_overheads_are_by_both_messages_of_a_cycle() -> None:
    theirs = published()
    found = [(w, b, value) for w, row in theirs.overhead.items() for b, value in row.items()]
    assert len(found) == 6
    for workers, batch, value in found:
        ours = theirs.tables.overhead_message(workers, batch)
        assert ours is not None
        assert round(ours * 1e6) == pytest.approx(value * 1e6)
        assert theirs.tables.overhead_cycle(workers, batch) == pytest.approx(2 * ours)


def test_the_published_rates_are_of_one_count_of_messages() -> None:
    """That count, and whole numbers, put all twenty entries 0.4 to 1.7 % above the units by the seconds."""
    theirs = published()
    found = counted(theirs)
    assert found.low <= found.value <= found.high
    assert found.value / theirs.tables.units == pytest.approx(1.0081, abs=0.0001)
    assert (found.low - theirs.tables.units) > 100 * 19, "greetings and quit messages are not that many"
    above = [
        round(found.value / batch / (seconds + off)) / theirs.tables.rate(workers, batch) - 1
        for workers, row in theirs.tables.seconds.items()
        for batch, seconds in row.items()
        for off in (-LAST_DIGIT, 0, LAST_DIGIT)
    ]
    assert (min(above), max(above)) == pytest.approx((0.0039, 0.0165), abs=0.0001)


def test_four_per_cent_serial_would_allow_a_speedup_of_eleven() -> None:
    theirs = published()
    assert 1 / (theirs.serial_share + (1 - theirs.serial_share) / 19) == pytest.approx(11.05, abs=0.01)
    assert karp_flatt(theirs.speedup[19][100], 19) == pytest.approx(0.005, abs=0.0002)


def line_of(workers: int, ours: Mapping[int, float | None], printed: Printed, *, scale: float, digits: int) -> str:
    """One of docs/how-to/farm.md: our figure, and in bold what was printed."""
    cells = []
    for batch, value in ours.items():
        theirs = printed.get(workers, {}).get(batch)
        beside = "" if theirs is None else f" (**{theirs * scale:.0f}**)"
        cells.append(f"{(value or 0) * scale:.{digits}f}{beside}")
    return f"| {workers} | {' | '.join(cells)} |"


def rows() -> list[str]:
    """The tables of docs/how-to/farm.md, from the code."""
    theirs = published()
    tables = theirs.tables
    lines = []
    for workers in tables.seconds:
        row = row_of(tables, workers)
        lines.append(f"| {workers} | {row.floor:.1f} | {row.message * 1e6:.1f} | {row.worst:.1f} |")
    for workers in tables.seconds:
        cycles = " | ".join(f"{cycle(tables, workers, batch) * 1e6:.0f}" for batch in tables.batches)
        lines.append(f"| {workers} | {cycles} |")
    for workers in (3, 7, 19):
        shares = " | ".join(f"{100 * share:.1f}" for share in serial_fractions(tables, workers).values())
        lines.append(f"| {workers} | {shares} |")
    bounds = " | ".join(f"{tables.least_cost_bound(batch) * 1e6:.1f}" for batch in tables.batches)
    least = " | ".join(f"{least_saturation(tables, batch):.1f}" for batch in tables.batches)
    for workers in tables.seconds:
        ours = {b: tables.overhead_message(workers, b) for b in tables.batches[:-1]}
        lines.append(line_of(workers, ours, theirs.overhead, scale=1e6, digits=1))
        ours = {b: tables.overhead_cycle(workers, b) for b in tables.batches[:-1]}
        lines.append(line_of(workers, ours, {}, scale=1e6, digits=1))
        ours = {b: tables.rate(workers, b) for b in tables.batches}
        lines.append(line_of(workers, ours, theirs.messages, scale=1, digits=0))
    return [*lines, f"| o at most [µs] | {bounds} |", f"| W* at least | {least} |"]


@pytest.mark.parametrize("line", rows())
def test_the_page_says_what_the_code_computes(line: str) -> None:
    assert line in DOC
