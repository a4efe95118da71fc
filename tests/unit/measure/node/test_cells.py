"""Cells of a node survey: from table and shape, what is lacking, how long it takes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.machines import tree
from wulf.cluster.simulated.cluster import WULF_NET
from wulf.cluster.simulated.node import WULF_NODE
from wulf.measure.engine.collect import records_of
from wulf.measure.engine.plan import Cell, Plan, order_pass
from wulf.measure.engine.probes import NODE, Probe
from wulf.measure.node.cells import Lack, TableRequest, cells_of, octaves, runs_over, spread
from wulf.measure.node.cost import (
    MOST_LONGER,
    TOUCH_SECONDS,
    Turn,
    fitted,
    longer_within,
    most_seconds,
    replicate_seconds,
)
from wulf.measure.node.rows import table
from wulf.measure.node.sets import needed
from wulf.measure.node.shape import Shape, shape_of
from wulf.workflow.node.survey import FULL_SECONDS, PLANNED, QUICK_SECONDS

KIB, MIB = 1 << 10, 1 << 20
PROBES = {"net": Probe.from_describe(WULF_NET), "node": Probe.from_describe(WULF_NODE)}
SERVER = Shape(
    {"l1": 48 * KIB, "l2": 2 * MIB, "l3": 105 * MIB}, {"l1": 112, "l2": 112, "l3": 2}, 512 << 30, list(range(224)),
    {0: list(range(112)), 1: list(range(112, 224))}, {0: [10, 21], 1: [21, 10]},
)  # fmt: skip


def place(_client: str, _server: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return dict(params)


def cells(
    shape: Shape = SERVER, nodes: tuple[str, ...] = ("n1",), groups: str = "", *, quick: bool = False,
    probes: Mapping[str, Probe] = PROBES, **more: Any,
) -> tuple[tuple[Cell, ...], list[Lack]]:  # fmt: skip
    asked = TableRequest(frozenset(groups.split()), quick)
    return cells_of(nodes, dict.fromkeys(nodes, shape), probes, asked, place=place, **more)


def test_every_row_has_a_cell_or_a_reason() -> None:
    made, lacks = cells(nodes=("n1", "n2"))
    rows = {(cell.client, row) for cell in made for row in cell.rows.values()} | {(k.node, k.row.name) for k in lacks}
    derived = {row.name for row in table().rows if row.derived}
    assert rows == {(node, row.name) for node in ("n1", "n2") for row in table().rows if row.name not in derived}
    assert all(lack.reason for lack in lacks)
    assert [cell.id for cell in made] == list(range(len(made)))


def test_sizes_are_the_nodes_own() -> None:
    by_row = {row: cell for cell in cells()[0] for row in cell.rows.values()}
    assert by_row["mem.l2.latency"].params["bytes"] == MIB
    assert by_row["mem.core_to_core"].params | {"seconds": 0} == {"cpu": 0, "other": 223, "seconds": 0}
    assert by_row["mem.numa.far"].params["memory_node"] == 0
    assert by_row["mem.l3.read"].program == NODE


def test_one_cell_gives_several_rows_and_is_measured_once() -> None:
    made, _ = cells()
    both = next(cell for cell in made if "cpu.int.add" in cell.rows.values())
    assert both.rows == {"latency": "cpu.int.add", "throughput": "cpu.int.add.rate"}
    keys = [(c.program, c.pattern, c.transport, c.client, c.server, str(sorted(c.params.items()))) for c in made]
    assert len(keys) == len(set(keys))
    triad = next(cell for cell in made if "mem.triad" in cell.rows.values())
    assert triad.name.startswith("mem.bandwidth.triad.one#")


def test_a_program_that_lacks_a_probe_is_named_in_the_rows_reason() -> None:
    old = replace(PROBES["node"], patterns={"syscall": PROBES["node"].patterns["syscall"]})
    made, lacks = cells(probes={**PROBES, "node": old})
    assert {cell.pattern for cell in made if cell.program == NODE} == {"syscall"}
    reasons = {lack.row.name: lack.reason for lack in lacks}
    assert reasons["mem.l1.latency"] == "wulf-node has no probe 'chase'"
    assert reasons["net.udp.request"].startswith("wulf-net has no pattern 'request'")


def test_a_node_without_the_program_is_measured_over_the_network_alone() -> None:
    made, lacks = cells(nodes=("n1", "n2"), without={NODE: {"n2": "wulf-node could not be started: no space"}})
    assert not [cell for cell in made if cell.client == "n2" and cell.program == NODE]
    assert [cell for cell in made if cell.client == "n1" and cell.program == NODE]
    reasons = {lack.row.name: lack.reason for lack in lacks if lack.node == "n2"}
    assert reasons["os.syscall.null"] == "wulf-node could not be started: no space"


def test_remote_rows_go_round_a_ring_and_one_node_has_none() -> None:
    made, _ = cells(nodes=("n1", "n2", "n3"))
    remote = {cell.subject for cell in made if cell.client != cell.server}
    assert remote == {"n1>n2", "n2>n3", "n3>n1"}
    _, lacks = cells()
    assert {lack.reason for lack in lacks if lack.row.name == "net.remote.tcp.latency"} == {"there is no other node"}


def test_only_some_groups_and_quick_leaves_out_what_it_says() -> None:
    made, _ = cells(groups="os")
    names = {row.name for row in table().rows if row.group == "os"}
    assert {row for cell in made for row in cell.rows.values()} == names
    assert len(cells(quick=True)[0]) < len(cells()[0]) / 2
    assert not [cell for cell in cells(quick=True)[0] if cell.phase == "matrix"]


def test_sizes_of_a_curve_are_so_many_an_octave_of_whole_lines_up_to_the_last() -> None:
    assert octaves(1024, 8192, 1) == [1024, 2048, 4096, 8192]
    sizes = octaves(6144, 128 * MIB, 3)
    assert sizes[-1] == 128 * MIB
    assert all(size % 64 == 0 for size in sizes)
    assert max(b / a for a, b in pairwise(sizes)) == pytest.approx(2 ** (1 / 3), rel=0.02)


def test_cpus_that_are_drawn_hold_neighbours_and_siblings() -> None:
    assert spread([3, 1, 2], 16) == [3, 1, 2]
    drawn = spread(range(224), 16)
    assert len(drawn) == len(set(drawn)) == 16
    assert {0, 1, 112, 113} <= set(drawn)  # Linux: the second thread of core 0 is CPU 112
    assert len([cell for cell in cells()[0] if cell.pattern == "core-to-core"]) == 16 * 15 // 2 + 1


def test_large_sets_of_one_thread_are_shared_as_large_as_the_largest_needs() -> None:
    made, _ = cells(groups="memory")
    sharing = {
        name: [c for c in made if c.shares and c.shares.name == name] for name in ("default pages", "huge pages")
    }
    for name, members in sharing.items():
        (size,) = {c.shares.bytes for c in members if c.shares}
        assert size == max(needed(c.pattern, c.params) for c in members), name
        assert all(c.params.get("pages", "default") == name.split()[0] for c in members)
    rows = {row: c for c in made for row in c.rows.values()}
    assert {"mem.random.latency", "mem.main.latency", "mem.updates", "mem.triad", "mem.read"} <= {
        row for c in sharing["default pages"] for row in c.rows.values()
    }
    assert not any(rows[name].shares for name in ("mem.l1.latency", "mem.l1.read", "mem.triad.all", "mem.updates.all"))
    spoils = {c.pattern: c.shares.spoils for c in made if c.shares}
    assert spoils == {"chase": True, "random-access": True, "bandwidth": False}


def test_a_set_that_nobody_shares_is_the_probes_own() -> None:
    asked = TableRequest(names=frozenset({"mem.triad"}))
    made, _ = cells_of(["n1"], {"n1": SERVER}, PROBES, asked, place=place)
    assert [c.shares for c in made] == [None]


def test_a_shared_set_is_made_ready_once() -> None:
    made, _ = cells(groups="memory", quick=True)
    own = [replace(c, shares=None) for c in made]
    sets = {c.shares.name: c.shares.bytes for c in made if c.shares}
    laid = sum(needed(c.pattern, c.params) for c in made if c.shares)
    saved = TOUCH_SECONDS * (laid - sum(sets.values()))
    assert saved > 0.1
    assert most_seconds(own, {}, 2) - most_seconds(made, {}, 2) == pytest.approx(2 * saved)


def test_runs_of_the_operation_rate_fit_its_time() -> None:
    assert runs_over(4096) == 100
    assert runs_over(1 << 30) == 5
    assert 5 <= runs_over(2 * MIB) < 100


SHAPES = {name: shape_of(tree.expected(name)) for name in tree.names()} | {"server": SERVER}


@pytest.mark.parametrize("name", SHAPES)
def test_one_node_takes_three_minutes_at_most_and_thirty_seconds_when_quick(name: str) -> None:
    for quick, replicates, seconds in ((True, 6, PLANNED * QUICK_SECONDS), (False, 8, PLANNED * FULL_SECONDS)):
        shape = fitted(SHAPES[name], PROBES, TableRequest(quick=quick), Turn(replicates, seconds))
        nodes = ("n1", "n2")  # each the remote end of the other
        assert most_seconds(cells(shape, nodes, quick=quick)[0], {}, replicates) <= seconds
        caches = [size for size in shape.caches.values() if isinstance(size, int)]
        assert not caches or shape.most >= 32 * MIB


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_time_that_a_quick_run_has_left_is_measured_in(name: str, alone: bool) -> None:
    """Neither figures between nodes that are not there nor the power of a node without a meter take time."""
    turn, asked = Turn(6, PLANNED * QUICK_SECONDS, alone), TableRequest(quick=True)
    shape = fitted(SHAPES[name], PROBES, asked, turn)
    longer = longer_within(shape, PROBES, asked, turn)
    nodes = ("n1",) if alone else ("n1", "n2")
    asked = replace(asked, longer=longer)
    made, _ = cells_of(nodes, dict.fromkeys(nodes, shape), PROBES, asked, place=place)
    working = [cell for cell in made if shape.metered or cell.pattern != "power"]
    whole = most_seconds(working, {}, 6)
    assert longer >= 1
    assert whole <= turn.seconds
    assert longer == MOST_LONGER or whole >= 0.98 * turn.seconds
    assert longer_within(shape, PROBES, asked, replace(turn, seconds=1.0)) == 1.0


def test_the_part_of_a_huge_cache_is_no_larger_than_what_is_called_memory() -> None:
    """480 MB of L3, as a virtual machine may be told: its half took most of a quick run to be made ready."""
    shape = replace(SERVER, caches={**SERVER.caches, "l3": 480 * MIB}, most=64 * MIB)
    assert (shape.size("l3/2"), shape.size("l2/2"), shape.size("l3")) == (64 * MIB, SERVER.size("l2/2"), 480 * MIB)


def test_nodes_of_their_own_machines_take_no_longer_than_one_and_nodes_of_one_machine_do() -> None:
    alone = most_seconds(cells(groups="os")[0], {}, 8)
    nodes = ("n1", "n2", "n3", "n4")
    assert most_seconds(cells(nodes=nodes, groups="os")[0], {}, 8) == pytest.approx(alone)
    assert most_seconds(cells(nodes=nodes, groups="os")[0], dict.fromkeys(nodes, "m"), 8) == pytest.approx(4 * alone)


def test_what_takes_longer_is_thought_to() -> None:
    small, large = (Cell(0, "a", "a", "", "chase", {"bytes": b, "seconds": 0.02}, ()) for b in (4096, 256 * MIB))
    assert replicate_seconds(small) < 0.03 < 0.2 < replicate_seconds(large)


def test_a_thousand_nodes_are_planned_in_seconds_and_measure_cells_of_one_name_together() -> None:
    nodes = tuple(f"n{number}" for number in range(1000))
    began = time.monotonic()
    made, _ = cells(nodes=nodes, groups="os noise")
    waves = order_pass(made, {}, np.random.default_rng(1))
    assert time.monotonic() - began < 60
    assert {len(wave) for wave in waves} == {1000}
    assert all(len({cell.name for cell in wave}) == 1 for wave in waves)


def test_nodes_of_one_machine_are_measured_one_at_a_time_and_curves_in_random_order() -> None:
    made, _ = cells(nodes=("n1", "n2"), groups="memory")
    waves = order_pass(made, {"n1": "m", "n2": "m"}, np.random.default_rng(1))
    assert {len(wave) for wave in waves} == {1}
    sizes = [w[0].params["bytes"] for w in waves if w[0].name.startswith("mem.chase.small#") and w[0].client == "n1"]
    assert sizes != sorted(sizes)


def test_cells_with_rows_survive_a_plans_file() -> None:
    made = cells(groups="noise power")[0]
    plan = Plan(made, seed=1)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_records_carry_their_row_or_curve_and_what_a_host_does_not_have_is_not_supported() -> None:
    made = cells(groups="noise memory")[0]
    detour = next(cell for cell in made if cell.pattern == "detour")
    figure = {"unit": "1", "value": 0.01}
    none = {"unit": "s", "value": None, "reason": "no time stamp counter"}
    answers = [{"cell": detour.id, "block": block, "ok": True, "metrics": {"lost": figure, "worst": none}}
               for block in range(8)]  # fmt: skip
    lost, worst = records_of(detour, answers, Plan(made, seed=1, looks=(8,)), "r", at="now")
    assert (lost.row, lost.value, lost.supported) == ("noise.detour.lost", 0.01, True)  # type: ignore[attr-defined]
    assert (worst.row, worst.reason, worst.supported) == ("noise.detour.worst", none["reason"], False)  # type: ignore[attr-defined]
    point = next(cell for cell in made if cell.phase == "curve" and not cell.rows)
    (cut,) = records_of(point, [], Plan(made, seed=1, looks=(8,)), "r", at="now", failure="n1: lost")
    assert cut.curve == point.name.partition("#")[0]  # type: ignore[attr-defined]
    assert cut.supported
    moved = [answer | {"info": {"clock_rate": {"before": 3e9, "after": 2e9}}} for answer in answers]
    flagged = records_of(detour, moved, Plan(made, seed=1, looks=(8,)), "r", at="now")[0]
    assert (flagged.verdict, list(flagged.flags)) == ("noisy", ["clock"])  # type: ignore[attr-defined]
