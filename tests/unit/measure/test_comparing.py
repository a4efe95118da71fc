"""Two runs cell by cell: what is claimed, suspected, and refused."""

from __future__ import annotations

import pytest

from tests.unit.measure.make_runs import run
from wulf.core.errors import FOUND, INCOMPLETE, OK, UsageError
from wulf.core.records import Verdict
from wulf.measure.comparing import ONE_LAUNCH, compare_runs, percent, sentence
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import BLOCKS, SHARED
from wulf.report.compare.runs import comparison_view
from wulf.stats.comparison import NO_RATIOS, Judgement, PairedRule

LIKE = {"n1>n2": 1.0, "n1>n3": 1.0, "n2>n3": 1.0}


def test_nothing_changed() -> None:
    found = compare_runs(run("a", LIKE, seed=1, cv=0.002), run("b", LIKE, seed=2, cv=0.002))
    assert {cell.judgement for cell in found.cells} == {Judgement.EQUIVALENT}
    assert found.exit_code == OK


def test_the_slower_pair_is_claimed_in_time_and_rate() -> None:
    found = compare_runs(run("a", LIKE, seed=1), run("b", LIKE | {"n1>n3": 1.1}, seed=2))
    slower = [(cell.a.subject, cell.a.metric) for cell in found.cells if cell.judgement is Judgement.SLOWER]
    assert sorted(slower) == [("n1>n3", "rtt"), ("n1>n3", "throughput")]
    assert [cell.judgement for cell in found.cells[:2]] == [Judgement.SLOWER] * 2, "the worst first"
    for cell in found.cells[:2]:
        assert cell.comparison.low is not None and cell.comparison.high is not None
        expected = 1.1 if cell.a.metric == "rtt" else 1 / 1.1
        assert cell.comparison.low < expected < cell.comparison.high
    assert found.exit_code == FOUND


def test_faster_is_no_alarm() -> None:
    found = compare_runs(run("a", LIKE, seed=1), run("b", {**LIKE, "n1>n3": 0.9}, seed=2))
    assert any(cell.judgement is Judgement.FASTER for cell in found.cells)
    assert found.exit_code == OK


@pytest.mark.full
def test_many_cells_are_many_chances() -> None:
    """What a single comparison would claim is only suspect among a hundred, and rarely even that."""
    many = {f"n{i}>n{j}": 1.0 for i in range(12) for j in range(i)}
    claims = 0
    for seed in range(20):
        found = compare_runs(run("a", many, seed=seed), run("b", many, seed=1000 + seed))
        claims += found.exit_code == FOUND or any(cell.judgement is Judgement.FASTER for cell in found.cells)
    assert claims <= 4


@pytest.mark.parametrize(("pairs", "told"), [(11, False), (12, True)])
def test_too_few_samples_for_so_many_cells_are_told(pairs: int, told: bool) -> None:
    """Six against six: p is 2/924 at least, of which Holm allows 23; a pair is two cells. All of them are n1's."""
    like = {f"n1>n{i}": 1.0 for i in range(2, 2 + pairs)}
    found = compare_runs(run("a", like, seed=1, n=6), run("b", dict.fromkeys(like, 100.0), seed=2, n=6))
    assert (found.exit_code, bool(found.unprovable)) == (FOUND, told)
    assert {one.node for one in found.nodes} == ({"n1"} if told else set())
    assert ("6 samples against 6 are too few for 24 cells" in found.unprovable) == told
    assert (found.unprovable in comparison_view(found).notes) == told


def test_suspects_are_not_claims() -> None:
    a = run("a", LIKE, seed=1, n=6)
    b = run("b", LIKE | {"n1>n3": 1.02, "n1>n2": 1.02, "n2>n3": 1.02}, seed=2, n=6)
    found = compare_runs(a, b)
    suspects = [cell for cell in found.cells if cell.suspect]
    assert suspects
    assert all(cell.judgement is Judgement.INCONCLUSIVE for cell in suspects)


def facts(**changed: object) -> dict[str, dict[str, dict[str, object]]]:
    values = {"kernel.release": "6.1", "cpu.governor": "performance", "kernel.boot_id": "x", "nic.eth0.mtu": 1500}
    return {"n1": {name: {"value": value} for name, value in (values | changed).items()}}


