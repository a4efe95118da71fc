"""The page of cache edges: its words, and that its marks are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bench.edges import __main__ as edges
from bench.edges import curves
from bench.engine.places import RESULTS
from bench.report.docs import BEGIN, END

from wulf.core.records import Record, Verdict
from wulf.measure.node.edges import edge_records
from wulf.stats.claims import Claim
from wulf.stats.curves.sigma_peak import Peak
from wulf.stats.estimates import Interval

AT = "2026-11-21T12:00:00+00:00"


def records() -> list[Record]:
    server = curves.Machine("server", (32 * curves.KIB, curves.MIB))
    swept = curves.sweep(np.random.default_rng(1), server, curves.USUAL, curves.grid(4, server), 8)
    chase = [
        Record(
            run="bench", subject="here", probe="node", metric="latency", unit="s", verdict=Verdict.OK, at=AT,
            params={"pattern": "chase", "bytes": int(size), "pages": "huge"}, value=values[0], samples=values,
        )
        for size, values in swept.items()
    ]  # fmt: skip
    sizes = {"cpu.l1d_size": 32 << 10, "cpu.l2_size": 1 << 20, "cpu.l3_size": 32 << 20}
    return edge_records(chase, {"here": {name: {"value": size} for name, size in sizes.items()}}, "bench")


def test_sizes_are_whole_lines_evenly_apart() -> None:
    sizes = edges.sizes_up_to(1 << 20)
    assert (sizes[0], sizes[3], sizes[-1]) == (2048, 4096, 1 << 20)
    assert all(size % 64 == 0 for size in sizes)
    assert len(sizes) == 9 * edges.PER_OCTAVE + 1


HERE = {"date": AT, "cpus": 2, "cpu": "Some CPU", "virtual": True, "kernel": "6.1"}


def repetition() -> edges.Repetition:
    peak = Peak(Interval(2048.0, 1024.0, 4096.0), 0.5, 8.0, 1.0)
    doubtful = Peak(Interval(9216.0, 1024.0, 4096.0), 0.5, 8.0, 0.5)
    return edges.Repetition(load=1.5, stolen=0.021, edges=records(), peaks=(peak, doubtful))


def test_what_was_measured_is_told_in_rows() -> None:
    text = "\n".join(edges.measured_words([repetition()], HERE))
    assert "| 1 | 1.5, 2.1% | l1 | 32 | " in text
    assert "unresolved: the sweep ends at" in text
    assert "| 1 | 2 (×8.0) |" in text
    assert "### On 2 CPUs of Some CPU, Linux 6.1" in text
    assert "on a virtual machine, 8 replicates" in text


def test_a_machines_sweeps_are_kept_and_told_as_they_were(tmp_path: Path) -> None:
    assert edges.machines_words(tmp_path) == []
    file = edges.kept(tmp_path, HERE, [repetition()])
    assert file == tmp_path / "some-cpu-2-6.1" / "edges.json"
    assert edges.machines_words(tmp_path) == edges.measured_words([repetition()], HERE)


def test_the_page_has_its_marks_and_its_tables() -> None:
    page = edges.PAGE.read_text()
    made = page[page.index(BEGIN) : page.index(END)]
    assert "### By simulation" in made
    assert "NO" not in made.split()
    assert made.count("### On ") == len(list(RESULTS.glob("*/edges.json")))


def test_simulated_words_are_a_table() -> None:
    told = edges.simulated_words([Claim("a", "b", 0.5, 2, None)])
    assert "| a | b | 50.0% | 1.3–98.7 | – | 2 | – |" in "\n".join(told)
