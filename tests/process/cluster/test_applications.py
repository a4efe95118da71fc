"""Applications over an inventory, with the agent's own functions in place of agents: what really runs is a shell."""

from __future__ import annotations

import os
from pathlib import Path

from tests.unit.cluster.test_applications import OPENMPI
from tests.unit.cluster.test_applications import here as here
from wulf.apps.driver import Job
from wulf.cluster.applications import PIECE
from wulf.cluster.mpi import Installed, WorldSpec


def shell(script, **more):
    return Job(("sh", "-c", script), timeout=60.0, **more)


def test_a_job_alone_has_its_files_and_leaves_nothing(here, tmp_path):
    applications, _ = here
    job = shell("cat in; echo $X; echo done > out", files={"in": "a\n"}, environment={"X": "y"}, outputs=("out",))
    answer = applications.alone("n2", job)
    assert (answer["stdout"], answer["files"]) == ("a\ny\n", {"out": "done\n"})
    assert list(answer["counters"]) == ["n2"]
    assert list((tmp_path / f"wulf-{os.getuid()}/jobs").iterdir()) == []


def test_long_files_travel_in_pieces_and_once_where_nodes_share_them(here):
    applications, agents = here
    text = "x" * (2 * PIECE + 5)
    mpi = Installed(**{**OPENMPI, "mpirun": str(Path("/bin/false"))})
    applications.ranks(shell("true", files={"in": text}, mpi=True), WorldSpec(), mpi)
    assert [op for op, _ in agents["n1"].asked].count("app_file") == 3
    assert [op for op, _ in agents["n2"].asked].count("app_file") == 0  # the folder was there already
    assert [op for op, _ in agents["n2"].asked].count("app_clear") == 1
