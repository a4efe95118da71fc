"""`wulf node` over real nodes: every row has a figure or a reason, and the run is one as all others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.commands import wulf
from wulf.lab import Lab
from wulf.measure.node.rows import rows_of, table
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]


@pytest.mark.full
def test_every_row_of_a_group_has_a_figure_or_a_reason_on_every_node(tmp_path: Path, two_nodes: Lab) -> None:
    done = wulf("node", "--lab", "--quick", "--only", "os", "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 1), done.stdout + done.stderr
    run = read_run(tmp_path / "run")
    assert run.meta["state"] == "complete"
    found = rows_of(run.records)
    wanted = {row.name for row in table().rows if row.group == "os" and row.quick}
    assert set(found) == {"n1", "n2"}
    assert all(wanted <= set(rows) for rows in found.values())
    for rows in found.values():
        for record in rows.values():
            assert (record.value is not None and record.value > 0) or record.reason
            assert record.params["pattern"]
    assert "Key figures" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80 or "report:" in max(done.stdout.splitlines(), key=len)
    assert any("share one machine" in finding.text for finding in run.findings)
    assert any("can't be judged" in finding.text for finding in run.findings)
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.command("node")
def test_one_probe_with_its_parameters_as_records(tmp_path: Path, two_nodes: Lab) -> None:
    how = ["--probe", "syscall", "--set", "seconds=0.01", "--lab", "--quick", "--json"]
    done = wulf("node", *how, "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 1), done.stdout + done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert {record["subject"] for record in records} == {"n1", "n2"}
    assert all(record["probe"] == "node" and record["value"] > 0 for record in records)
    assert all(record["params"]["seconds"] == 0.01 for record in records)


def test_what_wulf_node_does_not_know_is_refused_before_a_lab_is_made(tmp_path: Path) -> None:
    done = wulf("node", "--probe", "syscall", "--set", "seconds=100000", "--lab", "2", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "at most" in done.stderr
    assert "making a lab" not in done.stderr
