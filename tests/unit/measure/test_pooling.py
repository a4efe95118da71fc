"""Two quick runs by node: who changed, on how many links, and who merely has links to whoever did."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tests.unit.measure.make_runs import run
from wulf.core.errors import FOUND, OK
from wulf.measure.comparing import RunComparison, compare_runs
from wulf.report.compare.runs import comparison_view, headline, node_rows_of
from wulf.store.run import Run

LINKS = [f"{a}>{b}" for a, b in permutations(("n1", "n2", "n3", "n4"), 2)]
QUICK = 6


def factors(node: str, factor: float) -> dict[str, float]:
    return {link: factor if node in link.split(">") else 1.0 for link in LINKS}


def compared(factor: float, *, n: int = QUICK, node: str = "n3") -> RunComparison:
    return compare_runs(run("a", factors(node, 1.0), seed=3, n=n), run("b", factors(node, factor), seed=4, n=n))


def told(found: RunComparison) -> set[tuple[str, str, str]]:
    return {(one.node, one.record.metric, str(one.judgement)) for one in found.nodes}


def test_a_node_that_got_slow_is_named_and_none_of_its_neighbours() -> None:
    """`wulf compare` said \"24 cells: 24 inconclusive\" of a node whose six links fell 87 times."""
    found = compared(87.0)
    assert told(found) == {("n3", "rtt", "slower"), ("n3", "throughput", "slower")}
    assert found.exit_code == FOUND and found.unprovable
    assert {(one.links, one.alike) for one in found.nodes} == {(6, 6)}, "both ways of three pairs"
    assert headline(found).startswith("n3 slower on 6 of 6 links, ")
    assert all(one.comparison.low and one.comparison.low <= (one.comparison.ratio or 0) for one in found.nodes)


def test_faster_is_no_alarm() -> None:
    found = compared(0.5)
    assert told(found) == {("n3", "rtt", "faster"), ("n3", "throughput", "faster")} and found.exit_code == OK


def test_nothing_changed() -> None:
    assert compared(1.0).nodes == []


def test_where_a_cell_can_speak_for_itself_no_node_is_pooled() -> None:
    found = compared(87.0, n=16)
    assert found.nodes == [] and found.unprovable == "" and found.exit_code == FOUND


def test_of_too_many_nodes_even_a_node_can_not_be_told() -> None:
    many = [f"m{i}>m{j}" for i in range(14) for j in range(i)]
    a, b = (run(name, dict.fromkeys(many, 1.0 + 9 * i), seed=i, n=QUICK) for i, name in enumerate("ab"))
    found = compare_runs(a, b)
    assert found.nodes == [] and found.unprovable


def test_cells_of_one_node_are_no_links() -> None:
    a, b = run("a", factors("n3", 1.0), seed=3, n=QUICK), run("b", factors("n3", 87.0), seed=4, n=QUICK)
    for one in (*a.records, *b.records):
        one.probe = "mpi"
    assert compare_runs(a, b).nodes == []


def test_it_is_shown_and_told_as_json() -> None:
    found = compared(87.0)
    section = next(one for one in comparison_view(found).sections if one.heading == "By node")
    assert section.table is not None and [row[0] for row in section.table.rows] == ["n3", "n3"]
    row = node_rows_of(found)[0]
    assert (row["node"], row["verdict"], row["links"], row["alike"]) == ("n3", "slower", 6, 6)


def sharing(seed: int) -> Run:
    """A quick run whose cells all share a series, each replicate of which depends on that before it (ρ = 0.5)."""
    made, random = run("a", factors("n3", 1.0), seed=1, cv=1e-9, n=QUICK), np.random.default_rng(seed)
    shared = random.normal(size=QUICK)
    for at in range(1, QUICK):
        shared[at] = 0.5 * shared[at - 1] + 0.75**0.5 * shared[at]
    for one in made.records:
        noise = 0.02 * (shared + 0.5 * random.normal(size=QUICK))
        one.samples = (np.asarray(one.samples) * np.exp(noise)).tolist()
        one.value = float(np.median(one.samples))
    return made


@pytest.mark.full
def test_replicates_that_depend_on_each_other_accuse_nobody() -> None:
    """Of 200 comparisons in which nothing changed; 2.5 % of 400 were told when this was written."""
    assert sum(bool(compare_runs(sharing(seed), sharing(10_000 + seed)).nodes) for seed in range(200)) <= 12
