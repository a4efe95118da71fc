"""Performance guidelines of collectives: which calls they ask for, and when one is said to be violated."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.core.records import Record, Verdict
from wulf.measure.mpi.guidelines import (
    Call,
    Guideline,
    applicable,
    guideline_cells,
    guidelines,
    hold,
    least_blocks,
    times_of,
    violated,
    violations,
)

KIB = 1024
BLOCKS = 16
DRIFT = [1 + 0.1 * block for block in range(BLOCKS)]
"""The machine gets slower and slower: that meets both sides of a guideline alike."""


def consistent(ranks: int, sizes: tuple[int, ...]) -> dict[Call, dict[int, float]]:
    """Times of an MPI that no guideline can blame: each call costs a part for its start, and one for its bytes."""
    weight = {"allreduce": 1.8, "gather": 0.9, "scatter": 0.9}
    return {
        Call(str(cell["op"]), int(cell["bytes"] or 0)): _drifting(
            weight.get(str(cell["op"]), 1.0) * (1e-5 + 1e-9 * _volume(str(cell["op"]), int(cell["bytes"] or 0), ranks))
        )
        for cell in guideline_cells(ranks, sizes)
    }


def _volume(op: str, size: int, ranks: int) -> int:
    return size * ranks if op in ("allgather", "gather", "scatter", "alltoall", "alltoallv") else size


def _drifting(seconds: float) -> dict[int, float]:
    return {block: seconds * drift for block, drift in enumerate(DRIFT)}


def test_sizes_follow_from_ranks_and_the_left_side() -> None:
    (found,) = (
        each
        for each in guidelines(3, [KIB])
        if each.left.op == "bcast" and [call.op for _, call in each.right] == ["scatter", "allgather"]
    )
    share = 344  # a third of 1 KiB is 341.3 B: rounded up to whole floats, in favour of the bcast
    assert found == Guideline(Call("bcast", KIB), ((1, Call("scatter", share)), (1, Call("allgather", share))))
    (gathered,) = (
        each
        for each in guidelines(3, [KIB])
        if each.left.op == "allgather" and [call.op for _, call in each.right] == ["gather", "bcast"]
    )
    assert gathered.right == ((1, Call("gather", KIB)), (1, Call("bcast", 3 * KIB)))


def test_larger_is_not_faster_and_one_not_slower_than_its_pieces() -> None:
    found = [each for each in guidelines(2, [KIB, 4 * KIB]) if {call.op for call in each.calls} == {"bcast"}]
    assert found == [
        Guideline(Call("bcast", KIB), ((1, Call("bcast", 4 * KIB)),)),
        Guideline(Call("bcast", 4 * KIB), ((4, Call("bcast", KIB)),)),
    ]
    assert found[1].right_text == "4 × bcast of 1 KiB"
    uneven = [each for each in guidelines(2, [8, 12]) if {call.op for call in each.calls} == {"bcast"}]
    assert len(uneven) == 1  # 12 B are no whole number of pieces of 8 B


def test_cells_hold_each_call_once_and_all_that_is_needed() -> None:
    cells = guideline_cells(4, [KIB, 64 * KIB])
    calls = [(cell["op"], cell["bytes"]) for cell in cells]
    assert len(calls) == len(set(calls))
    needed = {(call.op, call.bytes) for each in guidelines(4, [KIB, 64 * KIB]) for call in each.calls}
    assert set(calls) == needed
    assert guideline_cells(1, [KIB]) == []


@pytest.mark.parametrize("size", [0, -4, 6])
def test_sizes_that_no_sum_can_have_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="multiples of 4 B"):
        guidelines(2, [size])


def test_a_consistent_mpi_is_not_blamed_however_it_drifts() -> None:
    times = consistent(4, (KIB, 64 * KIB))
    assert violated("n[1-4]", times, 4) == []
    assert len(hold(times, 4)) >= len(guidelines(4, [KIB, 64 * KIB]))


def test_a_slow_collective_is_found_with_its_ratio(wording: Wording) -> None:
    times = consistent(4, (64 * KIB,))
    sides = [times[Call("reduce", 64 * KIB)], times[Call("bcast", 64 * KIB)]]
    times[Call("allreduce", 64 * KIB)] = {
        block: (3.1 + 0.01 * (-1) ** block) * sum(side[block] for side in sides) for block in range(BLOCKS)
    }
    found = violated("n[1-4]", times, 4)
    (first,) = (each for each in found if "reduce of 64 KiB + bcast of 64 KiB" in each.text)
    assert lacking(first.text, "allreduce of 64 KiB takes 3.1 × (3.09–3.11)", "reduce of 64 KiB") == []
    wording(first.text)
    assert first.kind == "guideline"
    assert first.severity is Severity.WARN
    assert first.subject == "n[1-4]"
    ratio, seconds = first.evidence
    assert ratio.value == pytest.approx(3.1, rel=1e-4)
    assert seconds.expected is not None
    assert float(seconds.value or 0) == pytest.approx(3.1 * float(seconds.expected), rel=0.01)
    # what is as slow as that must not be blamed on the others, which may now be called slower than nothing
    assert all(each.text.startswith("Guideline violated: allreduce") for each in found)


def test_a_ratio_within_the_noise_is_no_violation() -> None:
    times = {
        Call("reduce", KIB): {block: 1e-5 * (1 + 0.5 * (-1) ** block) for block in range(BLOCKS)},
        Call("allreduce", KIB): dict.fromkeys(range(BLOCKS), 0.99e-5),
    }
    ((held, p),) = hold(times, 2)
    assert held.guideline.left.op == "reduce"
    assert p > 0.05
    assert violated("n1>n2", times, 2) == []


def test_a_violation_below_a_per_cent_is_none() -> None:
    times = {Call("reduce", KIB): _drifting(1.005e-5), Call("allreduce", KIB): _drifting(1e-5)}
    ((_, p),) = hold(times, 2)
    assert p < 0.001
    assert violated("n1>n2", times, 2) == []


def test_too_few_blocks_never_convince() -> None:
    few = {call: {0: blocks[0], 1: blocks[1]} for call, blocks in consistent(4, (KIB,)).items()}
    few[Call("allreduce", KIB)] = {0: 1.0, 1: 1.0}
    assert violated("n[1-4]", few, 4) == []
    needed, claims = least_blocks(4, [KIB]), len(applicable(4, few))
    assert 0.5**needed * claims <= 0.05 < 0.5 ** (needed - 1) * claims


def test_many_guidelines_ask_for_more_than_one() -> None:
    # six blocks of which all say so: p = 1/64, enough for one guideline, not for one among a dozen
    one = {Call("reduce", KIB): dict.fromkeys(range(6), 2.0), Call("allreduce", KIB): dict.fromkeys(range(6), 1.0)}
    assert len(violated("n1>n2", one, 2)) == 1
    many = {call: dict(list(blocks.items())[:6]) for call, blocks in consistent(2, (KIB,)).items()} | {
        Call("gather", KIB): dict.fromkeys(range(6), 2.0)
    }
    assert violated("n1>n2", many, 2) == []


def test_only_blocks_that_all_have_are_compared() -> None:
    times = {
        Call("reduce", KIB): {0: 2.0, 1: 2.0, 2: 2.0, 7: 100.0},
        Call("allreduce", KIB): {0: 1.0, 2: 1.0, 3: 5.0},
    }
    ((held, _),) = hold(times, 2)
    assert (held.left, held.right) == (2.0, 1.0)
    assert hold({Call("reduce", KIB): {0: 1.0}, Call("allreduce", KIB): {1: 1.0}}, 2) == []


def record(op: str, size: int, samples: list[float], *, mpi: str = "openmpi 4.1.4", **extra: Any) -> Record:
    return Record.model_validate(
        {
            "run": "r", "subject": "n[1-2]", "probe": "mpi", "metric": "time", "unit": "s", "verdict": Verdict.OK,
            "params": {"pattern": "collective", "op": op, "bytes": size, "ranks": 2, "mpi": mpi},
            "value": samples[0], "samples": samples, "at": "2026-01-01T00:00:00Z",
            "blocks": list(range(len(samples))),
        } | extra
    )  # fmt: skip


def test_records_are_held_against_those_of_the_same_mpi_alone() -> None:
    slow = record("reduce", KIB, [2.0] * 10)
    assert times_of([slow]) == {Call("reduce", KIB): dict.fromkeys(range(10), 2.0)}
    (found,) = violations([slow, record("allreduce", KIB, [1.0] * 10)])
    assert lacking(found.text, " reduce of 1 KiB takes 2 × (2–2)", " allreduce of 1 KiB") == []
    assert violations([slow, record("allreduce", KIB, [1.0] * 10, mpi="mpich 4.0.2")]) == []
    assert violations([slow, record("allreduce", KIB, [1.0] * 10, metric="local")]) == []
    assert violations([slow, record("allreduce", KIB, [1.0] * 10, blocks=[])]) == []
