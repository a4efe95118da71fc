"""`wulf mpi graph` over the nodes of a lab, from the command line to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.commands import wulf
from tests.process.native.mpi_session import each_mpi
from wulf import lab
from wulf.core.errors import INCOMPLETE, OK
from wulf.store.run import read_run

pytestmark = pytest.mark.lab


@pytest.mark.command("mpi graph")
@each_mpi
def test_graphs_over_two_nodes(kind: str, two_nodes: lab.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--lab", "--mpi", kind, "--out", str(out), "--quick", "--seed", "1", "--json"]
    done = wulf("mpi", "graph", *words, "--pattern", "stencil,none")
    assert done.returncode in (OK, INCOMPLETE), done.stderr  # a busy machine's figures may be unresolved
    records = [json.loads(line) for line in done.stdout.splitlines()]
    spins = {(r["params"]["dependence"], r["params"]["task_seconds"]) for r in records if r["metric"] == "efficiency"}
    assert {"stencil", "none"} == {dependence for dependence, _ in spins}
    assert len(spins) > 6, "the search goes on from its first points"
    assert {r["subject"] for r in records} == {"n1>n2"}
    run = read_run(out)
    messages = {one["info"]["messages"] / one["info"]["steps"] for one in run.replicates}
    assert messages == {0.0, 2.0}
    (graph,) = [finding for finding in run.findings if finding.kind == "graph"]
    assert "METG(50 %) of none" in graph.text and "METG(50 %) of stencil" in graph.text
    assert "graph-efficiency" in (out / "report.html").read_text()
