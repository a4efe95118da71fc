"""`python -m bench.selftest.statistics`: each statistical claim simulated, then tried in a lab.

Rewrites docs/explanation/statistics.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.engine.errors import told
from bench.engine.places import DOCS
from bench.report import machine
from bench.report.docs import rewrite
from wulf import lab as labs
from wulf.cluster.inventory import Inventory
from wulf.core.errors import FOUND, OK
from wulf.measure.comparing import compare_runs
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import net_probe
from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.report.selftest import markdown, summary
from wulf.selftest.run import AREAS, SEED, claims, speeds
from wulf.stats.claims import missed
from wulf.stats.comparison import Judgement, versus_rule
from wulf.store.run import RunWriter
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import measure
from wulf.workflow.engine.study import Conditions
from wulf.workflow.net.one_pair import PairProbe, Versus

PAGE = DOCS / "explanation" / "statistics.md"
SINCE = "python -m bench.selftest.statistics --only"
"""By which the page's second part is made."""

A_A, MOST_CHANGED = 100, 10
RATES = (("200mbit", "150mbit", 0.75), ("200mbit", "190mbit", 0.95))
"""A link before and after, and the ratio of its throughput."""

TIMES, LEAST_INSIDE = 10, 8
"""How often each is measured, and how many of the 95 % intervals have to hold the ratio: fewer is 1 % chance."""


class _Words(Unwatched):
    def on_progress(self, progress: Progress) -> None:
        print(f"{progress.done} of {progress.expected}: {progress.now}", file=sys.stderr, flush=True)


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 every claim holds, 1 one does not, 2 there is no lab."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.selftest.statistics", description="The claims of docs/explanation/statistics.md."
    )
    parser.add_argument("--quick", action="store_true", help="fewer campaigns, ten A/A comparisons, and no page")
    parser.add_argument(
        "--only",
        choices=AREAS,
        action="append",
        default=[],
        help="this area alone, simulated: what the page has since",
    )
    asked = parser.parse_args(arguments)
    made, held = _since(asked.only, asked.quick) if asked.only else _measured(asked.quick)
    if asked.quick:
        print(made)
    elif asked.only:
        rewrite(PAGE, made, SINCE)
    else:
        rewrite(PAGE, made)
        rewrite(PAGE, "All areas are in the tables above.", SINCE)
    return OK if held else FOUND


def _since(only: Sequence[str], quick: bool) -> tuple[str, bool]:
    """Areas that were simulated by themselves, and whether what they claim holds."""
    here = machine.fingerprint()
    found = claims(quick=quick, only=only, watch=_Words())
    return "\n".join([
        f"Areas {', '.join(only)}, {here['date'][:10]}:\n", markdown(found), f"{summary(found)}."
    ]), not missed(found)  # fmt: skip


def _measured(quick: bool) -> tuple[str, bool]:
    """The made part of the page, and whether everything holds."""
    here = machine.fingerprint()
    found = claims(quick=quick, watch=_Words())
    timed = speeds()
    count = 10 if quick else A_A
    with labs.up(2, keep=False) as lab, tempfile.TemporaryDirectory() as runs:
        verdicts = _against_itself(lab, Path(runs), count)
        rates = [_slowed(lab, Path(runs), *rate, times=2 if quick else TIMES) for rate in RATES]
    changed = verdicts[Judgement.FASTER] + verdicts[Judgement.SLOWER]
    most = MOST_CHANGED * count // A_A + (2 if quick else 0)
    held = not missed(found) and all(speed.met for speed in timed)
    lines = [
        f"### By simulation, seed {SEED}\n",
        markdown(found),
        f"{summary(found)}.\n",
        "### Speed\n",
        "| analysis | time | limit |\n| --- | ---: | ---: |",
        *(f"| {speed.what} | {speed.seconds:.3g} s | {speed.limit:g} s |" for speed in timed),
        "\n### On a real lab\n",
        f"{count} A/A comparisons of TCP ping-pong, the same pair, nothing changed: "
        + ", ".join(f"{n} {judgement}" for judgement, n in sorted(verdicts.items()))
        + f". At most {most} may claim a difference.\n",
        "| link, before → after | B / A | measured, median | found slower | 95 % intervals that hold it |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(row for row, _ in rates),
        f"\nMeasured {here['date'][:10]} on {here['cpus']} CPUs of {here['cpu']}"
        f"{', a virtual machine' if here['virtual'] else ''}, Linux {here['kernel']}.",
    ]
    return "\n".join(lines), held and changed <= most and all(inside for _, inside in rates)


def _cell(pattern: str, number: int = 0, phase: str = "single", **params: float) -> Cell:
    probe = net_probe()
    checked = probe.check(pattern, "tcp", params)
    return Cell(number, "n1", "n2", "tcp", pattern, checked, probe.pattern(pattern).metrics, phase)


def _against_itself(lab: labs.Lab, runs: Path, count: int) -> Counter[Judgement]:
    """So many comparisons of TCP ping-pong with itself."""
    verdicts: Counter[Judgement] = Counter()
    arms = _cell("pingpong", 0, "A", seconds=0.02), _cell("pingpong", 1, "B", seconds=0.02)
    rule = versus_rule()
    for i in range(count):
        print(f"A/A {i + 1} of {count}", file=sys.stderr, flush=True)
        with RunWriter(runs / f"aa-{i}", "net-pingpong", {"seed": SEED + i}) as writer:
            outcome = measure(Versus(Conditions(Inventory.from_lab(lab), Effort(), writer, SEED + i), arms, rule))
        (finding,) = [f for f in outcome.run.findings if f.kind == "comparison"]
        verdicts[Judgement(finding.evidence[0].model_dump()["judgement"])] += 1
    return verdicts


def _slowed(lab: labs.Lab, runs: Path, before: str, after: str, expected: float, times: int) -> tuple[str, bool]:
    """One row: the same stream over a link at two known rates, two runs, one after the other, so many times."""
    cell, effort = _cell("stream", seconds=0.2), Effort(width=0.01)
    ratios, slower, inside = [], 0, 0
    for i in range(times):
        pair = []
        for rate in (before, after):
            lab.set_rate("n2", rate)
            print(f"a link at {rate}, {i + 1} of {times}", file=sys.stderr, flush=True)
            with RunWriter(runs / f"{before}-{after}-{rate}-{i}", "net-stream", {"seed": SEED + i}) as writer:
                pair.append(measure(PairProbe(Conditions(Inventory.from_lab(lab), effort, writer, SEED + i), cell)).run)
        (found,) = compare_runs(pair[0], pair[1]).cells
        c = found.comparison
        assert c.ratio is not None and c.low is not None and c.high is not None
        ratios.append(c.ratio)
        slower += found.judgement is Judgement.SLOWER
        inside += c.low <= expected <= c.high
    lab.set_rate("n2", None)
    row = f"| {before} → {after} | {expected:g} | {median(ratios):.4f} | {slower} of {times} | {inside} of {times} |"
    return row, slower == times and inside >= LEAST_INSIDE * times // TIMES


if __name__ == "__main__":
    sys.exit(main())
