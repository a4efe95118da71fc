"""Nodes with two networks, the second at a tenth of the rate: as arms of --versus, of an impact, and of a farm.
A lost segment costs 0.2 s and more on a machine that others use: the program's messages take 1.7 s over the second.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.commands import wulf
from wulf import lab
from wulf.core.errors import INCOMPLETE, OK
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

NETWORKS = ("10.77.0.0/24", "10.78.0.0/24")

MESSAGES = """
#include <mpi.h>
#include <stdio.h>
static char bytes[1 << 20];
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double began = MPI_Wtime();
  for (int i = 0; i < 20; ++i) {
    if (rank == 0) {
      MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(bytes, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(bytes, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("took %g\\n", MPI_Wtime() - began);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def dual(netns: None) -> Iterator[lab.Lab]:
    """Two nodes with both networks."""
    with lab.up(2, rate="1gbit", second="100mbit", keep=False) as made:
        yield made


@pytest.fixture(autouse=True)
def meant(dual: lab.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_LAB", dual.name)


def test_a_lab_with_a_second_network_says_so(dual: lab.Lab) -> None:
    assert [node.second for node in dual.nodes] == ["10.78.0.1", "10.78.0.2"] and dual.second_rate == "100mbit"
    shown = wulf("lab", "status", "--name", dual.name).stdout
    assert "Second network: 10.78.0.0/24, eth1, rate 100mbit" in shown


def test_a_stream_over_the_second_network_is_slower_by_ten(dual: lab.Lab, tmp_path: Path) -> None:
    words = ["--lab", "--out", str(tmp_path / "run"), "--seconds", "0.1", "--versus", f"network={NETWORKS[1]}"]
    done = wulf("net", "stream", "n1", "n2", *words)
    run = read_run(tmp_path / "run")
    (compared,) = [finding for finding in run.findings if finding.kind == "comparison"]
    (evidence,) = compared.evidence
    assert evidence.judgement == "slower", done.stdout
    assert evidence.value is not None and 0.05 < evidence.value < 0.2
    assert {record.params["address"] for record in run.records} == {"10.77.0.2", "10.78.0.2"}


@pytest.mark.full
def test_a_program_of_messages_is_slower_over_it(dual: lab.Lab, tmp_path: Path) -> None:
    """By Open MPI: Debian's MPICH 4.0.2 stands still now and then over TCP between namespaces, on either network."""
    kind = "openmpi"
    source, program = tmp_path / "messages.c", tmp_path / "messages"
    source.write_text(MESSAGES)
    subprocess.run([f"mpicc.{kind}", "-O1", "-o", str(program), str(source)], check=True, timeout=120)
    tmp_path.chmod(0o755)
    out = tmp_path / "run"
    words = ["--lab", "--mpi", kind, "--out", str(out), "--blocks", "6", "--no-profile", "--figure", "took (.*)"]
    done = wulf("impact", *words, "--timeout", "30s", "--ranks", "2", "--networks", *NETWORKS, "--", str(program))
    assert done.returncode == OK, done.stderr
    found = json.loads((out / "impact.json").read_text())
    assert (found["kind"], found["claim"], found["state"]) == ("networks", "slower", "complete")
    application, _, stream = (row["compared"] for row in found["rows"])
    assert application["ratio"] > 1.5 and stream["judgement"] == "slower" and stream["ratio"] < 0.2


@pytest.mark.alone
def test_a_farm_takes_longer_over_it(dual: lab.Lab, tmp_path: Path) -> None:
    """Batches so long that the rate counts."""
    out = tmp_path / "run"
    given = ["--workers", "1", "--batch", "5000", "--units", "20000", "--bytes", "1", "--quick", "--seed", "1"]
    done = wulf("mpi", "farm", "--lab", "--out", str(out), "--mpi", "openmpi", "--networks", *NETWORKS, *given)
    assert done.returncode in (OK, INCOMPLETE), done.stderr  # a busy machine's figures may be unresolved
    (farm,) = [finding for finding in read_run(out).findings if finding.kind == "farm"]
    assert f"Over {NETWORKS[1]} the whole run is longer in 1 of 1 cell" in farm.text
    assert all(f"over {network}" in (out / "report.html").read_text() for network in NETWORKS)
