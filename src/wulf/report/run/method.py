"""How a run was measured, in words made from its plan and records; and the twelve rules, answered for it.

The rules: T. Hoefler, R. Belli, "Scientific Benchmarking of Parallel Computing Systems", SC'15.
"""

from __future__ import annotations

from wulf.core.names import plural, uncapitalised
from wulf.core.records import Record
from wulf.measure.engine.probes import NODE
from wulf.measure.net.layers import METRIC as DIFFERENCE
from wulf.report.kit.figures import MARKS, MEANINGS, main_records
from wulf.report.kit.matrices import Matrix, Sweep, pair_matrices, run_nodes, sweeps, verdict_counts
from wulf.report.kit.view import Item
from wulf.report.run.facts import reported_link_speeds
from wulf.stats.cluster.outliers import LEAST_RATIO, LEAST_SIGMAS
from wulf.store.run import Run


def method(run: Run) -> list[Item]:
    """What was done, in what order, until when; and what the figures mean."""
    items = [
        Item("Replicates", _replicates(run.records)),
        Item("Order", _order(run)),
        Item("Intervals", _intervals(run.records)),
        Item("Stopping", _stopping(run)),
        Item("Concurrency", _concurrency(run)),
        Item("Verdicts", _verdicts(run.records)),
        Item("Missing values", "What could not be measured is shown as a dash with the reason, never as 0."),
        Item("Units", _units(run.records)),
    ]
    return [item for item in items if item.text]


def _units(records: list[Record]) -> str:
    bytes_too = ", 1 GB/s is 10⁹ B/s" if _of_nodes(records) else ""
    return f"Recorded in SI base units and scaled for reading; 1 Gbit/s is 10⁹ bit/s{bytes_too}, 1 KiB is 1,024 B."


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _replicates(records: list[Record]) -> str:
    counts = [record.replicates for record in records if record.replicates]
    if not counts:
        return ""
    nodes = _of_nodes(records)
    fresh = "memory, files, processes and sockets" if nodes else "sockets and buffers"
    inside = "what is timed" if nodes else "the round trips or bytes"
    return (
        f"Each value is the median of {_span(min(counts), max(counts))} replicates. A replicate is one independent "
        f"execution with fresh {fresh}; {inside} inside it collapse{'s' if nodes else ''} to one figure, so that "
        "neighbouring samples, which resemble each other, do not pass for independent ones."
    )


def _of_nodes(records: list[Record]) -> bool:
    """Whether any record is of a node by itself."""
    return any(record.probe == NODE for record in records)


def _order(run: Run) -> str:
    order, seed = run.plan.get("order"), run.plan.get("seed", run.meta.get("seed"))
    if isinstance(order, str) and order:
        text = f"Interleaved: {uncapitalised(order)}"
    elif run.plan:
        text = "Interleaved, in random order, so that drift of the machine falls on all cells alike"
    else:
        return "" if seed is None else f"Random, seed {seed}."
    return f"{text}; seed {seed}." if seed is not None else f"{text}."


def _confidences(records: list[Record]) -> str:
    least = [record.confidence for record in records if record.confidence is not None]
    return f"{min(least) * 100:.3g} %" if least else ""


def _intervals(records: list[Record]) -> str:
    confidence = _confidences(records)
    if not confidence:
        return "No value has an interval: that needs at least six replicates at 95 %."
    return (
        f"Between two order statistics of the replicates, covering the true median with at least {confidence} "
        "probability whatever the distribution, all looks together; moved apart where replicates depend on their "
        f"predecessors.{_differences(records)}"
    )


def _differences(records: list[Record]) -> str:
    """How what was subtracted got its intervals; empty where nothing was."""
    statistics = {record.statistic for record in records if record.metric == DIFFERENCE and record.statistic}
    if not statistics:
        return ""
    return (
        f" A difference of layers is the {' and the '.join(sorted(statistics))}, block by block; its interval is the "
        "one of its test (Wilcoxon's signed ranks at declared looks), each difference by itself."
    )


def _stopping(run: Run) -> str:
    width, budget, looks = run.plan.get("width"), run.plan.get("budget"), run.plan.get("looks")
    parts = []
    if run.plan.get("endless"):
        return (
            "Nothing in the figures ended it: somebody did, or the budget. Intervals are confidence sequences, which "
            "cover at all times at once, however often one looks."
        )
    if isinstance(width, int | float):
        parts.append(f"A cell is measured until its interval is at most {width * 100:.3g} % of its value wide")
        if run.plan.get("watch"):
            parts.append(", checked after every replicate (a confidence sequence)")
        elif isinstance(looks, list) and looks:
            parts.append(f", checked after {', '.join(str(look) for look in looks)} replicates and at no other time")
            if budget is not None and len(looks) > 1:
                parts.append(" until then, and after that each time that there are half as many again")
        parts.append(f", or until the time of {budget:g} s is over" if isinstance(budget, int | float) else "")
        parts.append(". A cell that ends wider, or that drifts or starts cold, is called noisy.")
        parts.append(
            " No cell ends before all can: they are subtracted block by block." * bool(run.plan.get("together"))
        )
    return "".join(parts)


def _concurrency(run: Run) -> str:
    if not run.plan.get("synchronised"):
        return _disjoint(run)
    return (
        f"{_disjoint(run)} What is measured at the same time is of one kind and begins at one agreed moment, by each "
        "client's own monotonic clock: its offset is known from exchanges there and back, to within half the fastest. "
        "Streams warm up before the measured time and go on after it. Each record says how much of its measured time "
        "all had in common."
    ).strip()


