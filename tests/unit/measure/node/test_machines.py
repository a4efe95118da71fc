"""Time, clock cycles and cost of a unit of work: figures from records, machines from runs, prices from words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.report.make_node import CLOCK, clocked, measured, node_run
from tests.unit.report.make_run import make_run, record
from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.measure.node.machines import (
    Machine,
    clock_of,
    common_rows,
    machine,
    machines_of,
    programs_of,
    read_prices,
    time_of,
    work_of,
)
from wulf.stats.estimates import PointEstimate
from wulf.store.run import Run


def rate(value: float | None, unit: str, **fields: object) -> Record:
    return measured("n1", "rate", value, {"pattern": "fma"}, unit=unit, **fields)


def test_the_time_of_a_latency_is_its_value_with_its_interval() -> None:
    record = measured("n1", "latency", 2e-9, {"pattern": "chase"}, unit="s", low=1.9e-9, high=2.2e-9)
    assert time_of(record) == PointEstimate(2e-9, 1.9e-9, 2.2e-9)


def test_the_time_of_a_rate_is_one_by_it_and_its_bounds_change_places() -> None:
    assert time_of(rate(4e9, "flop/s", low=2e9, high=5e9)) == PointEstimate(2.5e-10, 2e-10, 5e-10)


@pytest.mark.parametrize(
    "record",
    [
        rate(None, "flop/s", reason="no AVX-512"),
        rate(1e9, "flop/s", verdict=Verdict.FAILED, reason="killed"),
        rate(0.0, "Hz"),
        rate(61.0, "W"),
        measured("n1", "detours", 260.0, {"pattern": "detour"}, unit="Hz"),
        measured("n1", "worst", 4e-5, {"pattern": "detour"}, unit="s"),
    ],
    ids=["null", "failed", "zero", "watts", "detours", "worst"],
)
def test_what_is_no_speed_has_no_time(record: Record) -> None:
    assert time_of(record) is None


def test_the_clock_is_the_median_of_what_was_measured_beside_the_records() -> None:
    records = [rate(1e9, "Hz", info=clocked(clock)) for clock in (3e9, 3.1e9, 9e9)]
    records += [rate(1e9, "Hz", info={}), rate(1e9, "Hz", info={"clock_rate": {"before": None, "after": 0.0}})]
    assert clock_of(records) == pytest.approx(3.1e9)
    assert clock_of(records[3:]) is None


def test_cycles_are_time_by_clock_and_cost_is_price_by_time() -> None:
    one = machine("n1", {"a": rate(2e9, "Hz", info=clocked(4e9))}, {"cpu.model": {"value": "A"}}, 1000.0)
    assert (one.kind, one.price) == ("A", 1000.0)
    cycles, cost = one.cycles("a"), one.cost("a")
    assert cycles is not None
    assert cost is not None
    assert cycles.value == pytest.approx(2.0)
    assert cost.value == pytest.approx(5e-7)
    assert cost.low == pytest.approx(5e-7 / 1.02)
    assert replace(one, price=None).cost("a") is None
    assert one.cycles("b") is None


def test_a_row_without_a_clock_of_its_own_takes_the_machines() -> None:
    rows = {"a": rate(2e9, "Hz", info={}), "b": rate(1e9, "Hz", info=clocked(2e9))}
    cycles = machine("n1", rows, {}).cycles("a")
    assert cycles is not None
    assert cycles.value == pytest.approx(1.0)


def test_rows_in_common() -> None:
    def with_rows(*names: str) -> Machine:
        return machine("n", {name: rate(1e9, "Hz") for name in names}, {})

    machines = [with_rows("a", "b", "c"), with_rows("b", "c")]
    assert common_rows(machines, ["c", "a", "z"]) == ["c", "a"]
    assert common_rows(machines, ["z"]) == ["b", "c"]
    assert common_rows([], ["z"]) == []


def test_prices_are_read() -> None:
    assert read_prices(["n1=2490", "a=b=1.5"]) == {"n1": 2490.0, "a=b": 1.5}


@pytest.mark.parametrize("word", ["n1", "=5", "n1=", "n1=x", "n1=0", "n1=-3", "n1=inf", "n1=nan"])
def test_what_is_no_price_is_refused_by_name(word: str) -> None:
    with pytest.raises(UsageError, match="--price"):
        read_prices([word])


def test_machines_have_names_of_their_own_and_the_prices_for_them() -> None:
    runs = {"old": node_run(("n1",)), "new": node_run(("n1", "n2"))}
    found = machines_of(runs, {"old": 900.0, "n2": 7.0, "new:n1": 5.0})
    assert [(one.name, one.price) for one in found] == [("old", 900.0), ("new:n1", 5.0), ("n2", 7.0)]
    assert found[0].clock == pytest.approx(CLOCK)


def test_a_price_for_nobody_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UsageError, match="no such machine") as caught:
        machines_of({"a": node_run(("n1",))}, {"n9": 1.0})
    assert "n1" in str(caught.value.next_step)


def ran(node: str, seconds: float, **params: object) -> Record:
    """What a program took."""
    about = {"pattern": "run", "command": "./solver", "program": f"/opt/{node}/solver", **params}
    return record(node, "wall", seconds, probe="app", phase="app", unit="s", params=about)


def programs_run(*records: Record) -> Run:
    return make_run(tuple(record.nodes[0] for record in records), records, [])


def test_a_program_of_ones_own_is_a_row_of_the_node_that_it_ran_on() -> None:
    found = machines_of(
        {"nodes": node_run(("n1", "n2"), cpus=2), "mine": programs_run(ran("n1", 10.0), ran("n2", 8.0))}, {"n2": 500.0}
    )
    assert [one.name for one in found] == ["n1", "n2"]
    one, other = found
    cycles, cost = one.cycles("./solver, wall"), other.cost("./solver, wall")
    assert cycles is not None
    assert cycles.value == pytest.approx(10.0 * CLOCK)
    assert [cycles.low, cycles.high] == pytest.approx([9.8 * CLOCK, 10.2 * CLOCK])
    assert cost is not None
    assert cost.value == pytest.approx(4000.0)
    assert work_of(one.rows["./solver, wall"]) == "run"


def test_a_program_on_a_node_that_nobody_measured_has_a_time_and_no_cycles() -> None:
    (one,) = machines_of({"mine": programs_run(ran("n7", 10.0))}, {})
    assert one.time("./solver, wall") is not None
    assert one.cycles("./solver, wall") is None


def test_of_programs_the_main_figure_counts_where_it_ran_on_one_node() -> None:
    first = ran("n1", 2.0, ranks=4)
    first = first.model_copy(update={"params": {"pattern": "stream", "bytes": 8, "ranks": 4, "program": "/opt/stream"}})
    more = first.model_copy(update={"metric": "triad"})
    found = programs_of([first, more, ran("n[1-2]", 3.0)])
    assert found == {"n1": {"stream, bytes 8, 4 ranks, wall": first}}


def test_a_program_on_a_node_that_two_runs_measured_is_refused() -> None:
    runs = {"old": node_run(("n1",), cpus=2), "new": node_run(("n1",), cpus=2), "mine": programs_run(ran("n1", 1.0))}
    with pytest.raises(UsageError, match="mine: several of the runs measured n1"):
        machines_of(runs, {})
