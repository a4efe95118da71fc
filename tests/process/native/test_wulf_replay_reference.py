"""wulf-replay and the brute-force reference: equal to the picosecond, on programs by chance and in closed form.

`python -m tests.reference.compare` does the same with ten thousand programs.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from tests.process.native.session import Session
from tests.reference import closed_forms, compare
from tests.reference.programs import network
from tests.reference.replay import DeadlockError, Step, replay

PROGRAMS, BATCH = 200, 25


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_programs_by_chance_take_the_same_time_as_in_the_reference(session: Session, first: int) -> None:
    found = [each for seed in range(first, first + BATCH) for each in compare.differences(session, compare.case(seed))]
    assert not found, "\n".join(map(str, found))


def test_the_programs_by_chance_are_not_all_alike() -> None:
    """Else agreement says little: both orders of the NICs, both protocols and self-messages have to occur."""
    cases = [compare.case(seed) for seed in range(PROGRAMS)]
    results = [(replay(one.ranks, one.networks[0], "a"), replay(one.ranks, one.networks[0], "b")) for one in cases]
    assert sum(a.ranks != b.ranks for a, b in results) > PROGRAMS // 5
    assert sum(a.inversions == 0 for a, _ in results) > PROGRAMS // 20
    sends = [
        (rank, step, one.networks[0])
        for one in cases
        for rank, steps in enumerate(one.ranks)
        for step in steps
        if step[0] == "send"
    ]
    eager = sum(step[2] <= drawn["inter"]["eager_bytes"] for _, step, drawn in sends)
    assert len(sends) // 10 < eager < len(sends) * 9 // 10
    assert any(step[1] == rank for rank, step, _ in sends)
    assert any(step[2] == 0 for _, step, _ in sends)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_without_inversions_and_without_the_receivers_gap_the_order_is_of_no_matter(seed: int) -> None:
    one = compare.case(seed)
    gap, none = one.networks
    a, b = (replay(one.ranks, gap, engine) for engine in compare.ENGINES)
    assert a.inversions or a.ranks == b.ranks
    a, b = (replay(one.ranks, none, engine) for engine in compare.ENGINES)
    assert a.inversions or a.ranks == b.ranks


def test_a_deadlock_is_one_in_the_reference_too() -> None:
    program: list[list[Step]] = [[("recv", 1, 8, 0, 0), ("wait", 0), ("send", 1, 8, 0, 0), ("wait", 0)]]
    program.append([("recv", 0, 8, 0, 0), ("wait", 0), ("send", 0, 8, 0, 0), ("wait", 0)])
    for engine in compare.ENGINES:
        with pytest.raises(DeadlockError):
            replay(program, compare.case(0).networks[0], engine)


SIZES = (0, 1, 100, 5000, 1 << 20)


def flat(seed: int, *, receiver_gap: bool) -> dict[str, Any]:
    """A network by chance whose ranks all have hosts of their own."""
    drawn = network(random.Random(seed), 2, receiver_gap=receiver_gap)
    return {key: value for key, value in drawn.items() if key not in ("intra", "hosts")}


NETWORKS = [flat(seed, receiver_gap=gap) for seed, gap in product(range(20), (True, False))]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", closed_forms.FORMS)
def test_closed_forms_hold_in_the_reference(name: str, size: int) -> None:
    make, form = closed_forms.FORMS[name]
    expected = [form(closed_forms.costs(each, size)) for each in NETWORKS]
    for engine in compare.ENGINES:
        assert [replay(make(size), each, engine).ps for each in NETWORKS] == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", closed_forms.FORMS)
def test_closed_forms_hold_in_wulf_replay(session: Session, name: str, size: int) -> None:
    make, form = closed_forms.FORMS[name]
    expected = [form(closed_forms.costs(each, size)) for each in NETWORKS]
    loaded = compare.load(session, {"program": {"ranks": make(size)}})
    for engine in compare.ENGINES:
        assert [run["ps"] for run in compare.runs(session, loaded, NETWORKS, engine)] == expected


LOGGOPSIM = {"latency_ps": 2_500_000, "send_ps": 1_500_000, "receive_ps": 1_500_000, "byte_fp": 6000 << 20}
"""-L 2500 -o 1500 -G 6; there is a single o."""

TOLD = {
    "ping-pong": (1500, {1: 55_000, 1000: 114_940, 60_000: 3_654_940}),
    "token": (1500, {1: 165_000, 1000: 344_820, 60_000: 10_964_820}),
    "shift": (1500, {1: 27_500, 1000: 57_470, 60_000: 1_827_470}),
    "binomial tree": (1500, {1: 22_000, 1000: 45_976, 60_000: 1_461_976}),
    "8-to-1 incast": (4000, {1: 33_500, 1000: 81_452, 60_000: 2_913_452}),
}
"""Program → g, and LogGOPSim's times (commit 76451de) in ns for messages of so many bytes, all of them eager."""


@pytest.mark.parametrize("engine", compare.ENGINES)
@pytest.mark.parametrize("name", TOLD)
def test_where_the_models_coincide_loggopsim_has_the_same_times(
    session: Session, name: str, engine: compare.Engine
) -> None:
    gap, told = TOLD[name]
    like = {"name": "LogGOPSim's", "inter": {**LOGGOPSIM, "gap_ps": 1000 * gap, "eager_bytes": 65_535}}
    make, _ = closed_forms.FORMS[name]
    found = {}
    for size in told:
        loaded = compare.load(session, {"program": {"ranks": make(size)}})
        (run,) = compare.runs(session, loaded, [like], engine)
        found[size] = run["ps"] / 1000
    assert found == told
