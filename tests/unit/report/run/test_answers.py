"""The first line of a report: what was asked, answered with figure and unit."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from tests.unit.report.make_layers import layered
from tests.unit.report.make_run import make_run, record
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.report.run.html import render
from wulf.report.run.summary import headline
from wulf.report.run.terminal import print_report
from wulf.store.run import Run


def mpi(op: str, size: int, seconds: float) -> Record:
    params = {"op": op, "bytes": size, "mpi": "openmpi 4.1.4", "ranks": 4, "pattern": "collective"}
    return record("n[1-4]", "time", seconds, unit="s", probe="mpi", phase="collectives", params=params)


def hpl(**shares: float | None) -> list[Record]:
    common: dict[str, Any] = {"probe": "app", "phase": "app", "params": {"pattern": "hpl", "n": 1000, "ranks": 4}}
    each = [
        record(
            "n[1-2]",
            f"share.{kind}",
            value,
            reason=None if value else "the base clock is not known",
            **common,
            verdict=Verdict.OK if value else Verdict.UNRESOLVED,
            supported=value is not None,
        )
        for kind, value in shares.items()
    ]
    return [record("n[1-2]", "rate", 9e9, unit="flop/s", **common), *each]


def swept(sizes: dict[int, float]) -> list[Record]:
    params = {"transport": "tcp", "pattern": "pingpong"}
    return [record("n1>n2", "rtt", one, params={**params, "bytes": size}, phase="sweep") for size, one in sizes.items()]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [mpi("barrier", 0, 21e-6), mpi("allreduce", 8, 30e-6), mpi("allreduce", 1024, 40e-6),
             mpi("alltoall", 8, 50e-6), mpi("alltoall", 65536, 900e-6)],
            "n[1-4]: barrier 21 µs (20.6–21.4 µs); allreduce of 8 B 30 µs (29.4–30.6 µs); alltoall of 64 KiB 900 µs "
            "(882–918 µs).",
        ),
        (hpl(base=None, measured=0.08), "hpl on n[1-2]: rate 9 Gflop/s (8.82–9.18 Gflop/s), 8% of the peak by measured "
                                        "multiply-adds."),
        (hpl(base=0.6, measured=0.8), "hpl on n[1-2]: rate 9 Gflop/s (8.82–9.18 Gflop/s), 60% of the peak by the base "
                                      "clock."),
        (hpl(), "hpl on n[1-2]: rate 9 Gflop/s (8.82–9.18 Gflop/s)."),
        (
            swept({1: 20e-6, 1024: 24e-6, 65536: 80e-6, 1048576: 4e-3}),
            "n1 ↔ n2, TCP: round trip 20 µs (19.6–20.4 µs), at most 13.1 Gbit/s (12.9–13.4 Gbit/s), with messages of "
            "64 KiB.",
        ),
    ],
)  # fmt: skip
def test_it_is_answered_with_figure_and_unit(records: list[Record], said: str) -> None:
    assert headline(make_run(("n1", "n2"), records)) == said


def test_of_layers_it_says_which_adds_most() -> None:
    found = Finding(kind="layers", severity=Severity.INFO, subject="n1>n2", text="A round trip of 1 B takes 16.5 µs.")
    run = layered()
    run.findings.append(found)
    assert headline(run) == "n1 → n2: a round trip of 1 B takes 16.5 µs; loopback udp adds most, +6.1 µs."


def printed(run: Run, *, whole: bool = False) -> str:
    text = io.StringIO()
    print_report(run, Console(file=text, width=80), whole=whole)
    return text.getvalue()


def test_caveats_are_folded_and_a_terminal_prints_them_when_asked() -> None:
    notes = [Finding(kind="note", severity=Severity.INFO, subject="", text=f"Beware of {what}.") for what in "ab"]
    found = Finding(kind="asymmetry", severity=Severity.INFO, subject="n1", text="One way differs.")
    run = make_run(("n1", "n2"), swept({1: 20e-6}), [*notes, found])
    brief = printed(run)
    assert "One way differs." in brief
    assert "Beware" not in brief
    assert f"Left out here: 2 caveats; `wulf report {run.path} --full` prints all." in " ".join(brief.split())
    whole = printed(run, whole=True)
    assert "Left out" not in whole
    assert whole.index("One way differs.") < whole.index("Beware of a.") < whole.index("Beware of b.")
    page = render(run)
    assert "<summary>2 caveats</summary>" in page
    assert page.index("One way differs.") < page.index("Beware of a.")


def test_a_long_sweep_is_a_picture_in_a_terminal_and_a_table_when_asked() -> None:
    run = make_run(("n1", "n2"), swept({2**power: 20e-6 * 1.2**power for power in range(20)}))
    assert "bandwidth over message size" in printed(run)
    assert "replicates" not in printed(run)
    assert "Left out here: 20 message sizes" in " ".join(printed(run).split())
    assert "replicates" in printed(run, whole=True)
    assert 'id="sweep-text"' not in render(run), "the page has charts of its own"
