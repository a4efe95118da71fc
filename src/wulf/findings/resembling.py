"""A run whose replicates resemble those before them: its intervals take them for independent, and are too narrow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, passes_of
from wulf.findings.levelled import usable
from wulf.stats.cluster.levelling import by_pass
from wulf.stats.series.resemblance import resemblance

SEED = 6
"""Of the random orders: equal records give equal findings."""


def resembling(records: Iterable[Record]) -> list[Finding]:
    """One finding where the replicates of all cells together amount to less than half as many; none otherwise."""
    own = [record for record in records if usable(record) and record.samples]
    found = resemblance(
        by_pass([one.samples for one in own], [passes_of(one) for one in own]), np.random.default_rng(SEED)
    )
    if found is None or found.cells == 1 or not found.flagged:  # what a cell shows by itself, its record says
        return []
    text = (
        f"Replicates resemble those before them, over all {found.cells:,} figures: {found.passes} amount to "
        f"{found.amount:.0f} (correlation of neighbours {found.rho:.2f}, p {found.p:.2g}). "
        f"Intervals may be too narrow, by up to a factor of {(found.passes / found.amount) ** 0.5:.1f}."
    )
    step = "a machine at rest, or --watch: what changes slowly averages out over hours, not within minutes"
    return [Finding(kind="noise", severity=Severity.WARN, subject="", text=text, next_step=step)]
