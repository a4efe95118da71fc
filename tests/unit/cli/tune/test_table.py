"""`wulf tune import`: for people, for programs, and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wording import Wording, lacking
from wulf.cli.tune.command import command
from wulf.core.errors import UsageError

TABLE = """arm,mean,sd,n
none,50.03,4.31,10
coalescing,31.63,.83,10
firewall,41.62,8.90,10
irqbalance,49.72,9.68,10
coalescing + firewall,21.31,.97,10
"""


def run(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    path = folder / "table3.csv"
    path.write_text(TABLE)
    command.main(["import", str(path), *words], standalone_mode=False)
    return capsys.readouterr().out


def test_a_table_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    monkeypatch.chdir(tmp_path)
    out = run(capsys, Path(), "--unit", "us")
    assert max(map(len, out.splitlines())) <= 80
    assert lacking(" ".join(out.split()), "31.6 µs", "+36.8 %", "faster by itself", "Of 3 pairs 2 can't be told") == []
    wording(out)


def test_a_table_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    found = json.loads(run(capsys, tmp_path, "--unit", "us", "--json", "--html", str(page)))
    assert found["metric"] == {"unit": "s", "lower_is_better": True}
    assert found["design"] == "one setting at a time, and 1 combination"
    base, coalescing, *_ = found["arms"]
    assert base["against_default"] is None
    assert coalescing["against_default"]["improvement"] == pytest.approx(1 - 31.63 / 50.03)
    assert coalescing["proven"] and coalescing["verdict"] == "faster"
    (together,) = found["together"]
    assert together["product"] == pytest.approx(31.63e-6 * 41.62 / 50.03)
    assert together["ratio"] == pytest.approx(together["mean"] / together["product"])
    assert found["unseen"] == [["coalescing", "irqbalance"], ["firewall", "irqbalance"]]
    assert {one["kind"] for one in found["limits"]} == {"interactions", "order", "means"}
    assert "<!doctype html>" in page.read_text()


def test_more_may_be_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, tmp_path, "--unit", "Gbit/s", "--better", "higher", "--json"))
    assert found["arms"][1]["verdict"] == "slower"
    assert found["arms"][1]["against_default"]["improvement"] == pytest.approx(31.63 / 50.03 - 1)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't read"):
        command.main(["import", str(tmp_path / "none.csv")], standalone_mode=False)
