"""Layers on a real lab of two nodes: every layer measured, the wire kept apart from what stays within a node."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.lab.commands import WULF, start, wulf
from wulf import lab as labs
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]


@pytest.fixture
def two(two_nodes: labs.Lab) -> labs.Lab:
    return two_nodes


def within(lab: labs.Lab) -> dict[str, str]:
    return os.environ | {"WULF_LAB": lab.name}


@pytest.mark.command("net layers")
def test_every_layer_and_what_it_adds(two: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = wulf(
        "net", "layers", "n1", "n2", "--mpi", "none", "--lab", "--quick", "--json", "--out", str(out), env=within(two)
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    measured = {(r["params"]["transport"], r["subject"]) for r in records if r["metric"] == "rtt"}
    assert measured >= {("null", "n1>n1"), ("udp", "n1>n1"), ("tcp", "n1>n1"), ("udp", "n1>n2"), ("tcp", "n1>n2")}
    added = {(r["params"]["layer"], r["params"]["over"]): r for r in records if r["metric"] == "difference"}
    for transport in ("udp", "tcp"):
        wire = added[f"wire {transport}", f"loopback {transport}"]
        assert wire["unit"] == "s"
        assert wire["low"] <= wire["value"] <= wire["high"]
        assert wire["replicates"] >= 6
    blocks: dict[int, list[int]] = {}
    for replicate in read_run(out).replicates:
        blocks.setdefault(replicate["block"], []).append(replicate["cell"])
    assert all(sorted(cells) == list(range(len(measured))) for cells in blocks.values())
    assert 'id="layers-chart"' in (out / "report.html").read_text()


@pytest.mark.full
def test_the_table_fits_80_columns_and_one_node_has_no_wire(two: labs.Lab, tmp_path: Path) -> None:
    done = wulf(
        "net", "layers", "n1", "--mpi", "none", "--lab", "--quick", "--out", str(tmp_path / "run"), env=within(two)
    )
    assert done.returncode == 0, done.stderr
    assert "loopback tcp" in done.stdout
    assert "wire" not in done.stdout.split("Layers, ")[1]
    assert max(len(line) for line in done.stdout.splitlines() if "report:" not in line) <= 80


@pytest.mark.full
def test_both_ends_on_one_node_are_two_processes(two: labs.Lab, tmp_path: Path) -> None:
    words = ["net", "pingpong", "n1", "n1", "--lab", "--seconds", "1", "--out", str(tmp_path / "run")]
    process = subprocess.Popen([*WULF, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=within(two))
    try:
        most = 0
        while process.poll() is None and most < 2:
            most = max(most, probes_below(process.pid))
        assert most == 2
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert probes_below(process.pid) == 0


def probes_below(pid: int) -> int:
    """How many wulf-net sessions the command has opened, as its ssh children name them."""
    asked = subprocess.run(["pgrep", "-P", str(pid), "-a"], capture_output=True, text=True, check=False)
    return sum("wulf-net" in line for line in asked.stdout.splitlines())


@pytest.mark.full
def test_a_node_that_dies_leaves_the_local_layers(netns: None, lab_name: str, tmp_path: Path) -> None:
    with labs.up(2, keep=False, name=lab_name) as lab:
        process = start("net", "layers", "n1", "n2", "--mpi", "none", "--lab", out=tmp_path / "run", env=within(lab))
        lab.kill_node("n2")
        out, err = process.communicate(timeout=120)
    assert process.returncode == 3, out + err
    run = read_run(tmp_path / "run")
    verdicts = {(r.params["transport"], r.subject): r.verdict for r in run.records if r.metric == "rtt"}
    assert {subject for (_, subject), verdict in verdicts.items() if verdict == "failed"} == {"n1>n2"}
    assert {verdict for (_, subject), verdict in verdicts.items() if subject == "n1>n1"} <= {"ok", "noisy"}
    assert any("n2" in f.subject for f in run.findings if f.kind == "failed")
