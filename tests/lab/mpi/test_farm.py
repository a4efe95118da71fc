"""`wulf mpi farm` over the nodes of a lab, from the command line to the report, under every MPI of this machine."""

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


@pytest.mark.command("mpi farm")
@each_mpi
def test_a_farm_over_two_nodes(kind: str, two_nodes: lab.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--lab", "--mpi", kind, "--out", str(out), "--quick", "--seed", "1", "--json"]
    given = ["--workers", "1,2", "--batch", "1,7", "--units", "20", "--bytes", "1000"]
    done = wulf("mpi", "farm", *words, *given)
    assert done.returncode in (OK, INCOMPLETE), done.stderr  # a busy machine's figures may be unresolved
    run = read_run(out)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    cells = {(r["params"]["workers"], r["params"]["batch"]) for r in records if r["metric"] == "seconds"}
    assert cells == {(0, 1), (1, 1), (1, 7), (2, 1), (2, 7)}
    assert len({replicate["info"]["digest"] for replicate in run.replicates}) == 1
    near = {place for replicate in run.replicates for place in replicate["info"]["nearness"]}
    assert "other node" in near
    blocks = {replicate["block"] for replicate in run.replicates}
    assert len(run.replicates) == 5 * len(blocks) == 30
    (farm,) = [finding for finding in run.findings if finding.kind == "farm"]
    assert "o = a + c·b with 2 workers" in farm.text
    studied = wulf("model", "farm", str(out), "--json")
    assert studied.returncode == OK, studied.stderr
    assert json.loads(studied.stdout)["figures"]["clock.o.1"]["value"] is not None
    page = (out / "report.html").read_text()
    assert "By the place of the worker" in page
    assert "farm-speedup" in page and "farm-message" in page
