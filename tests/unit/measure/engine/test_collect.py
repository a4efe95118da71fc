"""Replicates to records."""

import pytest

from tests.unit.measure.fakes import answer, cell
from wulf.core.records import Verdict
from wulf.measure.engine.collect import add_counters, records_of, records_of_run
from wulf.measure.engine.plan import Plan

CELL = cell(3, "n1", "n2")
PLAN = Plan((CELL,), seed=1, width=0.05)


def replicate(rtt: float | None) -> dict:  # type: ignore[type-arg]
    return {"cell": 3, **answer(rtt, info={"mss": 1448})}


FAILED = {"cell": 3, "ok": False, "error": {"code": "timeout", "message": "n2 did not answer within 2 s"}}


def in_blocks(replicates: list) -> list:  # type: ignore[type-arg]
    return [{"block": block, **one} for block, one in enumerate(replicates)]


def collect(replicates: list, **more: str):  # type: ignore[type-arg,no-untyped-def]
    return records_of(CELL, in_blocks(replicates), PLAN, "run", at="now", **more)


def test_a_narrow_cell_is_ok() -> None:
    rtt, lost = collect([replicate(1e-5 + i * 1e-9) for i in range(6)])
    assert rtt.verdict is Verdict.OK
    assert (rtt.subject, rtt.metric, rtt.unit, rtt.replicates) == ("n1>n2", "rtt", "s", 6)
    assert rtt.low == 1e-5
    assert rtt.value == pytest.approx(1.00025e-5)
    assert rtt.quantiles["0.99"] == pytest.approx(2.0005e-5)
    assert rtt.params == {"transport": "tcp", "pattern": "pingpong", "bytes": 1, "seconds": 0.01}
    assert rtt.phase == "pairs"
    assert (lost.value, lost.low, lost.high, lost.verdict) == (0, 0, 0, Verdict.OK)


def test_counters_are_summed_once_beside_the_primary_metric() -> None:
    rtt, lost = collect([replicate(1e-5)] * 6)
    assert rtt.counters["client"] == {"softirq": 3.0, "eth0": {"rx": 12}}
    assert lost.counters == {}


def test_a_wide_interval_is_noisy_and_keeps_its_value() -> None:
    rtt, _ = collect([replicate(1e-5 * (1 + i / 10)) for i in range(6)])
    assert rtt.verdict is Verdict.NOISY
    assert rtt.value is not None
    assert "requested 5.0%" in (rtt.reason or "")


def test_too_few_is_unresolved_with_the_number_needed() -> None:
    rtt, _ = collect([replicate(1e-5)] * 5)
    assert (rtt.verdict, rtt.value) == (Verdict.UNRESOLVED, None)
    assert "6 are needed" in (rtt.reason or "")
    assert len(rtt.samples) == 5, "what was measured is kept"


def test_no_answer_gives_the_probes_own_reason() -> None:
    rtt, lost = collect([replicate(None)] * 6)
    assert (rtt.verdict, rtt.value, rtt.reason) == (Verdict.UNRESOLVED, None, "all 5 datagrams were lost")
    assert lost.value == 0


def test_too_few_tells_why_the_others_had_no_value() -> None:
    rtt, _ = collect([replicate(None)] + [replicate(1e-5)] * 5)
    assert (rtt.verdict, rtt.value) == (Verdict.UNRESOLVED, None)
    assert "6 are needed" in (rtt.reason or "")
    assert "others had no value: all 5 datagrams were lost" in (rtt.reason or "")


def test_a_failed_cell_keeps_what_it_had() -> None:
    rtt, _ = collect([replicate(1e-5)] * 6 + [FAILED], failure="n2: power cut")
    assert (rtt.verdict, rtt.reason, rtt.value) == (Verdict.FAILED, "n2: power cut", 1e-5)
    assert rtt.failed_replicates == 1


def test_a_run_is_collected_from_its_replicates_alone() -> None:
    records = records_of_run(PLAN, in_blocks([replicate(1e-5)] * 6), "run", at="now", stopped="cut")
    assert [r.metric for r in records] == ["rtt", "lost"]


def test_counters_of_any_shape_add_up() -> None:
    total: dict[str, object] = {"a": 1, "deep": {"b": 2}, "missing": ["x"]}
    add_counters(total, {"a": 2, "deep": {"b": 3, "c": 4}, "missing": ["y"]})
    assert total == {"a": 3, "deep": {"b": 5, "c": 4}, "missing": ["y"]}


def test_a_secondary_metric_that_no_answer_holds_does_not_apply() -> None:
    replicates = [replicate(1e-5) for _ in range(6)]
    for one in replicates:
        del one["metrics"]["lost"]
    assert [r.metric for r in collect(replicates)] == ["rtt"]
    assert [r.metric for r in collect([], failure="n2: down")] == ["rtt"]


def test_a_record_says_why_measuring_ended() -> None:
    steady = [replicate(1e-5 + i % 3 * 1e-9) for i in range(8)]
    (rtt, _) = collect(steady)
    assert "wide, within the" in rtt.stopped


def test_a_record_that_lacks_a_pass_says_which_it_has() -> None:
    complete, _ = collect([replicate(1e-5)] * 8)
    assert not complete.blocks, "all from the first on"
    gap, _ = collect([replicate(1e-5), FAILED, *[replicate(1e-5)] * 6])
    assert gap.blocks == [0, 2, 3, 4, 5, 6, 7]
