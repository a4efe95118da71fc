"""What LogGP says of an MPI's protocols, held against what the MPI itself says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from bench.foresight.public import RANKS, TRACED

from tests.lab.conftest import needs
from tests.lab.mpi.test_commands import BUILDING, wulf
from tests.process.native.mpi_session import installed
from wulf import lab as labs
from wulf.workflow.model.loggp import HEADER

pytestmark = [pytest.mark.lab, pytest.mark.alone, pytest.mark.timeout(BUILDING + 300)]


def eager_limit_of_tcp() -> int:
    """Open MPI's own, in its own words."""
    command = ["ompi_info", "--param", "btl", "tcp", "--level", "9", "--parsable"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    (limit,) = re.findall(r"^mca:btl:tcp:param:btl_tcp_eager_limit:value:(\d+)$", said, re.MULTILINE)
    return int(limit)


@needs("openmpi" in installed(), "openmpi")
def test_the_eager_limit_found_is_the_mpis_own(netns: None, tmp_path: Path) -> None:
    """It was the low end of a bootstrap interval: 64 to 16,384 B where Open MPI's is 65,536."""
    with labs.up(RANKS, keep=False, link=TRACED.both) as lab:
        done = wulf(lab, tmp_path / "run", "model", "loggp", "n1", "n2", "--mpi", "openmpi", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["in_order"] is not False, "TCP is a stream; on a busy machine that may not be told"
    eager, own = json.loads(done.stdout)["eager"], eager_limit_of_tcp()
    assert own - HEADER <= eager["high"]
    assert eager["low"] <= own
    assert own / 2 <= eager["value"] <= own
