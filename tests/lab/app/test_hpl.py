"""`wulf app hpl` and `wulf app blas` on a real lab: files on the nodes, configurations in turn, shares of the peak."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.lab.app.test_runs import PATIENCE, wulf
from tests.lab.conftest import needs
from tests.process.native.mpi_session import each_mpi
from tests.running.tiers import first_of
from wulf import lab as labs
from wulf.agent.blas import find as blas
from wulf.apps.linpack.dat import HplDat

pytestmark = [pytest.mark.lab, pytest.mark.timeout(PATIENCE + 60)]


@pytest.mark.command("app hpl")
@each_mpi
def test_each_configuration_of_a_file_is_run_by_itself_beside_the_peak(
    two_nodes: labs.Lab, tmp_path: Path, xhpl: Path, kind: str
) -> None:
    dat = tmp_path / "HPL.dat"
    dat.write_text(HplDat((240,), (16, 32), ((1, 2),)).text())
    words = ["--mpi", kind, "--runs", "2", "--dat", str(dat), "--program", str(xhpl)]
    done = wulf(two_nodes, tmp_path / "run", "hpl", "n[1-2]", *words)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    rates = {r["params"]["nb"]: r for r in records if r["probe"] == "app" and r["metric"] == "rate"}
    assert {nb: (r["value"], r["replicates"], r["subject"]) for nb, r in rates.items()} == {
        16: (1.6e7, 2, "n[1-2]"),
        32: (3.2e7, 2, "n[1-2]"),
    }, done.stderr
    (peak,) = [r for r in records if r["probe"] == "node"]  # both nodes are one machine
    shares = {r["params"]["nb"]: r["value"] for r in records if r["metric"] == "share.measured"}
    assert shares == {16: pytest.approx(1.6e7 / peak["value"]), 32: pytest.approx(3.2e7 / peak["value"])}


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "said"),
    first_of(
        [
            (["--n", "1000", "--p", "3", "--q", "1"], "3 x 1 is 3 ranks, and 2 are to be started"),
            (["--n", "2000000"], "N = 2000000 needs"),
            (["--n", "1000", "--blas", "/nowhere/libblas.so.3"], "is not there on n1"),
            (["--n", "1000", "--source", "/nowhere"], "has no Makefile"),
        ]
    ),
)
@each_mpi
def test_what_does_not_fit_the_nodes_is_refused(
    two_nodes: labs.Lab, tmp_path: Path, xhpl: Path, kind: str, words: list[str], said: str
) -> None:
    program = [] if "--source" in words else ["--program", str(xhpl)]
    done = wulf(two_nodes, tmp_path / "run", "hpl", "n[1-2]", "--mpi", kind, *program, *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.full
@needs(shutil.which("hpcc"), "hpcc")
def test_hpcc_measures_all_parts_over_two_nodes(two_nodes: labs.Lab, tmp_path: Path) -> None:
    done = wulf(two_nodes, tmp_path / "run", "hpcc", "n[1-2]", "--runs", "1", "--n", "128", "--nb", "32")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    values = {r["metric"]: r["value"] for r in records if r["probe"] == "app" and not r["metric"].startswith("share")}
    assert len(values) == 33, done.stderr  # the wall time beside them
    assert all(values.values())


@pytest.mark.full
@needs(blas.find(), "a BLAS library")
def test_the_blas_libraries_of_both_nodes_are_compared(two_nodes: labs.Lab, tmp_path: Path) -> None:
    path = blas.find()[0]
    words = ["--rows", "64", "--nb", "8,16", "--runs", "1", "--library", path]
    done = wulf(two_nodes, tmp_path / "run", "blas", "n[1-2]", *words)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(r["subject"], r["params"]["k"]) for r in records if r["probe"] == "agent"}
    assert found == {(node, k) for node in ("n1", "n2") for k in (8, 16)}, done.stderr
