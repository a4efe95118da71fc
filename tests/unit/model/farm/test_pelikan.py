"""The table of 2007, and that docs/farm.md's figures are those that the code computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.model.farm.costs import karp_flatt
from wulf.model.farm.pelikan import cycle, least_saturation, published, row_of, serial_fractions

DOC = (Path(__file__).parents[4] / "docs" / "farm.md").read_text()


def test_the_published_speedups_follow_from_the_published_seconds() -> None:
    """Within what a digit behind the point leaves open."""
    theirs = published()
    for workers, speedup in theirs.speedups.items():
        low, high = (203.3 + i for i in (-0.05, 0.05))
        seconds = theirs.tables.seconds[workers][100]
        assert low / (seconds + 0.05) <= speedup <= high / (seconds - 0.05), workers


def test_the_peak_is_the_least_busy_table_entry() -> None:
    """36,958 a second in 27.3 s are 0.9 % more messages than there were units: greetings are not that many."""
    theirs = published()
    rates = [theirs.tables.rate(workers, 1) for workers in theirs.tables.seconds]
    assert max(rates) == theirs.tables.rate(19, 1)
    assert theirs.peak_messages / max(rates) == pytest.approx(1.009, abs=0.0005)


def test_four_per_cent_serial_would_allow_a_speedup_of_eleven() -> None:
    theirs = published()
    assert 1 / (theirs.serial_share + (1 - theirs.serial_share) / 19) == pytest.approx(11.05, abs=0.01)
    assert karp_flatt(theirs.speedups[19], 19) == pytest.approx(0.005, abs=0.0002)


def rows() -> list[str]:
    """The tables of docs/farm.md, from the code."""
    tables = published().tables
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
    return [*lines, f"| o at most [µs] | {bounds} |", f"| W* at least | {least} |"]


@pytest.mark.parametrize("line", rows())
def test_the_page_says_what_the_code_computes(line: str) -> None:
    assert line in DOC
