"""What records of MPI are about, and all pairs of nodes from all pairs of ranks."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import MPI, Metric
from wulf.measure.mpi.pairs import node_pairs, pair_records
from wulf.measure.mpi.probes import ends_of, folded, mpi_probe, subject_of


@pytest.mark.parametrize(
    ("name", "params", "places", "subject"),
    [
        ("pingpong", {}, ["n1", "n2"], "n1>n2"),
        ("pingpong", {}, ["n1", "n1", "n2", "n2"], "n1>n2"),
        ("pingpong", {"a": 1, "b": 0}, ["n1", "n2"], "n2>n1"),
        ("pingpong", {"b": 1}, ["n1", "n1", "n2"], "n1>n1"),
        ("collective", {}, ["n1", "n2"], "n1>n2"),
        ("collective", {}, ["n1", "n2", "n3", "n4"], "n[1-4]"),
        ("collective", {"ranks": 3}, ["n1", "n2", "n3", "n4"], "n[1-3]"),
        ("collective", {}, ["n1"], "n1"),
        ("collective", {}, ["n1", "n1", "n1"], "n1"),
    ],
)
def test_a_record_is_about_two_ranks_nodes_or_about_all_nodes(
    name: str, params: dict[str, Any], places: list[str], subject: str
) -> None:
    assert subject_of(mpi_probe().pattern(name), params, places) == subject


def test_a_rank_that_there_is_not_is_named() -> None:
    with pytest.raises(IndexError, match="rank 5 is asked for, and there are 2: 0 to 1"):
        ends_of(mpi_probe().pattern("pingpong"), {"b": 5}, 2)


def test_names_of_nodes_are_folded_once_each() -> None:
    assert folded(["n2", "n1", "n2"]) == "n[1-2]"
    assert folded(["login"]) == "login"


def test_ranks_of_two_nodes_are_one_pair_in_the_order_of_the_ranks() -> None:
    assert node_pairs(["b", "a", "b"]) == {("b", "a"): [(0, 1), (1, 2)], ("b", "b"): [(0, 2)]}


def pairs(replicates: list[Any], places: list[str], looks: tuple[int, ...] = (6,)) -> Any:
    cell = Cell(
        0, "n[1-3]", "n[1-3]", "", "pairs", {"bytes": 8}, (Metric("rtt", "s"),), program=MPI, about={"ranks": 3}
    )
    return pair_records(cell, replicates, places, Plan((cell,), 1, width=0.2, looks=looks), "run", at="now")


def replicate(number: int, scale: float = 1.0) -> dict[str, Any]:
    n12, n13, n23 = (scale * value * (1 + number / 1000) for value in (1e-5, 2e-5, 3e-5))
    return {"cell": 0, "block": number, "ok": True, "metrics": {}, "info": {"matrix": [[n12, n13], [n23]]}}


def test_a_record_a_pair_with_an_interval_over_the_replicates() -> None:
    records = pairs([replicate(i) for i in range(6)], ["n1", "n2", "n3"])
    assert [record.subject for record in records] == ["n1>n2", "n1>n3", "n2>n3"]
    first = records[0]
    assert first.samples == [1e-5 * (1 + i / 1000) for i in range(6)]
    assert (first.low, first.high) == (first.samples[0], first.samples[-1])
    assert first.params == {"pattern": "pingpong", "bytes": 8, "ranks": 3}
    assert first.phase == "pairs"
    assert {record.verdict for record in records} == {"ok"}


def test_failed_replicates_count_for_no_pair_and_none_at_all_makes_no_record() -> None:
    failed = {"cell": 0, "block": 9, "ok": False, "error": {"code": "lost", "message": "gone"}}
    records = pairs([failed, *(replicate(i) for i in range(6))], ["n1", "n2", "n3"])
    assert {record.replicates for record in records} == {6}
    assert pairs([failed], ["n1", "n2", "n3"]) == []


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[1e-5], [1e-5]], "info.matrix: Value error, its rows are not the upper half of a square"),
        ([[1e-5]], "a replicate of all pairs of ranks is of 2 ranks, the run of 3"),
        ("many", "info.matrix: Input should be a valid list"),
        ([[1e-5, None], [1e-5]], "info.matrix.0.1"),
    ],
)
def test_times_that_are_not_of_all_pairs_of_its_ranks_are_refused(matrix: Any, why: str) -> None:
    changed = {**replicate(0), "info": {"matrix": matrix}}
    with pytest.raises(UsageError) as refused:
        pairs([replicate(1), changed], ["n1", "n2", "n3"])
    assert why in str(refused.value)


def test_a_pair_whose_replicates_differ_is_noisy() -> None:
    records = pairs([replicate(0, scale) for scale in (1, 2, 1, 2, 1, 2)], ["n1", "n2", "n3"])
    assert {record.verdict for record in records} == {"noisy"}
