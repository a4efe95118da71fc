"""A farm over two networks: what the second makes of each cell's time and of the master's, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from wulf.core.names import plural
from wulf.core.units import show
from wulf.measure.mpi.farm import contrasts_of, networks_of
from wulf.model.impact import AFTER, BEFORE, FigureRow
from wulf.report.kit.view import Columns, Section
from wulf.stats.comparison import Comparison, Judgement, enough_pairs
from wulf.store.run import Run

WORDS = {"seconds": "the whole run", "service": "the master's time a message (o)"}
"""Metric → in words."""


def network_section(run: Run) -> list[Section]:
    """The table of both; none for a farm over one network."""
    contrasts = contrasts_of(run.plan, run.replicates)
    if not contrasts:
        return []
    first, second = networks_of(run.plan)
    rows = [
        (WORDS[metric], row.row.quantity.name, *(show(row.row.mean[arm], "s") for arm in (BEFORE, AFTER)),
         _times(row.row.compared), row.verdict())
        for metric, rows in contrasts.items() for row in rows
    ]  # fmt: skip
    heads = ["time", "cell", first, second, "times as long, 95 %", f"{second} is"]
    small = [
        "Compared within blocks, which measure each cell once over each network in random order. faster and slower "
        "hold for all cells of a time together (Holm), and not where it says 'by itself'."
    ]
    return [Section(f"{first} and {second}", table=Columns(heads, rows, 2), small=small)]


def network_sentences(run: Run) -> Iterator[str]:
    """What the second network makes of the farm; nothing for a farm over one."""
    for metric, rows in contrasts_of(run.plan, run.replicates).items():
        yield _sentence(WORDS[metric], rows, networks_of(run.plan)[1])


def _sentence(what: str, rows: Sequence[FigureRow], network: str) -> str:
    """`Over 10.1.0.0/24 the whole run is longer in 5 of 6 cells and shorter in none. It differs most with …`."""
    slower, faster = (
        [row for row in rows if row.proven() and row.row.compared.judgement is judgement]
        for judgement in (Judgement.SLOWER, Judgement.FASTER)
    )
    blocks = max(row.row.compared.n for row in rows)
    text = (
        f"Over {network} {what} is longer in {len(slower) or 'none'} of {plural(len(rows), 'cell')} and shorter in "
        f"{len(faster) or 'none'}"
    )
    if blocks < enough_pairs(len(rows)):
        text += f", by what is proven: of so many {blocks} blocks can prove none, {enough_pairs(len(rows))} could"
    most = max((row.row for row in rows), key=lambda row: abs(log(row.compared.ratio or 1.0)))
    return f"{text}. It differs most with {most.quantity.name}: {_times(most.compared)} times as long."


def _times(compared: Comparison) -> str:
    if compared.ratio is None:
        return "–"
    if compared.low is None or compared.high is None:
        return f"{compared.ratio:.3g}"
    return f"{compared.ratio:.3g} ({compared.low:.3g}–{compared.high:.3g})"
