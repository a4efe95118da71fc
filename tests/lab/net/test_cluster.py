"""The network probe over a whole cluster, on a real lab: four nodes at 100 Mbit/s, n3 at 10 Mbit/s.

Rates that the slowest of machines keeps up with; below them figures may lie as far as a busy one has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wulf import lab as labs
from wulf.store.run import Run, read_run

pytestmark = pytest.mark.lab
SLOW, USUAL = 1.25e6, 12.5e6
"""B/s on the wire; a stream's payload is a little less."""


@pytest.fixture(scope="module")
def shaped(netns: None) -> Iterator[labs.Lab]:
    rates = {"n1": "100mbit", "n2": "100mbit", "n3": "10mbit", "n4": "100mbit"}
    with labs.up(4, keep=False, rates=rates) as lab:
        yield lab


@pytest.fixture
def wulf(shaped: labs.Lab, tmp_path: Path) -> Any:
    """Runs a command of `wulf net` on the lab; gives its output and its run."""

    def run(*words: str) -> tuple[subprocess.CompletedProcess[str], Run]:
        command = [sys.executable, "-m", "wulf.cli.main", "net", *words, "--lab", "--quick"]
        done = subprocess.run(
            [*command, "--out", str(tmp_path / "run")],
            capture_output=True, text=True, timeout=240, check=False, env=os.environ | {"WULF_LAB": shaped.name},
        )  # fmt: skip
        return done, read_run(tmp_path / "run")

    return run


def blamed(run: Run) -> set[str]:
    return {finding.subject for finding in run.findings if finding.kind in ("node", "link")}


def whole(run: Run) -> dict[tuple[str, str], Any]:
    return {(r.subject, r.metric): r for r in run.records if r.phase == "whole"}


@pytest.mark.alone
def test_pairs_name_the_slow_node_and_only_it(wulf: Any) -> None:
    done, run = wulf("pairs", "--seed", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert blamed(run) == {"n3"}
    (covered,) = (finding for finding in run.findings if finding.kind == "coverage")
    assert covered.text.startswith("All 6 pairs of 4 nodes, in 3 rounds")
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80


@pytest.mark.full
def test_pairs_together_begin_at_one_moment(wulf: Any) -> None:
    done, run = wulf("pairs", "--together", "--rounds", "2", "--json")
    assert done.returncode in (0, 1), done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    streams = [record for record in records if record["metric"] == "throughput"]
    assert len(streams) == 8
    assert {record["together"] for record in streams} == {2}
    assert all(0 < record["start_bound"] < 0.5 for record in streams)
    assert all(0 <= record["overlap"] <= 1 for record in streams)
    covered = next(finding for finding in run.findings if finding.kind == "coverage")
    assert covered.evidence[0].value == pytest.approx(1 / 3)


@pytest.mark.alone
@pytest.mark.full
def test_incast_at_the_slow_node_stands_out(wulf: Any) -> None:
    done, run = wulf("incast", "--to", "n[1,3-4]")
    assert done.returncode == 1, done.stdout + done.stderr
    assert blamed(run) == {"n3"}
    figures = whole(run)
    assert 0 < figures["n3", "incast"].value < 1.1 * SLOW
    assert 1.1 * SLOW < figures["n1", "incast"].value < 1.1 * USUAL
    assert 1 / 3 <= figures["n1", "fairness"].value <= 1
    assert figures["n1", "retransmits"].value >= 0


@pytest.mark.alone
@pytest.mark.full
def test_the_bisections_worst_pair_is_the_slow_nodes(wulf: Any) -> None:
    done, run = wulf("bisection", "--search", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert blamed(run) == {"n3"}
    figures = whole(run)
    assert 0 < figures["cluster", "bisection_worst"].value < 1.1 * 2 * (SLOW + USUAL)
    assert figures["cluster", "bisection_random"].replicates >= 1
    assert "Bisection over 2 pairs, both ways" in done.stdout


def test_too_few_nodes_are_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wulf.cli.main", "net", "bisection", "--nodes", "n[1-2]"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "at least 4 nodes" in done.stderr
