"""Comparisons on a real lab: the same against itself, and a link slowed by a known rate."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.disturbance import disturbance
from wulf import lab as labs
from wulf.store.run import read_run

pytestmark = pytest.mark.lab
WULF = [sys.executable, "-m", "wulf.cli.main"]

A_A = 12
"""A/A comparisons of the short form; `python -m bench statistics` makes a hundred."""


@pytest.fixture(scope="module")
def pair(netns: Any) -> Iterator[labs.Lab]:
    with labs.up(2, keep=False) as made:
        yield made


@pytest.fixture
def wulf(pair: labs.Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WULF_LAB", pair.name)
    monkeypatch.setenv("WULF_RUNS", str(tmp_path))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*WULF, *words], capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.mark.alone
@pytest.mark.full
def test_the_same_against_itself_is_rarely_a_difference(wulf: Any, tmp_path: Path) -> None:
    changed = 0
    for i in range(A_A):
        out = str(tmp_path / str(i))
        done = wulf("net", "pingpong", "n1", "n2", "--lab", "--versus", "--seconds", "0.02", "--out", out)
        assert done.returncode in (0, 1), done.stderr
        finding = next(f for f in read_run(tmp_path / str(i)).findings if f.kind == "comparison")
        changed += finding.text.startswith("B is")
    assert changed <= 4  # 5 % of twelve; more than four is one in ten thousand


@pytest.mark.full
def test_a_real_difference_is_found_in_a_few_blocks(wulf: Any, tmp_path: Path) -> None:
    done = wulf("net", "pingpong", "n1", "n2", "--lab", "--versus", "bytes=1048576", "--out", str(tmp_path / "ab"))
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("B is slower: B / A is +")
    run = read_run(tmp_path / "ab")
    assert [record.phase for record in run.records if record.metric == "rtt"] == ["A", "B"]
    blocks = [(replicate["block"], replicate["cell"]) for replicate in run.replicates]
    assert len(blocks) == 16
    assert len(set(blocks)) == 16


def test_a_parameter_that_is_none_is_refused(wulf: Any) -> None:
    done = wulf("net", "pingpong", "n1", "n2", "--lab", "--versus", "colour=red")
    assert done.returncode == 2
    assert "colour=red" in done.stderr
    assert "bytes" in done.stderr, "the names that there are"


@pytest.mark.alone
def test_a_link_slowed_by_a_known_rate_is_found_with_its_size(wulf: Any, pair: labs.Lab, tmp_path: Path) -> None:
    with disturbance() as taken:
        for name, rate in (("before", "20mbit"), ("after", "15mbit")):
            assert wulf("lab", "set", "n2", "--rate", rate).returncode == 0
            words = ("--seconds", "0.2", "--width", "1%", "--out", str(tmp_path / name))
            assert wulf("net", "stream", "n1", "n2", "--lab", *words).returncode == 0
    done = wulf("compare", "before", "after", "--json")
    assert done.returncode == 1, done.stderr
    row = json.loads(done.stdout)
    assert row["verdict"] == "slower"
    known = 0.002 + taken.lost  # of 95 % intervals, one in twenty misses by a little
    assert row["low"] - known <= 0.75 <= row["high"] + known, (row, taken)
    assert row["high"] - row["low"] < 0.05 + 2 * taken.lost  # each of the two runs may have lost so much, or nothing
    page = tmp_path / "change.html"
    shown = wulf("compare", "before", "after", "--html", str(page))
    found = re.search(r"n1 → n2, tcp stream.* -(\d+\.\d\d)%", shown.stdout)
    assert found and abs(float(found[1]) - 25) <= 1 + 100 * taken.lost, (shown.stdout, taken)
    assert "<svg" in page.read_text()


@pytest.mark.full
def test_the_same_twice_is_no_claim(wulf: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert wulf("net", "stream", "n1", "n2", "--lab", "--quick", "--out", str(tmp_path / name)).returncode == 0
    done = wulf("compare", "one", "two")
    assert done.returncode in (0, 1), done.stderr
    assert "1 cell:" in done.stdout


@pytest.mark.full
def test_a_watch_ends_with_its_width_or_its_budget(wulf: Any, tmp_path: Path) -> None:
    """On a busy machine replicates may depend on each other for as long as it is watched."""
    words = ("--watch", "--width", "50%", "--budget", "60s", "--seconds", "0.01", "--out", str(tmp_path / "watch"))
    assert wulf("net", "pingpong", "n1", "n2", "--lab", *words).returncode == 0
    run = read_run(tmp_path / "watch")
    assert run.plan["watch"] is True
    assert len(run.replicates) >= 12


@pytest.mark.alone
@pytest.mark.full
def test_a_sweep_over_a_shaped_link_finds_its_rate(wulf: Any, tmp_path: Path) -> None:
    assert wulf("lab", "set", "n2", "--rate", "100mbit").returncode == 0
    words = ("--most", "262144", "--seconds", "0.05", "--budget", "40s", "--out", str(tmp_path / "sweep"))
    done = wulf("net", "sweep", "n1", "n2", "--lab", *words)
    assert done.returncode in (0, 3), done.stderr
    assert "latency" in done.stdout
    lines = [r for r in read_run(tmp_path / "sweep").records if r.metric == "bandwidth" and r.value]
    assert lines, done.stdout
    assert 0.8 * 12.5e6 < lines[-1].value < 1.05 * 12.5e6  # type: ignore[operator]
