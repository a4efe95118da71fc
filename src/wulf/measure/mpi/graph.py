"""Graphs of tasks: what a run's records say of each pattern's efficiency over its tasks' time."""

from __future__ import annotations

from collections.abc import Iterable

from wulf.core.records import Record
from wulf.stats.intervals import least_samples

GRAPH = "graph"
"""The probe, and the phase of the search for METG."""

DEPENDENCE = "dependence"
"""The parameter: which tasks a task needs."""

NEEDED = {
    "none": "its own rank's",
    "stencil": "both neighbours'",
    "fft": "one other's, ever farther: a butterfly",
    "tree": "a binomial tree's, to rank 0 and back",
    "all": "all ranks'",
}
"""Dependence → what a task needs of the step before, in words; in the order in which they are shown."""

Efficiencies = dict[str, dict[float, list[float]]]
"""Dependence → seconds a task → efficiency of each replicate."""


def efficiencies(records: Iterable[Record]) -> Efficiencies:
    """Of every dependence there is; points with too few replicates for an interval are left out."""
    found: Efficiencies = {}
    for record in records:
        if record.phase == GRAPH and record.metric == "efficiency" and len(record.samples) >= least_samples():
            points = found.setdefault(record.text(DEPENDENCE), {})
            points[record.number("task_seconds")] = record.samples
    return {name: found[name] for name in NEEDED if name in found}
