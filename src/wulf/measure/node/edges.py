"""Cache sizes as latency shows them, from a node's sweeps, held against what its kernel reports: pure.

The value of `mem.l2.size` is the working set up to which loads stay as fast as that cache: what a program may count on,
which need not be what the processor has. It *agrees* with what is reported where `Edge.holds` says that a cache of that
size may make the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import inf, log2
from typing import Any

import numpy as np

from wulf.core.records import Param, Provenance, Record, Verdict
from wulf.stats.curves.edges import Edge, find
from wulf.stats.curves.sigma_peak import Peak, find_sigma_peaks, marks

LEVELS = {"l1": "cpu.l1d", "l2": "cpu.l2", "l3": "cpu.l3"}
"""Level → the facts that report its size."""

PAGES = ("huge", "default", "small")
"""Sweeps to take, the best first: huge pages have neither colours nor edges of the TLB among those of the caches."""

FARTHEST = 2.0
"""Octaves between an edge and a reported size, at most, so that the one may be the other."""

SEED = 5
"""Of the resamples: equal records give equal edges."""

Facts = Mapping[str, Mapping[str, Any]]
Sweep = dict[float, list[float]]


def edge_records(records: Sequence[Record], facts: Mapping[str, Facts], run: str) -> list[Record]:
    """Derived records of every node that has a sweep: one a cache level, and one of every other resolved edge.

    Parameters
    ----------
    records
        A run's; those of `chase` with random order and one chain, and of `cpu-rate`, are used.
    facts
        Node → its facts.

    Returns
    -------
    Records with metric 'edge', unit B, params {"pattern": "edge", "level": "l2" (None: an edge that is no cache's),
    "pages"}. Beside the value: `half_rise`, `before` and `after` (latencies, s), `support`, `reported` (B, or None with
    `reported_reason`), `agrees`, and `sigma_peak`, the place of a peak of cpu-rate's scatter, where there is one.
    """
    nodes = dict.fromkeys(record.subject for record in records if _is_chase(record))
    return [record for node in nodes for record in _of_node(node, records, facts.get(node, {}), run)]


def _of_node(node: str, records: Sequence[Record], facts: Facts, run: str) -> list[Record]:
    own = [record for record in records if record.subject == node]
    pages, sweep = _best_sweep(own)
    base = {"run": run, "subject": node, "at": max(record.at for record in own), "provenance": Provenance.MEASURED}
    places = {
        level: _Place(base, pages, level, *reported_sizes(facts, fact))
        for level, fact in LEVELS.items()
        if not facts.get(f"{fact}_size", {}).get("absent", False)
    }
    try:
        edges = find(sweep, random=np.random.default_rng(SEED)).edges
    except ValueError as error:
        return [place.null(str(error)) for place in places.values()]
    peaks = sigma_peaks(own)
    of_level = assign(edges, {level: place.sizes for level, place in places.items() if place.sizes})
    found = [
        place.record(of_level[level], peaks) if level in of_level else place.null(_why_none(place.sizes, sweep))
        for level, place in places.items()
    ]
    others = [edge for edge in edges if edge not in of_level.values() and edge.unresolved is None]
    elsewhere = _Place(base, pages, None, (), "no cache is reported there")
    return found + [elsewhere.record(edge, peaks) for edge in others]


def _is_chase(record: Record) -> bool:
    params = record.params
    return (
        (record.probe, record.metric, params.get("pattern")) == ("node", "latency", "chase")
        and not params.get("stride")
        and params.get("chains", 1) == 1
        and isinstance(params.get("bytes"), int | float)
    )


def _sweep(records: Iterable[Record], pages: str) -> Sweep:
    found: Sweep = {}
    for record in records:
        if _is_chase(record) and record.params.get("pages", "default") == pages and record.samples:
            found.setdefault(record.number("bytes"), []).extend(record.samples)
    return found


def _best_sweep(records: Sequence[Record]) -> tuple[str, Sweep]:
    """The first kind of pages whose sweep reaches as far as the widest: huge pages may run out."""
    sweeps = {pages: _sweep(records, pages) for pages in PAGES}
    most = max(max(sweep, default=0.0) for sweep in sweeps.values())
    return next(((p, s) for p, s in sweeps.items() if s and max(s) >= most / 2), (PAGES[-1], {}))


def sigma_peaks(records: Sequence[Record]) -> tuple[Peak, ...]:
    """Peaks of cpu-rate's scatter over the working set, the highest first; none where it was not swept."""
    parts: dict[str, dict[float, list[float]]] = {"deviation": {}, "time": {}}
    for record in records:
        size = record.params.get("bytes")
        if record.params.get("pattern") == "cpu-rate" and record.metric in parts and isinstance(size, int | float):
            parts[record.metric][float(size)] = record.samples
    scatter = {
        size: [s / t for s, t in zip(values, parts["time"].get(size, ()), strict=False) if s > 0 and t > 0]
        for size, values in parts["deviation"].items()
    }
    try:
        return find_sigma_peaks(scatter, random=np.random.default_rng(SEED))
    except ValueError:  # too few sizes: cpu-rate was not swept, which is no answer, and none is asked of it
        return ()


def reported_sizes(facts: Facts, fact: str) -> tuple[list[int], str | None]:
    """Sizes that a level's caches are reported to have (several on hybrid processors), or none and the reason."""
    one = facts.get(f"{fact}_size", {})
    if one.get("value") is not None:
        return [int(one["value"])], None
    several = facts.get(f"{fact}_sizes", {}).get("value")
    if several:
        return sorted({int(word.partition(":")[0]) for word in several.split()}), None
    return [], str(one.get("reason") or f"the node's facts lack {fact}_size")


def assign(edges: Sequence[Edge], reported: Mapping[str, Sequence[int]]) -> dict[str, Edge]:
    """Level → its edge: in order of size, as near as can be to what is reported; without reports, by order alone."""
    if not reported:
        resolved = [edge for edge in edges if edge.unresolved is None]
        return dict(zip(LEVELS, resolved, strict=False))
    best, found = inf, dict[str, Edge]()
    for count in range(min(len(edges), len(reported)) + 1):
        for levels in combinations(reported, count):
            for chosen in combinations(edges, count):
                far = [_octaves(edge, reported[level]) for level, edge in zip(levels, chosen, strict=True)]
                cost = sum(far) + FARTHEST * (len(reported) - count)
                if cost < best and all(distance <= FARTHEST for distance in far):
                    best, found = cost, dict(zip(levels, chosen, strict=True))
    return found


def _octaves(edge: Edge, sizes: Sequence[int]) -> float:
    """From the middle of an edge to the nearest of the sizes; nothing where one is held, a little where in doubt."""
    middle = (edge.left.value * edge.half.value) ** 0.5
    doubt = 0.0 if edge.unresolved is None else 0.5
    return doubt + min(abs(log2(size / middle)) for size in sizes)


def _why_none(sizes: Sequence[int], sweep: Sweep) -> str:
    if sizes and max(sweep) < 2 * max(sizes):
        return f"the sweep ends at {max(sweep):.0f} B, too near the {max(sizes)} B that are reported"
    if sizes:
        return f"latency has no edge of its own within {FARTHEST:g} octaves of the {max(sizes)} B that are reported"
    return "latency has no further edge"


@dataclass(frozen=True)
class _Place:
    """What the records of one level of one node share; level None: an edge that is no cache's."""

    base: Mapping[str, Any]
    pages: str
    level: str | None
    sizes: Sequence[int]
    why_unreported: str | None

    def null(self, reason: str) -> Record:
        """The level has no edge."""
        more = {"reported": max(self.sizes, default=None), "reported_reason": self.why_unreported, "agrees": None}
        return self._made(value=None, verdict=Verdict.UNRESOLVED, reason=reason, **more)

    def record(self, edge: Edge, peaks: Sequence[Peak]) -> Record:
        """The level's edge, beside the reported size and the nearest peak of the scatter."""
        held = [size for size in self.sizes if edge.holds(size, coloured=self.pages != "huge")]
        near = [peak for peak in peaks if peak.resolved and marks(peak, edge)]
        peak = near[0] if near and edge.unresolved is None else None  # a vague edge has room for any peak
        figures = {"value": edge.left.value, "low": edge.left.low, "high": edge.left.high, "confidence": 0.95}
        more = {
            "half_rise": asdict(edge.half),
            "before": edge.before,
            "after": edge.after,
            "support": edge.support,
            "reported": next(iter(held or self.sizes), None),
            "reported_reason": self.why_unreported,
            "agrees": bool(held) if self.sizes and edge.unresolved is None else None,
            "sigma_peak": asdict(peak.size) if peak else None,
        }
        verdict = Verdict.OK if edge.unresolved is None else Verdict.UNRESOLVED
        return self._made(**figures, statistic="end of plateau", verdict=verdict, reason=edge.unresolved, **more)

    def _made(self, **fields: Any) -> Record:
        row = {} if self.level is None else {"phase": "row", "row": f"mem.{self.level}.size"}
        params: dict[str, Param] = {"pattern": "edge", "level": self.level, "pages": self.pages}
        return Record(probe="node", metric="edge", unit="B", params=params, **{**self.base, **row, **fields})
