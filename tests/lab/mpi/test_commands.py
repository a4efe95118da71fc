"""`wulf mpi` and MPI's layer on a real lab of two nodes, under every MPI of this machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import WULF
from tests.lab.conftest import needs
from tests.process.native.mpi_session import each_mpi, installed
from wulf import lab as labs
from wulf.store.run import read_run

BUILDING = 1200
"""Seconds: the first command with an MPI builds wulf-mpi with it, on a machine that others use, too."""

pytestmark = [pytest.mark.lab, pytest.mark.timeout(BUILDING + 60)]


@pytest.fixture
def two(two_nodes: labs.Lab) -> labs.Lab:
    return two_nodes


def wulf(lab: labs.Lab, out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WULF, *words, "--lab", "--quick", "--out", str(out)],
        capture_output=True, text=True, timeout=BUILDING, check=False, env=os.environ | {"WULF_LAB": lab.name},
    )  # fmt: skip


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode in (0, 1), done.stderr  # 1: a noisy machine may make something stand out
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.full
@each_mpi
def test_a_pingpong_over_the_lab(two: labs.Lab, tmp_path: Path, kind: str) -> None:
    done = wulf(two, tmp_path / "run", "mpi", "pingpong", "n1", "n2", "--mpi", kind, "--seconds", "0.02", "--json")
    (rtt,) = [record for record in records_of(done) if record["metric"] == "rtt"]
    assert (rtt["subject"], rtt["probe"], rtt["replicates"]) == ("n1>n2", "mpi", 6)
    assert rtt["value"] > 0
    assert rtt["params"]["mpi"].startswith(kind)
    assert rtt["params"]["launch"] == "shared"


@pytest.mark.full
@each_mpi
def test_a_collective_over_more_ranks_than_nodes(two: labs.Lab, tmp_path: Path, kind: str) -> None:
    words = ["--op", "allreduce", "--ranks", "4", "--per-node", "2", "--seconds", "0.02", "--mpi", kind, "--json"]
    done = wulf(two, tmp_path / "run", "mpi", "collective", "n[1-2]", *words)
    (time,) = [record for record in records_of(done) if record["metric"] == "time"]
    assert (time["subject"], time["params"]["ranks"], time["params"]["per_node"]) == ("n[1-2]", 4, 2)
    assert time["value"] > 0


@pytest.mark.full
@each_mpi
def test_each_replicate_in_a_launch_of_its_own(two: labs.Lab, tmp_path: Path, kind: str) -> None:
    words = ["n1", "n2", "--launch", "each", "--seconds", "0.01", "--mpi", kind, "--json"]
    records_of(wulf(two, tmp_path / "run", "mpi", "pingpong", *words))
    (launch,) = [finding for finding in read_run(tmp_path / "run").findings if finding.kind == "launch"]
    assert "Every replicate had a launch of its own (6)" in launch.text


@pytest.mark.full
@each_mpi
def test_all_pairs_are_one_launch(two: labs.Lab, tmp_path: Path, kind: str) -> None:
    done = wulf(two, tmp_path / "run", "mpi", "pairs", "n[1-2]", "--seconds", "0.02", "--mpi", kind)
    assert done.returncode in (0, 1), done.stderr
    assert "MPI round trip" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if "report:" not in line) <= 80
    (pair,) = [r for r in read_run(tmp_path / "run").records if r.subject == "n1>n2" and r.replicates == 6 and r.samples
               and r.phase == "pairs"]  # fmt: skip
    assert pair.value is not None


@pytest.mark.full
@needs("openmpi" in installed(), "openmpi")
def test_mpi_is_a_layer_above_tcp(two: labs.Lab, tmp_path: Path) -> None:
    done = wulf(two, tmp_path / "run", "net", "layers", "n1", "n2", "--mpi", "openmpi", "--seconds", "0.02", "--json")
    records = records_of(done)
    differences = {(r["params"]["layer"], r["params"]["over"]): r for r in records if r["metric"] == "difference"}
    below = "wire tcp, two CPUs" if (os.cpu_count() or 1) > 1 else "wire tcp"
    over = differences["mpi", below]
    assert over["low"] <= over["value"] <= over["high"]
    assert over["replicates"] >= 6


@pytest.mark.command("mpi list")
def test_the_nodes_mpis_are_listed(two: labs.Lab) -> None:
    if not installed():
        pytest.skip("no MPI is installed")
    words = [*WULF, "mpi", "list", "n[1-2]", "--lab", "--json"]
    environment = os.environ | {"WULF_LAB": two.name}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["node"] for row in rows] == ["n1", "n2"]
    assert {mpi["kind"] for mpi in rows[0]["mpis"]} >= set(installed())
