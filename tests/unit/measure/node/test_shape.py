"""A node's shape from facts, the recorded machines' among them; sizes relative to its caches."""

from __future__ import annotations

import pytest

from tests.machines import tree
from wulf.measure.node.shape import MOST_BYTES, QUICK_MOST_BYTES, NotHereError, Shape, shape_of

KIB, MIB = 1 << 10, 1 << 20
SHAPE = Shape(
    {"l1": 48 * KIB, "l2": 2 * MIB, "l3": 32 * MIB}, {"l1": 8, "l2": 8, "l3": 2}, 64 << 30, [0, 1, 2, 3],
    {0: [0, 1], 1: [2, 3], 2: []}, {0: [10, 21, 17], 1: [21, 10, 28], 2: [17, 28, 10]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("l1/2", 24 * KIB),
        ("l2", 2 * MIB),
        ("4*l3", 128 * MIB),
        ("last/4", 8 * MIB),
        ("memory", 128 * MIB),
        ("array", 85 * MIB),
    ],
)
def test_sizes_are_relative_to_caches(text: str, size: int) -> None:
    assert SHAPE.size(text) == size


@pytest.mark.parametrize("text", ["l4", "l2*4", "", "2**l1", "l1/0x2", "32768"])
def test_what_is_no_size_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is no size"):
        SHAPE.size(text)


def test_three_arrays_for_all_cpus_leave_all_last_caches_behind_where_memory_and_time_allow() -> None:
    small = Shape({"l1": 32 * KIB, "l2": MIB}, {"l1": 4, "l2": 4}, 64 << 30)
    assert small.size("memory") == 4 * MIB
    assert small.size("array") == 16 * MIB
    poor = Shape({"l1": 32 * KIB, "l3": 32 * MIB}, {}, 256 * MIB)
    assert poor.size("memory") == 32 * MIB
    assert 3 * poor.size("array") <= 32 * MIB
    assert Shape({"l1": 32 * KIB, "l3": 480 * MIB}).size("memory") == MOST_BYTES


def test_cpus_and_memory_nodes_by_word() -> None:
    assert (SHAPE.cpu("first"), SHAPE.cpu("last")) == (0, 3)
    assert (SHAPE.memory_node("near"), SHAPE.memory_node("far")) == (1, 2)


def test_what_is_not_known_has_a_reason() -> None:
    for ask in (lambda: Shape().cpu("first"), lambda: Shape(cpus=[0]).memory_node("near"), lambda: Shape().size("l1")):
        with pytest.raises(NotHereError, match="not known"):
            ask()
    with pytest.raises(NotHereError, match="one memory node"):
        Shape(cpus=[0], memory_nodes={0: [0]}, distances={0: [10]}).memory_node("far")


@pytest.mark.parametrize("machine", tree.names())
def test_recorded_machines_have_a_shape_or_a_reason(machine: str) -> None:
    facts = tree.expected(machine)
    shape = shape_of(facts)
    for level, name in (("l1", "l1d"), ("l2", "l2"), ("l3", "l3")):
        fact = facts[f"cpu.{name}_size"]
        assert shape.caches[level] == (fact["value"] or fact["reason"])
    assert all(cpu in shape.cpus for cpus in shape.memory_nodes.values() for cpu in cpus)


def test_the_two_sockets_of_a_recorded_machine() -> None:
    shape = shape_of(tree.expected("xeon-2-sockets"))
    assert shape.cpus == [0, 1, 2]
    assert shape.memory_nodes == {0: [0, 1], 1: [2]}
    assert (shape.memory_node("near"), shape.memory_node("far")) == (1, 0)
    assert shape.memory == 137438953472  # the control group's limit, below what the machine has
    assert shape.size("memory") == 4 * 37486592 // MIB * MIB


def test_a_machine_without_an_l3_says_so_and_its_l2_is_the_last() -> None:
    shape = shape_of(tree.expected("arm-neoverse"))
    assert shape.last == "l2"
    with pytest.raises(NotHereError, match="no cache of level 3"):
        shape.size("l3/2")
    assert shape.memory_nodes == {0: [0, 1, 2, 3], 1: []}  # memory without CPUs
    assert shape.memory_node("near") == 0


def test_quick_takes_smaller_sets() -> None:
    facts = tree.expected("vm-haltpoll")
    assert shape_of(facts, quick=True).size("memory") == QUICK_MOST_BYTES
    assert shape_of(facts).size("memory") == MOST_BYTES


def test_facts_that_could_not_be_read_are_the_reason() -> None:
    shape = shape_of({"agent": {"value": None, "reason": "no python3"}})
    with pytest.raises(NotHereError, match="no python3"):
        shape.size("memory")
