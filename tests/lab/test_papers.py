"""Every command of docs/explanation/papers.md, run at small size over a lab or on data."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.native.mpi_session import installed
from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "papers.md").read_text()
COMMANDS = sorted(set(re.findall(r"^\|[^|]*\| `wulf ([^`]*)` \|", PAGE, re.MULTILINE)))

SHORT = ["--lab", "--quick"]
SIZES = [*SHORT, "--least", "4096", "--most", "8192", "--seconds", "0.01"]

SMALL: dict[str, list[str]] = {
    "audit --aim latency": ["n[1-2]", "--lab"],
    "tune --aim latency": ["n[1-2]", "--lab"],  # without --apply: what it would try
    "net stream n1 n2": [*SHORT, "--seconds", "0.02"],
    "net stream n1 n2 --as hpcbench": SHORT,
    "net sweep n1 n2": [*SHORT, "--most", "64", "--seconds", "0.005"],
    "net curve n1 n2": SIZES,
    "mpi curve n1 n2": [*SIZES, "--mpi", installed()[0]],
    "mpi farm n1 n2 n3": [*SHORT, "--workers", "1", "--batch", "10", "--units", "200", "--mpi", installed()[0]],
    "mpi farm n1 n2 n3 --kinds 1:0.5,10:0.5": [
        *SHORT, "--workers", "1", "--batch", "10", "--units", "200", "--mpi", installed()[0],
    ],
    "mpi graph n1 n2": [*SHORT, "--pattern", "stencil,none", "--mpi", installed()[0]],
    "node": ["n1", *SHORT, "--only", "os"],
    "rates get mem.l2.size": [],
    "rates get mem.random.latency": [],
}  # fmt: skip
"""What makes a command small, or says where it runs; a command that is complete stands for itself."""

ELSEWHERE = {
    "app hpl": "lab/app/test_hpl.py", "compare --curves": "unit/report/net/test_overlaid.py",
    "compare --machines": "browser/test_node_report.py", "impact": "lab/test_commands.py",
    "impact --app hpcc": "unit/workflow/impact/test_run.py", "impacts": "lab/impact/test_settings.py",
    "model farm": "unit/workflow/model/test_farm.py", "model speedup": "unit/workflow/model/test_traces.py",
    "predict": "contract/test_predict.py", "search hpl": "lab/test_commands.py", "tune import": "unit/workflow/tune",
}  # fmt: skip
"""What needs a program, a run or a table of the user's, and where it is run with one."""

ANY = (0, 1, 3)
"""A machine that others use may make something stand out, or lack a rate."""


@pytest.fixture(scope="module")
def place(netns: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose runs are made in a running lab of three nodes."""
    name = f"papers-{os.getpid()}"
    lab = labs.up(3, name=name, keep=True)
    before = os.environ.get("WULF_LAB")
    os.environ["WULF_LAB"] = lab.name
    try:
        yield tmp_path_factory.mktemp("papers")
    finally:
        labs.down(name)
        if before is None:
            del os.environ["WULF_LAB"]
        else:
            os.environ["WULF_LAB"] = before


def test_every_command_is_run_here_or_elsewhere() -> None:
    assert len(COMMANDS) > 20
    known = set(SMALL) | set(ELSEWHERE)
    complete = [command for command in COMMANDS if command not in known]
    assert all(" --" in command or command.endswith(("list", "myrinet-2000")) for command in complete), complete
    assert sorted(known - set(COMMANDS)) == [], "no longer on the page"
    assert [path for path in ELSEWHERE.values() if not (ROOT / "tests" / path).exists()] == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in ELSEWHERE])
def test_a_command(place: Path, command: str) -> None:
    words = [word if not word.startswith("examples/") else str(ROOT / word) for word in shlex.split(command)]
    done = subprocess.run(
        [sys.executable, "-m", "wulf.cli.main", *words, *SMALL.get(command, [])],
        cwd=place, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode in ANY, done.stderr
    assert done.stdout.strip() or command.startswith("rates get"), done.stderr
