from dataclasses import replace

import pytest
from bench import __main__ as command
from bench.__main__ import PAGE, RESULTS, machines
from bench.engine import rows
from bench.engine.errors import BenchError
from bench.net.interval import LIMIT
from bench.report import docs, machine

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


MACHINE = {"cpu": "AMD EPYC", "cpus": 2, "kernel": "6.1", "system": "Debian", "virtual": True}


def run(date: str, **other: object) -> dict[str, object]:
    return {"date": date, "load before": 0.5, "congestion control": "bbr", "wulf": "1", "peers": {"qperf": "2"}} | other


def test_only_what_is_met_counts_as_met():
    made = [replace(row(name, 1.0), low=low, high=high) for name, low, high in (("a", 0.4, 0.6), ("b", 1.1, 1.2))]
    best = replace(made[0], name=f"a, {rows.BEST}")  # the same comparison once more
    found = [*made, best, row("c", 1.0), rows.without_peer("d", "no", "s", "lower")]
    told = docs.section(found, MACHINE | {"parts": {}})
    assert "Of 3 goals 1 are met, 1 missed, 1 open." in told


def test_each_part_tells_its_own_run():
    made = [replace(row(name, 1.0), part=name) for name in ("net", "mpi", "build")]
    parts = {"net": run("2026-01-01"), "build": run("2026-01-03", quick=True, **{"load before": 2.5})}
    assert docs.runs(made, parts) == (
        "net 2026-01-01 (load before 0.5), build 2026-01-03 (quick, load before 2.5): congestion control bbr, wulf 1, "
        f"qperf 2; mpi: {docs.UNKNOWN}"
    )
    parts["build"]["wulf"] = "2"
    assert docs.runs(made, parts).count("congestion control bbr") == 2


def test_another_machine_takes_no_rows_away_and_another_part_no_circumstances(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    other = MACHINE | {"cpu": "Intel(R) Xeon(R)"}
    for here, part, date, ours in (
        (MACHINE, "net", "2026-01-01", 1.0),
        (other, "net", "2026-01-02", 3.0),
        (MACHINE, "mpi", "2026-01-03", 1.5),
    ):
        command._store([replace(row(part, ours), part=part)], here | run(date))
    found = machines(tmp_path)
    assert [[(each.part, each.ours) for each in made] for _, made in found] == [
        [("net", 1.0), ("mpi", 1.5)],
        [("net", 3.0)],
    ]
    assert found[0][0] == MACHINE | {"parts": {"net": run("2026-01-01"), "mpi": run("2026-01-03")}}
    assert machine.name_of(other) == "intel-r-xeon-r-2-6.1"


def test_rows_that_are_kept_obey_the_rule_of_the_race():
    """Two times cut at the limit once stood as ratio 1.000, met."""
    for found, made in machines(RESULTS):
        for each in made:
            if each.part == "interval" and each.ours == each.peer == LIMIT:
                assert each.verdict == rows.OPEN, found["cpu"]


def test_what_a_part_no_longer_measures_goes_but_a_quick_run_takes_nothing_away(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    for name, date, quick in (("a", "2026-01-01", False), ("b", "2026-01-02", True), ("b", "2026-01-03", False)):
        command._store([replace(row(name, 1.0), part="net")], MACHINE | run(date, quick=quick))
        (_, made) = machines(tmp_path)[0]
        assert [each.name for each in made] == (["b"] if date == "2026-01-03" else ["a", "b"][: int(date[-1])])


@pytest.mark.parametrize(("quick", "times"), [(False, 2), (True, 1)])
def test_each_part_has_its_own_time_unless_it_is_to_be_quick(quick, times, tmp_path, monkeypatch):
    """They shared one end: the parts that came late were left without a block."""
    ends = []

    def part(context):
        ends.append(context.effort.until)
        return [row("a", 1.0)]

    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(machine, "fingerprint", lambda: MACHINE | run("2026-01-01"))
    monkeypatch.setattr(command, "PARTS", {"one": part, "two": part})
    command._run([], quick, 1)
    assert len(set(ends)) == times


def test_a_part_of_another_command_is_another_part():
    maker = "python -m bench.other --only"
    marks = [docs.BEGIN.replace(docs.MAKER, maker), docs.END.replace(docs.MAKER, maker)]
    page = f"{docs.BEGIN}\nold\n{docs.END}\n{marks[0]}\nold\n{marks[1]}\n"
    assert docs.rewritten(page, MADE, maker) == f"{docs.BEGIN}\nold\n{docs.END}\n{marks[0]}\n{MADE}\n{marks[1]}\n"
