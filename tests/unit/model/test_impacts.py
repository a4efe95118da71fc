"""Gains of many programs, grouped and pooled, and what a mix of them gains."""

from __future__ import annotations

from math import inf, isinf, log

import pytest

from wulf.model.impacts import (
    GROUPINGS,
    Expectation,
    Load,
    RunImpact,
    expectation,
    expectations,
    less_time,
    mix_gain,
    moderated,
    saved,
    workloads,
)
from wulf.stats.estimates import Interval, PointEstimate
from wulf.stats.pooling import Pooled


def run(application: str, gain: float, error: float = 0.01, **more: object) -> RunImpact:
    about = {"domain": "chemistry", "change": "nic.mtu", "network": "25 Gbit/s", **more}
    return RunImpact(f"run-{application}", application, gain=PointEstimate(gain, gain - 2 * error, gain + 2 * error),
                     error=error, **about)  # fmt: skip


THREE = [run("a", 0.02), run("b", 0.05), run("c", 0.08)]


def test_a_gain_is_told_as_less_time() -> None:
    assert less_time(log(10 / 8)) == pytest.approx(0.2) and less_time(0) == 0
    assert less_time(-log(2)) == pytest.approx(-1) and less_time(-1e4) == -inf and less_time(1e4) == 1
    assert saved(Interval(log(2), 0, log(4))) == Interval(pytest.approx(0.5), 0, pytest.approx(0.75))


def test_runs_of_one_command_line_are_one_program() -> None:
    twice = [run("a", 0.02), run("a", 0.06), run("b", 0.05)]
    first, second = workloads(twice)
    assert (first.application, first.runs, second.runs) == ("a", 2, 1)
    assert first.gain == pytest.approx(0.04)
    assert first.error == pytest.approx(0.02), "what the runs differ by, which is more than their own errors say"
    alike = workloads([run("a", 0.04), run("a", 0.04)])[0]
    assert alike.error == pytest.approx(0.01 / 2**0.5)


def test_shares_of_mpi_are_averaged_where_they_are_known() -> None:
    one = workloads([run("a", 0, share=0.2), run("a", 0, share=0.4), run("a", 0)])[0]
    assert one.share == pytest.approx(0.3) and workloads([run("a", 0)])[0].share is None


def test_two_programs_are_too_few_to_say() -> None:
    assert expectation("x", THREE[:2]).pooled is None
    assert expectation("x", [run("a", 0.1)] * 5).pooled is None, "five runs of one program"
    found = expectation("x", THREE).pooled
    assert found is not None and found.mean.value == pytest.approx(0.05) and found.n == 3


def test_runs_that_do_not_count_are_in_no_group() -> None:
    void = RunImpact("r", "d", "physics", "nic.mtu", "x", None, None, why="answers differ")
    assert expectation("x", [*THREE, void]).runs == 3
    assert [one.name for one in expectations([*THREE, void], GROUPINGS["domain"])] == ["chemistry"]


def test_groups_by_what_runs_say_the_largest_first() -> None:
    runs = [run("z", 0.1, domain="art"), *THREE, run("q", 0, change="nic.gro", network="lab")]
    names = {key: [one.name for one in expectations(runs, by)] for key, by in GROUPINGS.items()}
    assert names == {"domain": ["chemistry", "art"], "change": ["nic.mtu", "nic.gro"], "network": ["25 Gbit/s", "lab"]}
    (chemistry, _) = expectations(runs, GROUPINGS["domain"])
    assert chemistry.changes == ("nic.mtu", "nic.gro")


def test_the_share_of_time_in_mpi_explains_gains_in_proportion_to_it() -> None:
    shares = [0.1, 0.2, 0.3, 0.5, 0.6, 0.8]
    runs = [run(str(share), 0.1 * share, 0.002, share=share) for share in shares]
    found = moderated(runs)
    assert found is not None and found.proven and found.proportional
    assert found.explained > 0.95 and found.slope.value == pytest.approx(0.1)
    assert moderated(runs[:4]) is None, "four are too few"
    assert moderated([run(str(i), 0.1, share=0.5) for i in range(6)]) is None, "all have the same share"
    against = moderated([run(str(share), 0.01 * (i % 2), share=share) for i, share in enumerate(shares)])
    assert against is not None and not against.proven


def known(value: float, low: float, high: float, name: str = "x") -> Expectation:
    ahead = Interval(*(-log(1 - one) for one in (value, low, high)))
    return Expectation(name, (), (), Pooled(3, ahead, 0.0, 0.0, 1.0, ahead, 0.95))


def test_a_mix_gains_its_shares_of_the_parts_gains() -> None:
    loads = [Load("a", 0.5), Load("b", 0.25), Load("none", 0.15)]
    found = mix_gain(loads, {"a": known(0.1, 0.04, 0.16, "a"), "b": known(0.2, 0.04, 0.24, "b")}, jobs=900)
    assert found.saved is not None and found.more_jobs is not None
    assert found.saved.value == pytest.approx(0.5 * 0.1 + 0.25 * 0.2)
    assert found.saved.low == pytest.approx(0.1 - (0.03**2 + 0.04**2) ** 0.5)
    assert found.saved.high == pytest.approx(0.1 + (0.03**2 + 0.01**2) ** 0.5)
    assert found.unknown == pytest.approx(0.25), "the part that nothing is known of, and what the shares leave"
    assert found.more_jobs.value == pytest.approx(100), "900 jobs in nine tenths of the time"
    assert [part.saved is None for part in found.parts] == [False, False, True]


def test_parts_of_which_the_same_runs_tell_do_not_even_each_other_out() -> None:
    same = known(0.1, 0.0, 0.2)
    found = mix_gain([Load("a", 0.5), Load("b", 0.5)], {"a": same, "b": same}, jobs=None)
    assert found.saved is not None and found.saved.low == pytest.approx(0.0) and found.saved.high == pytest.approx(0.2)


def test_a_mix_of_which_nothing_is_known() -> None:
    found = mix_gain([Load("a", 1.0)], {"a": expectation("a", THREE[:2])}, jobs=10)
    assert found.saved is None and found.more_jobs is None and found.unknown == 1


def test_a_mix_without_bounds() -> None:
    ahead = Interval(0.0, -1e4, 1e4)
    wild = Expectation("x", (), (), Pooled(3, ahead, 0.0, 0.0, 1.0, ahead, 0.95))
    found = mix_gain([Load("a", 1.0)], {"a": wild}, jobs=10)
    assert found.more_jobs is not None and found.more_jobs.low == -10 and isinf(found.more_jobs.high)
