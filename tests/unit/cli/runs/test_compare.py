"""`wulf compare --machines`: which runs, prices and rows it takes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.unit.report.make_node import node_run
from wulf.cli.runs.compare import command
from wulf.core.errors import UsageError
from wulf.store.run import RunWriter


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs of the node survey on disk, `old` and `new`."""
    for name, node in (("old", "n1"), ("new", "n2")):
        run = node_run((node,), cpus=2)
        with RunWriter(tmp_path / name, "node", {"nodes": [node]}) as writer:
            writer.write_json("fingerprint.json", run.fingerprint)
            for record in run.records:
                writer.append(record)
            writer.finish("complete")
    return tmp_path


def invoke(runs: Path, *words: str) -> str:
    got = CliRunner().invoke(command, [*words, "--in", str(runs)], catch_exceptions=False)
    assert got.exit_code == 0, got.output
    return got.output


def test_machines_of_two_runs_with_a_price(runs: Path) -> None:
    out = invoke(runs, "old", "new", "--machines", "--price", "new=2490", "--row", "mem.l2.latency", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["machine"], row["price"]) for row in rows] == [("n1", None), ("n2", 2490.0)]
    assert rows[1]["cost"]["value"] == pytest.approx(2490 * rows[1]["time"]["value"])


def test_machines_as_a_page(runs: Path, tmp_path: Path) -> None:
    out = invoke(runs, "old", "--machines", "--html", str(tmp_path / "m.html"))
    assert "page: " in out
    assert "1&nbsp;machine" in (tmp_path / "m.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("old",), "two runs"),
        (("old", "new", "old"), "two runs"),
        (("old", "new", "--price", "n1=5"), "--machines"),
        (("old", "new", "--row", "mem.l2.latency"), "--machines"),
        (("old", "--machines", "--price", "n7=5"), "no such machine"),
        (("old", "--machines", "--price", "n1"), "NAME=PRICE"),
    ],
)
def test_what_makes_no_sense_is_refused(runs: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        invoke(runs, *words)
