"""One start for many, with clocks that differ: exact, on fake sessions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from tests.unit.measure.fakes import Sink
from tests.unit.sessions import Answering
from wulf.core.errors import NodeError
from wulf.measure.engine.clocks import ClockOffset
from wulf.measure.engine.plan import Cell, Plan, order_pass
from wulf.measure.engine.probes import Metric
from wulf.measure.engine.runner import Runner
from wulf.measure.engine.starts import (
    LEAST_MARGIN,
    MARGIN_A_PAIR,
    MOST_MARGIN,
    Start,
    Starter,
    clock_steps,
    read_clocks,
    report,
)


class Ticking:
    """Our clock: each reading is a microsecond after the last."""

    now = 100.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


class Node:
    """A session whose clock is ahead, and whose runs take whatever `run` says."""

    alive = True

    def __init__(self, clock: Ticking, ahead: float, run: Callable[[dict[str, Any]], dict[str, Any]] | None = None):
        self.clock, self.ahead, self.run = clock, ahead, run
        self.asked: list[dict[str, Any]] = []
        self.questions = 0

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        if op == "clock":
            self.questions += 1
            if self.ahead != self.ahead:  # not a number: a node that does not answer well
                future.set_exception(NodeError("n", "it is gone"))
            else:
                future.set_result({"monotonic": self.clock() + self.ahead})
        elif op == "serve":
            future.set_result({"address": fields["address"], "port": 1})
        elif op == "ping":
            future.set_exception(NodeError("n", "it is gone"))
        else:
            self.asked.append(fields["params"])
            assert self.run is not None
            future.set_result(self.run(fields["params"]))
        return future


def test_offsets_are_those_of_the_clocks_within_their_bounds() -> None:
    clock = Ticking()
    found = read_clocks({"a": Node(clock, 1000.0), "b": Node(clock, -3.5), "c": Node(clock, float("nan"))}, clock)
    assert set(found) == {"a", "b"}
    for node, ahead in (("a", 1000.0), ("b", -3.5)):
        assert abs(found[node].offset - ahead) <= found[node].bound + 1e-9
        assert found[node].bound < 1e-5


def test_a_node_that_does_not_tell_its_time_is_asked_once() -> None:
    clock = Ticking()
    dumb = Node(clock, float("nan"))
    read_clocks({"a": Node(clock, 0.0), "c": dumb}, clock)
    assert dumb.questions == 1


def cells(count: int, **more: Any) -> tuple[Cell, ...]:
    metric = (Metric("throughput", "B/s", "higher"),)
    params = {"seconds": 0.1, "warmup_seconds": 0.05}
    return tuple(Cell(i, f"c{i}", f"s{i}", "tcp", "stream", params, metric, "pairs", **more) for i in range(count))


def test_all_begin_at_one_moment_each_by_its_own_clock() -> None:
    clock = Ticking()
    starter = Starter({f"c{i}": Node(clock, 10.0 * i) for i in range(3)}, clock)
    starts = starter.agree(cells(3))
    moments = [start.at - 10.0 * number for number, start in starts.items()]
    assert max(moments) - min(moments) < 1e-4
    assert moments[0] - clock.now == pytest.approx(LEAST_MARGIN + 3 * MARGIN_A_PAIR, abs=1e-4)
    assert all(start.clock.bound < 1e-4 for start in starts.values())
    starter.learn(0.2)
    assert starter.agree(cells(3))[0].at - clock.now == pytest.approx(LEAST_MARGIN + 3 * MARGIN_A_PAIR + 0.4, abs=1e-4)
    starter.learn(100.0)
    assert starter.agree(cells(3))[0].at - clock.now <= MOST_MARGIN


def test_offsets_are_read_anew_when_they_are_old() -> None:
    clock = Ticking()
    node = Node(clock, 5.0)
    starter = Starter({"c0": node}, clock)
    starter.agree(cells(1))
    node.ahead = 6.0
    assert starter.agree(cells(1))[0].at - clock.now == pytest.approx(5.0, abs=0.1)
    clock.now += 8
    assert 8e-4 < starter.agree(cells(1))[0].clock.bound < 1e-3, "clocks drift apart"
    clock.now += 60
    assert starter.agree(cells(1))[0].at - clock.now == pytest.approx(6.0, abs=0.1)


def test_the_overlap_that_was_reached_is_told() -> None:
    offset = ClockOffset(10.0, 1e-4)
    starts = {0: Start(11.0, offset), 1: Start(11.0, offset)}
    infos = {0: {"started_at": 11.0, "late_seconds": 0.0}, 1: {"started_at": 11.025, "late_seconds": 0.025}}
    told = report(cells(3), starts, infos)
    assert set(told) == {0, 1}
    assert told[1] == {"late": 0.025, "bound": 1e-4, "overlap": pytest.approx(0.75), "together": 2}


def runner(count: int, rates: Callable[[int, int], float], **more: Any) -> tuple[Sink, dict[str, Node], Runner]:
    clock = Ticking()
    times = [0] * count

    def answers(number: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def run(params: dict[str, Any]) -> dict[str, Any]:
            times[number] += 1
            rate = rates(number, times[number])
            info = {"started_at": params["start_at"], "late_seconds": 0.0} if "start_at" in params else {}
            return {"metrics": {"throughput": {"unit": "B/s", "value": rate}}, "info": info, "seconds": 0.1}

        return run

    nodes = {f"c{i}": Node(clock, 10.0 * i, answers(i)) for i in range(count)}
    nodes |= {f"s{i}": Node(clock, 0.0) for i in range(count)}
    plan = Plan(cells(count, **more), 1, 0.05, looks=(6, 9), synchronised=True)
    sink = Sink()
    return sink, nodes, Runner(plan, nodes, dict.fromkeys(nodes, "10.0.0.1"), sink, clock=clock)


def test_replicates_and_records_hold_the_overlap() -> None:
    sink, _, measuring = runner(3, lambda number, time: 1e9, round=0)
    records = measuring.run()
    assert all(replicate["start"]["overlap"] == pytest.approx(1.0, abs=1e-3) for replicate in sink.replicates)
    assert records[0].together == 3
    assert records[0].overlap == pytest.approx(1.0, abs=1e-3)
    assert records[0].start_bound < 1e-4


def test_a_wave_ends_when_its_sum_is_known_though_its_parts_are_not() -> None:
    """Two that share a link unevenly: each swings by half, their sum stands still."""
    _, _, measuring = runner(2, lambda number, time: 1e9 + (5e8 if (number + time) % 2 else -5e8), wave=0)
    records = measuring.run()
    assert {record.replicates for record in records} == {6}
    assert {record.verdict for record in records} == {"ok"}
    assert all(record.blocks == list(range(6)) for record in records)
    assert all("their sum" in record.stopped for record in records)


def test_a_wave_of_which_one_dies_ends() -> None:
    _, nodes, measuring = runner(2, lambda number, time: 1e9, wave=0)
    nodes["s1"].alive = False
    records = measuring.run()
    assert {record.subject: record.verdict for record in records} == {"c0>s0": "unresolved", "c1>s1": "failed"}


def test_waves_stay_together_and_a_samples_rounds_too() -> None:
    random = np.random.default_rng(0)
    bound = cells(4, wave=7)
    assert [len(wave) for wave in order_pass(bound, dict.fromkeys(["c0", "c1", "s2"], "one machine"), random)] == [4]
    rounds = [cell for i in range(3) for cell in cells(40, round=i)]
    assert len(order_pass(cells(40, round=2), {}, random)) == 1
    assert len(rounds) == 120


def test_waves_are_of_one_kind() -> None:
    random = np.random.default_rng(0)
    mixed = [Cell(i, f"a{i // 2}", f"b{i // 2}", "tcp", ("pingpong", "stream")[i % 2], {}, (), "pairs", round=0)
             for i in range(20)]  # fmt: skip
    waves = order_pass(mixed, {}, random, alike=True)
    assert sorted(len(wave) for wave in waves) == [10, 10]
    assert all(len({cell.pattern for cell in wave}) == 1 for wave in waves)


def test_nodes_tell_the_steps_of_their_clocks() -> None:
    sessions = {
        "n1": Answering({"resolution": 4e-8}),
        "n2": Answering({}),
        "n3": Answering(NodeError("n3", "it is gone")),
    }
    assert clock_steps(sessions) == {"n1": 4e-8}
