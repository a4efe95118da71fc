import json
from dataclasses import replace

import pytest
from bench import __main__ as command
from bench import docs, machine, rows
from bench.__main__ import PAGE, RESULTS, machines
from bench.errors import BenchError

MADE = "| a |"


def test_only_what_stands_between_the_marks_is_replaced():
    page = f"before\n{docs.BEGIN}\nold\n{docs.END}\nafter\n"
    assert docs.rewritten(page, MADE) == f"before\n{docs.BEGIN}\n{MADE}\n{docs.END}\nafter\n"


def test_text_with_backslashes_survives():
    page = f"{docs.BEGIN}\n{docs.END}"
    assert r"\1 \g<0>" in docs.rewritten(page, r"\1 \g<0>")


def test_a_page_without_marks_is_refused():
    with pytest.raises(BenchError, match="lacks the marks"):
        docs.rewritten("nothing", MADE)


def test_the_page_shows_the_results_of_every_machine():
    page = PAGE.read_text()
    assert docs.rewritten(page, docs.sections(machines(RESULTS))) == page, "run `python -m bench --docs`"


def row(name: str, ours: float) -> rows.Row:
    return rows.Row(name, ours, 2.0, "peer", "s", ours / 2, None, None, "lower", 1.0)


def test_only_what_is_met_counts_as_met():
    made = [replace(row(name, 1.0), low=low, high=high) for name, low, high in (("a", 0.4, 0.6), ("b", 1.1, 1.2))]
    now = {"peers": {}, "date": "2026-01-01"} | dict.fromkeys(
        ("cpus", "cpu", "virtual", "kernel", "system", "congestion control", "load before", "wulf"), "x"
    )
    best = replace(made[0], name=f"a, {rows.BEST}")  # the same comparison once more
    told = docs.section([*made, best, row("c", 1.0), rows.without_peer("d", "no", "s", "lower")], now)
    assert "Of 3 goals 1 are met, 1 missed, 1 open." in told


def test_another_machine_takes_no_rows_away(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    one = {"cpu": "AMD EPYC", "cpus": 2, "kernel": "6.1", "date": "2026-01-01"}
    other = one | {"cpu": "Intel(R) Xeon(R)", "date": "2026-01-02"}
    for now, name, ours in ((one, "a", 1.0), (other, "a", 3.0), (one | {"date": "2026-01-03"}, "b", 1.5)):
        command._store([row(name, ours)], now)
    assert [(found["date"], [(each.name, each.ours) for each in made]) for found, made in machines(tmp_path)] == [
        ("2026-01-03", [("a", 1.0), ("b", 1.5)]),
        ("2026-01-02", [("a", 3.0)]),
    ]
    assert machine.name_of(other) == "intel-r-xeon-r-2-6.1"
    assert json.loads((tmp_path / "amd-epyc-2-6.1" / "machine.json").read_text())["date"] == "2026-01-03"
