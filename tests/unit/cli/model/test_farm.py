"""`wulf model farm`: one farm, two beside each other, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.model.farm.test_cycles import BATCHES, TRUTH, WORKERS, farm
from tests.wording import lacking
from wulf.cli.model.command import command
from wulf.core.errors import UsageError
from wulf.model.farm.cycles import BUSY, FREE


def table(path: Path, seed: int, slower: float = 1.0, form: Any = BUSY, cells: int = 20) -> Path:
    """A CSV of units/s, with so many of 20 cells."""
    runs = [*farm(form, seed).runs.items()][:: 20 // cells]
    lines = [f"{w},{b},{1 / (slower * s)}" for (w, b), each in runs for s in each]
    file = path / f"farm{seed}.csv"
    file.write_text("\n".join(["workers,batch,units/s", *lines]))
    return file


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert command.main(["farm", *map(str, words)], standalone_mode=False) == 0
    return capsys.readouterr().out


def test_a_table_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, table(tmp_path, 1))
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    sentences = (
        "'Busy master' predicts best, and better than noise explains",
        "o, batch 1 ",
        "W*, batch 100 ",
        "METG(50 %), 19 workers ",
        "Serial fraction (Karp–Flatt)",
        "Messages a second at the master",
        "a table of times has none",
    )
    assert lacking(text, *sentences) == []
    assert "Overhead against the largest batch" not in text, "rates say nothing of whole runs"


def test_json_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    found = json.loads(run(capsys, table(tmp_path, 1), "--json", "--html", page))
    assert (found["best"], found["told_apart"], found["units"]) == ("busy", True, None)
    assert (found["workers"], found["batches"]) == (list(WORKERS), list(BATCHES))
    o = found["figures"]["o.1"]
    assert o["low"] <= TRUTH[2] + TRUTH[3] <= o["high"] and o["unit"] == "s"
    assert found["forms"]["busy"]["parameters"]["t"]["value"] == pytest.approx(TRUTH[0], rel=0.05)
    fractions = [one for one in found["serial_fraction"] if one["batch"] == 1]
    assert [one["workers"] for one in fractions] == [3, 7, 19]
    assert all(one["low"] <= one["value"] <= one["high"] for one in fractions)
    assert page.read_text().startswith("<!doctype html>")


def test_what_has_no_bound_is_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, table(tmp_path, 2, form=FREE), "--json"))
    assert found["figures"]["saturation.1"]["high"] is None and not found["told_apart"]


def test_what_has_no_bound_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(run(capsys, table(tmp_path, 2, form=FREE)).split())
    assert lacking(text, "at most", "at least", "can't be told apart from") == []


def test_two_farms_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = table(tmp_path, 1, cells=10), table(tmp_path, 3, slower=2.0, cells=10)
    found = json.loads(run(capsys, first, second, "--json"))
    for name, truth in (("o.1", 2.0), ("o.4", 2.0), ("unit", 2.0), ("saturation.1", 1.0), ("metg", 2.0)):
        one = found["ratios"][name]
        assert one["low"] <= truth <= one["high"], name


def test_two_farms_in_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, table(tmp_path, 1, cells=10), "--pelikan")
    assert max(map(len, out.splitlines())) <= 80
    assert lacking(" ".join(out.split()), "Second by first", " less", " no", "Second: the table of 2007: ") == []


def test_the_table_of_2007_with_what_it_printed(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "--pelikan")
    rows = [line.split() for line in out.splitlines()]
    assert ["printed", "µs", "5", "6", "6", "11", "–"] in rows
    assert ["printed", "kHz", "4.744", "–", "–", "–", "–"] in rows
    assert ["printed", "–", "–", "–", "–", "17.43"] in rows
    assert not any(line.startswith("  2007") for line in out.splitlines()), "its own rows stand there once"


def test_how_many_farms() -> None:
    for words in ((), ("a.csv", "b.csv", "--pelikan"), ("a.csv", "b.csv", "c.csv")):
        with pytest.raises(UsageError, match="one farm is studied, or two"):
            command.main(["farm", *words], standalone_mode=False)
    with pytest.raises(UsageError, match=r"can't read none\.csv"):
        command.main(["farm", "none.csv"], standalone_mode=False)
    with pytest.raises(UsageError, match="a run knows its units"):
        command.main(["farm", "last", "--units", "10"], standalone_mode=False)
