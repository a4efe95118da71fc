"""Matrices, sweeps and their arithmetic."""

from __future__ import annotations

import pytest

from tests.unit.report.make_run import SHAPES, failed, make_run, pair_records, params, record, survey, troubled
from wulf.core.records import Verdict
from wulf.report.kit.matrices import (
    Point,
    effective_bandwidth,
    pair_matrices,
    run_nodes,
    split_pair,
    sweeps,
    verdict_counts,
)


@pytest.mark.parametrize(
    ("subject", "known", "pair"),
    [
        ("n1>n2", [], ("n1", "n2")),
        ("fd00::1>fd00::2", [], ("fd00::1", "fd00::2")),
        ("n1", ["n1"], None),
        ("<b>n1</b>>n2", ["<b>n1</b>", "n2"], ("<b>n1</b>", "n2")),
        ("a>b>c", [], None),
        ("a>b>c", ["a", "b>c", "a>b", "c"], None),  # two readings: neither is taken
    ],
)
def test_split_pair(subject: str, known: list[str], pair: tuple[str, str] | None) -> None:
    assert split_pair(subject, known) == pair


def test_nodes_stand_in_natural_order() -> None:
    assert run_nodes(make_run(("n10", "n2", "n1"))) == ["n1", "n2", "n10"]


def test_nodes_without_a_list_come_from_the_records() -> None:
    run = make_run((), pair_records(["b", "a"]), fingerprint={})
    assert run_nodes(run) == ["a", "b"]


def test_a_survey_has_three_matrices_with_every_pair() -> None:
    matrices = pair_matrices(survey())
    assert [m.title for m in matrices] == ["TCP round trip, 1 B", "TCP bandwidth", "UDP round trip, 1 B"]
    assert [m.directed for m in matrices] == [False, True, False]
    assert [len(m.cells) for m in matrices] == [m.expected for m in matrices] == [6, 12, 6]
    for matrix in matrices:
        assert all(matrix.get(a, b) is not None for a in matrix.nodes for b in matrix.nodes if a != b)


def test_a_round_trip_stands_in_both_cells_and_a_stream_in_one() -> None:
    rtt = record("n1>n2", "rtt", 1e-5, phase="pairs")
    stream = record("n1>n2", "throughput", 1e9, phase="pairs", params=params("tcp", "stream", 1))
    first, second = pair_matrices(make_run(("n1", "n2"), [rtt, stream]))
    assert first.get("n1", "n2") is first.get("n2", "n1") is rtt
    assert second.get("n1", "n2") is stream
    assert second.get("n2", "n1") is None


def test_sizes_of_one_metric_are_matrices_of_their_own() -> None:
    records = [record("a>b", "rtt", 1e-5, phase="pairs", params=params("tcp", "pingpong", n)) for n in (1, 1024)]
    assert [m.title for m in pair_matrices(make_run(("a", "b"), records))] == [
        "TCP round trip, 1 B",
        "TCP round trip, 1 KiB",
    ]


def test_only_the_pairs_phase_makes_matrices() -> None:
    assert pair_matrices(make_run(("a", "b"), [record("a>b", "rtt", 1e-5, phase="single")])) == []
    assert pair_matrices(make_run(("a", "b"), [record("a>b", "rtt", 1e-5)])) == []


def test_a_failed_value_is_not_compared() -> None:
    good = record("a>b", "rtt", 1e-5, phase="pairs")
    bad = record("a>c", "rtt", 9.0, phase="pairs", verdict=Verdict.FAILED, reason="died")
    (matrix,) = pair_matrices(make_run(("a", "b", "c"), [good, bad]))
    assert matrix.values == [1e-5]
    assert matrix.of_node() == {"a": 1e-5, "b": 1e-5}
    assert [r.subject for _, r in matrix.worst()] == ["a>c", "a>b"]


def test_the_slowest_come_first_in_the_metrics_own_sense() -> None:
    rtt, rate, _ = pair_matrices(survey())
    assert all("n3" in pair for pair, _ in rtt.worst(3))
    assert all("n3" in pair for pair, _ in rate.worst(6))
    slowest = [r.value for _, r in rate.worst(12)]
    assert slowest == sorted(rate.values)


def test_a_matrix_has_one_unit() -> None:
    _, rate, _ = pair_matrices(survey())
    assert rate.scale == (1e9 / 8, "Gbit/s")


def test_a_sweep_is_ordered_by_size() -> None:
    run = survey()
    run.records.reverse()
    (curve,) = sweeps(run)
    sizes = [point.bytes for point in curve.points]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (1, 4 * 2**20)
    assert curve.label == "n1 ↔ n2, TCP"


def test_effective_bandwidth_is_size_over_half_the_round_trip_with_swapped_ends() -> None:
    timed = record("a>b", "rtt", 2e-3, low=1e-3, high=4e-3)
    got = effective_bandwidth(Point(1000, timed))
    assert got is not None
    assert (got.value, got.low, got.high) == pytest.approx((1e6, 0.5e6, 2e6))


def test_no_effective_bandwidth_without_a_round_trip() -> None:
    assert effective_bandwidth(Point(1000, failed("a>b", "rtt", "gone"))) is None
    assert effective_bandwidth(Point(1000, record("a>b", "throughput", 1e6))) is None


def test_verdicts_are_counted() -> None:
    counts = verdict_counts(troubled().records)
    assert counts == {Verdict.OK: 26, Verdict.NOISY: 2, Verdict.UNRESOLVED: 1, Verdict.FAILED: 3}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_a_view(shape: str) -> None:
    run = SHAPES[shape]()
    for matrix in pair_matrices(run):
        assert len(matrix.cells) <= matrix.expected
        assert set(matrix.of_node()) <= set(matrix.nodes)