def _disjoint(run: Run) -> str:
    hosts = run.plan.get("hosts")
    if not isinstance(hosts, dict) or not hosts:
        return ""
    machines = len(set(hosts.values()))
    if machines == 1 and len(hosts) > 1:
        return (
            f"The {len(hosts)} nodes share one machine, so that one pair is measured at a time. Their figures compare "
            "with each other, not with those of a real network."
        )
    if machines < len(hosts):
        return f"{len(hosts)} nodes on {machines} machines: pairs measured at the same time share no machine."
    if _of_nodes(run.records):
        return "Nodes on machines of their own are measured at the same time; a node measures one thing at a time."
    return "Pairs are measured at the same time only in disjoint rounds: no node serves two pairs at once."


def _verdicts(records: list[Record]) -> str:
    main = main_records(records)
    counts = verdict_counts(main)
    words = []
    for verdict, meaning in MEANINGS.items():
        mark = f" ({MARKS[verdict]})" if MARKS[verdict] else ""
        words.append(f"{verdict}{mark}: {meaning}, {plural(counts.get(verdict, 0), 'figure')}")
    return "; ".join(words) + "."


def twelve_rules(run: Run) -> list[Item]:
    """Each of the twelve rules with what this run does about it."""
    matrices, curves, records = pair_matrices(run), sweeps(run), run.records
    with_interval = sum(record.low is not None for record in records)
    with_value = sum(record.value is not None for record in records)
    with_tail = sum("0.99" in record.quantiles for record in records)
    return [
        Item(
            "State the base case of a speedup, absolutely",
            "No speedup is reported. A ratio in a finding stands beside both of its absolute figures.",
        ),
        Item("Justify subsets", _subsets(run, matrices, curves)),
        Item(
            "Arithmetic mean for costs, harmonic for rates",
            "No mean is taken over replicates. A replicate's rate is all its bytes over all its time, "
            "which is the harmonic mean that a rate needs.",
        ),
        Item("Do not summarise ratios", "None is: a ratio is formed once, of two medians."),
        Item(
            "Say whether values are deterministic; else give intervals",
            f"None is deterministic. {with_interval:,} of {plural(with_value, 'value')} "
            f"{'carries' if with_value == 1 else 'carry'} an interval"
            f"{f' of at least {_confidences(records)}' if with_interval else ''}.",
        ),
        Item(
            "Assume no normality without a diagnostic",
            "None is assumed: intervals are order statistics. Fresh sockets and random order work towards "
            "independent replicates; drift, cold starts, second modes and dependence are tested for, and stand in "
            "the record's flags.",
        ),
        Item(
            "Compare soundly",
            "Figures are compared only within this run. A node or link is called slow if its whole interval is at "
            f"least {LEAST_RATIO:g} times worse than the median of the others, and {LEAST_SIGMAS:g} robust standard "
            "deviations from it. Smaller deviations of nodes are called out with a false discovery rate of 5 %.",
        ),
        Item("Check that the median is the right figure", _tails(with_tail)),
        Item("Document all factors and levels", _factors(run)),
        Item(
            "Report measurement, synchronisation and summary",
            "Above: replicates, order, stopping and concurrency. A round trip is timed by one clock, the client's; "
            "bandwidth is the receiver's bytes over the receiver's time. No figure needs two clocks to agree.",
        ),
        Item("Show upper bounds", _bounds(run)),
        Item(
            "Plot enough; join points only where that is valid",
            "Heat maps show each pair. Lines of a sweep join medians to guide the eye; nothing is claimed between "
            "two sizes, where a protocol may switch.",
        ),
    ]


def _subsets(run: Run, matrices: list[Matrix], curves: list[Sweep]) -> str:
    nodes = len(run_nodes(run))
    parts = [f"{m.title}: {len(m.cells):,} of {m.expected:,} pairs." for m in matrices]
    pairs = {curve.subject for curve in curves}
    if pairs and nodes > 2:
        parts.append(f"The sweep is of {plural(len(pairs), 'pair')}, an example; others may have another curve.")
    others = sum(record.phase not in ("pairs", "sweep") for record in run.records)
    if others and not matrices and not curves:
        parts.append("What the command line named was measured, and nothing else.")
    return " ".join(parts) or "Nothing was measured."


def _tails(with_tail: int) -> str:
    return "The median says what is usual. A program that waits for the slowest of many messages feels the tail: " + (
        f"p99 of single samples stands in {plural(with_tail, 'record')}." if with_tail else "none was recorded here."
    )


def _factors(run: Run) -> str:
    facts = sum(len(facts) for facts in run.fingerprint.values())
    if not facts:
        return "Every record carries its parameters. No facts of the nodes were recorded."
    return (
        f"Every record carries its parameters, plan.json holds every cell, and fingerprint.json "
        f"{plural(facts, 'fact')} of {plural(len(run.fingerprint), 'node')}."
    )


def _bounds(run: Run) -> str:
    speeds = reported_link_speeds(run)
    if not speeds:
        return "None can be: no interface reports a line rate. Peers in the same run take its place."
    words = [f"{speed} ({plural(count, 'interface')})" for speed, count in speeds.most_common(4)]
    return f"Line rates as the interfaces report them: {', '.join(words)}."
