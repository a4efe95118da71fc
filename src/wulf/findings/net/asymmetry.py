"""What one-way delays say of a path: a pure function of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show, show_interval

TOLD = 0.05
"""Share of the round trip below which a difference of the two ways is no finding: every path has as much."""


def asymmetry_findings(records: Sequence[Record]) -> list[Finding]:
    """One finding for each cell of the pattern `oneway`: which way is slower, or how symmetric the path is at least.

    The interval of the replicates is widened on both sides by the clocks' error, which no repetition makes smaller.
    """
    return list(_findings([r for r in records if r.params.get("pattern") == "oneway"]))


def _findings(records: Sequence[Record]) -> Iterator[Finding]:
    for record in (r for r in records if r.metric == "asymmetry" and r.value is not None):
        beside = {r.metric: r.value for r in records if (r.subject, r.params) == (record.subject, record.params)}
        error, rtt = beside.get("clock_error"), beside.get("rtt")
        if record.low is not None and record.high is not None and error is not None and rtt:
            yield _finding(record, record.value or 0.0, (record.low - error, record.high + error), error, rtt)


def _finding(record: Record, value: float, bounds: tuple[float, float], error: float, rtt: float) -> Finding:
    client, server = record.pair
    low, high = bounds
    clear = (low > 0 or high < 0) and abs(value) > TOLD * rtt
    clocks = f"the clocks' error of at most {show(error, 's')} included" if error else "one clock timed both"
    if clear:
        least, most = min(abs(low), abs(high)), max(abs(low), abs(high))
        slow, fast = (client, server) if value > 0 else (server, client)
        text = (
            f"{slow} → {fast} takes {show(abs(value), 's')} longer than the way back "
            f"({show_interval(least, most, 's')}; {clocks}), of a round trip of {show(rtt, 's')}."
        )
    else:
        text = (
            f"{client} → {server} and the way back differ by between {show(low, 's')} and {show(high, 's')} "
            f"({clocks}), of a round trip of {show(rtt, 's')}: no asymmetry to speak of."
        )
    return Finding(
        kind="asymmetry",
        severity=Severity.WARN if clear else Severity.INFO,
        subject=record.subject,
        text=text,
        next_step="look at what lies on one way alone: a queue, a shaper, a route of its own" if clear else "",
        evidence=[
            Evidence(
                subject=record.subject, metric="asymmetry", unit="s", value=value, low=low, high=high, expected=0.0
            )
        ],
    )  # fmt: skip