def test_facts_that_changed_are_named_but_for_those_that_always_do() -> None:
    a = run("a", LIKE, seed=1, facts=facts())
    b = run("b", LIKE, seed=2, facts=facts(**{"cpu.governor": "powersave", "kernel.boot_id": "y"}))
    found = compare_runs(a, b)
    assert [(change.fact, change.a, change.b) for change in found.facts] == [
        ("cpu.governor", "performance", "powersave")
    ]


def test_a_fact_that_one_run_does_not_know_is_no_difference() -> None:
    unknown = facts()
    unknown["n1"]["cpu.governor"] = {"value": None, "reason": "no permission"}
    assert compare_runs(run("a", LIKE, seed=1, facts=facts()), run("b", LIKE, seed=2, facts=unknown)).facts == []


def test_cells_of_one_run_alone_are_counted() -> None:
    found = compare_runs(run("a", LIKE, seed=1), run("b", {"n1>n2": 1.0, "n8>n9": 1.0}, seed=2))
    assert (len(found.cells), found.only_a, found.only_b) == (2, 4, 2)


def test_runs_without_a_common_cell_are_refused() -> None:
    with pytest.raises(UsageError, match="no cell in common"):
        compare_runs(run("a", {"n1>n2": 1.0}, seed=1), run("b", {"n3>n4": 1.0}, seed=2))


@pytest.mark.parametrize(("how", "claimed"), [(SHARED, False), (BLOCKS, True)])
def test_of_one_launch_each_nothing_is_claimed(how: str, claimed: bool) -> None:
    """Two launches of one MPI differ by themselves, however narrow the replicates of each are."""
    a, b = (run(name, {"n1>n2": factor}, seed=1, cv=0.002) for name, factor in (("a", 1.0), ("b", 1.03)))
    for each in (a, b):
        each.records[:] = [one.model_copy(update={"probe": MPI}) for one in each.records]
        for one in each.records:
            one.params["launch"] = how
    cells = compare_runs(a, b).cells
    assert all((cell.judgement is Judgement.SLOWER) == claimed for cell in cells)
    assert all((cell.comparison.reason == ONE_LAUNCH) != claimed for cell in cells)
    assert not any(cell.suspect for cell in cells)


def test_figures_of_zero_are_compared_with_nobody_and_the_others_are() -> None:
    a, b = run("a", LIKE, seed=1), run("b", LIKE | {"n1>n3": 1.1}, seed=2)
    b.records[0].samples[3] = 0.0
    found = {(cell.a.subject, cell.a.metric): cell for cell in compare_runs(a, b).cells}
    assert found["n1>n3", "rtt"].judgement is Judgement.SLOWER
    nothing = found["n1>n2", "rtt"].comparison
    assert sentence(nothing) == f"B against A: no verdict: {NO_RATIOS}."
    assert nothing.n == 16


def test_links_of_zero_say_nothing_of_their_nodes() -> None:
    like = {f"n1>n{i}": 1.0 for i in range(2, 14)}
    a, b = run("a", like, seed=1, n=6), run("b", dict.fromkeys(like, 100.0), seed=2, n=6)
    for record in b.records[::2]:
        record.samples[0] = 0.0
    assert [one.record.metric for one in compare_runs(a, b).nodes] == ["throughput"]


def test_failed_cells_are_not_compared() -> None:
    b = run("b", LIKE, seed=2)
    b.records[0].verdict = Verdict.FAILED
    assert len(compare_runs(run("a", LIKE, seed=1), b).cells) == 5
    empty = compare_runs(run("a", LIKE, seed=1), b)
    empty.cells.clear()
    assert empty.exit_code == INCOMPLETE


def test_sentences() -> None:
    rule = PairedRule()
    a = [1.0 + i / 1e4 for i in range(8)]
    assert sentence(rule.compare(a, [1.1 * x for x in a])).startswith("B is slower: B / A is +10.00%")
    assert sentence(rule.compare(a, a)).startswith("A and B are equivalent within ±1.0%")
    wild = sentence(rule.compare([1.0, 2.0] * 8, [2.0, 1.0] * 8))
    assert "No difference is shown" in wild
    assert "would have been seen" in wild
    assert "no verdict: 1 pairs are too few" in sentence(rule.compare([1.0], [1.0]))
    assert percent(None) == "–"
