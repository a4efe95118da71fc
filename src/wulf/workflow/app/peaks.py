"""What share of the nodes' peaks an application reached: peaks measured between its runs, shares as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wulf.apps.linpack.peaks import KINDS, Peak, computed, of_all
from wulf.core.records import Provenance, Record, Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NODE
from wulf.store.run import Facts, utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Beside

PROBE = "fma"
PHASE = "peak"
SECONDS = 0.1
"""Of one replicate of the loop that measures the peak."""

RATES = {"hpl": ("rate",), "hpcc": ("hpl.rate",)}
"""Application → its figures that are rates of all ranks together."""

EXCLUSIVE = "applications and peaks"
"""The lane of nodes and ranks: a peak that is measured beside an application is neither's figure."""


def peak_cells(connected: Connected, beside: Beside, nodes: Iterable[str], number: int) -> tuple[Cell, ...]:
    """The loop of fused multiply-adds on all CPUs of each machine, on all of them side by side.

    From then on what a study opened, and these nodes, are in one lane.
    """
    probe = connected.probes.get(NODE)
    able = [node for node in nodes if node in connected.others.get(NODE, {})]
    there = one_a_machine(able, connected.fingerprint)
    if probe is None:
        return ()
    beside.lanes |= dict.fromkeys([*beside.lanes, *able], EXCLUSIVE)
    params = probe.check(PROBE, "", {"type": "double", "threads": 0, "seconds": SECONDS})
    metrics = probe.pattern(PROBE).metrics
    wave = 0 if len(there) > 1 else None
    return tuple(
        Cell(number + place, node, node, "", PROBE, params, metrics, PHASE, program=NODE, wave=wave)
        for place, node in enumerate(there)
    )


def one_a_machine(nodes: Iterable[str], fingerprint: Mapping[str, Facts]) -> list[str]:
    """The first node of each machine: a lab's nodes share one, whose peak counts once."""
    first: dict[str, str] = {}
    for node in nodes:
        first.setdefault(str(fingerprint.get(node, {}).get("kernel.boot_id", {}).get("value") or node), node)
    return list(first.values())


def peaks_of(
    records: Sequence[Record], fingerprint: Mapping[str, Facts], nodes: Sequence[str]
) -> tuple[dict[str, Peak], Record | None]:
    """The peaks of these nodes together, and the sum of what was measured as a record with its interval."""
    nodes = one_a_machine(nodes, fingerprint)
    if not nodes:
        return dict.fromkeys(KINDS, Peak(None, reason="no node is left")), None
    each = {node: computed(fingerprint.get(node, {})) for node in nodes}
    peaks = {kind: of_all({node: each[node][kind] for node in nodes}) for kind in ("base", "turbo")}
    found = {record.subject: record for record in records if _is_peak(record)}
    lacking = [node for node in nodes if node not in found or found[node].value is None]
    if lacking:
        why = found[lacking[0]].reason if lacking[0] in found else "it was not measured"
        return {**peaks, "measured": Peak(None, reason=f"{lacking[0]}: {why}")}, None
    own = [found[node] for node in nodes]
    total = own[0].model_copy(update={end: _sum(getattr(record, end) for record in own) for end in _ENDS})
    return {**peaks, "measured": Peak(total.value, "fused multiply-adds on all CPUs")}, total


_ENDS = ("value", "low", "high")


def _is_peak(record: Record) -> bool:
    return record.probe == NODE and record.params.get("pattern") == PROBE and record.metric == "rate"


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)


def share_records(
    records: Sequence[Record], fingerprint: Mapping[str, Facts], nodes: Sequence[str], run: str
) -> list[Record]:
    """Of every rate of an application on these nodes its share of each peak, null with the reason where there is none.

    The interval of a share of the measured peak joins both, as the worst case at both ends.
    """
    peaks, measured = peaks_of(records, fingerprint, nodes)
    return [
        _share(record, kind, peaks[kind], measured if kind == "measured" else None, run)
        for record in records
        if record.probe == "app" and record.metric in RATES.get(str(record.params.get("pattern")), ())
        for kind in KINDS
    ]


def _share(record: Record, kind: str, peak: Peak, measured: Record | None, run: str) -> Record:
    value = low = high = None
    reason = peak.reason or record.reason
    if record.value is not None and peak.value:
        value, reason = record.value / peak.value, None
        worst = (measured.low, measured.high) if measured is not None else (peak.value, peak.value)
        if record.low is not None and record.high is not None and all(worst):
            low, high = record.low / worst[1], record.high / worst[0]  # type: ignore[operator]
    return Record(
        run=run, subject=record.subject, probe=record.probe, metric=f"share.{kind}", unit="1", params=record.params,
        value=value, low=low, high=high, confidence=record.confidence if low is not None else None,
        statistic=record.statistic if value is not None else None, replicates=record.replicates,
        verdict=Verdict.OK if value is not None else Verdict.UNRESOLVED, reason=reason,
        provenance=Provenance.MEASURED, at=utc_now(), phase="app", better="higher", supported=value is not None,
        info={"peak": peak.value, "how": peak.how},
    )  # fmt: skip
