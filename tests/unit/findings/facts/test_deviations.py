"""Majority vote over the facts of the nodes."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.agent.facts import is_uniform
from wulf.findings.facts.deviations import FactDeviation, deviating_facts

ABSENT = {"value": None, "reason": "no cpufreq in /sys", "absent": True}
UNREADABLE = {"value": None, "reason": "no permission to read /sys/x"}


def fact(value: Any) -> dict[str, Any]:
    return {"value": value, "provenance": "reported"}


def fingerprint(name: str, *facts: dict[str, Any] | None) -> dict[str, dict[str, dict[str, Any]]]:
    """Nodes n1, n2, ... with one fact each; None leaves it out."""
    return {f"n{i}": {} if entry is None else {name: entry} for i, entry in enumerate(facts, 1)}


def deviations(name: str, *facts: dict[str, Any] | None) -> list[FactDeviation]:
    return deviating_facts(fingerprint(name, *facts), lambda _: True)


def test_equal_nodes_do_not_deviate() -> None:
    assert deviations("cpu.governor", *[fact("performance")] * 4) == []


def test_one_node_deviates_from_the_others() -> None:
    found = deviations("nic.eth0.qdisc", fact("noqueue"), fact("noqueue"), fact("tbf"), fact("noqueue"))
    assert found == [FactDeviation("nic.eth0.qdisc", "noqueue", {"n3": "tbf"})]


def test_several_odd_values_are_each_named() -> None:
    found = deviations("nic.eth0.mtu", *map(fact, (1500, 1500, 1500, 9000, 1400)))
    assert found == [FactDeviation("nic.eth0.mtu", 1500, {"n4": 9000, "n5": 1400})]


@pytest.mark.parametrize("values", [(1500, 9000), (1, 1, 2, 2), (1, 1, 2, 3)])
def test_half_of_the_nodes_is_no_majority_and_all_are_named(values: tuple[int, ...]) -> None:
    (found,) = deviations("nic.eth0.mtu", *map(fact, values))
    assert found.majority is None
    assert not found.has_majority
    assert list(found.nodes.values()) == list(values)


def test_only_facts_that_should_agree_count() -> None:
    nodes = {
        "n1": {"kernel.boot_id": fact("a"), "kernel.release": fact("6.1")},
        "n2": {"kernel.boot_id": fact("b"), "kernel.release": fact("6.2")},
    }
    assert [found.fact for found in deviating_facts(nodes, is_uniform)] == ["kernel.release"]


def test_a_node_without_the_thing_deviates() -> None:
    found = deviations("cpu.governor", fact("performance"), ABSENT, fact("performance"))
    assert found == [FactDeviation("cpu.governor", "performance", {"n2": None})]


def test_a_majority_may_be_without_the_thing() -> None:
    found = deviations("cpu.governor", ABSENT, fact("performance"), ABSENT)
    assert found == [FactDeviation("cpu.governor", None, {"n2": "performance"})]
    assert found[0].has_majority


def test_nodes_that_could_not_read_it_have_no_vote() -> None:
    assert deviations("kernel.preemption_mode", fact("full"), UNREADABLE, UNREADABLE) == []
    (found,) = deviations("x.y", fact(1), fact(2), UNREADABLE)
    assert set(found.nodes) == {"n1", "n2"}


def test_interfaces_of_other_names_are_one_deviation_not_thirty() -> None:
    nodes = {
        "n1": {"nic.interfaces": fact("eth0"), "nic.eth0.mtu": fact(1500)},
        "n2": {"nic.interfaces": fact("ens1"), "nic.ens1.mtu": fact(1500)},
    }
    assert [found.fact for found in deviating_facts(nodes, is_uniform)] == ["nic.interfaces"]


def test_falsehood_is_not_zero_and_lists_compare() -> None:
    assert deviations("a.b", fact(False), fact(False), fact(0))[0].nodes == {"n3": 0}
    assert deviations("a.b", fact([1, 2]), fact([1, 2]), fact([2, 1]))[0].nodes == {"n3": [2, 1]}


def test_one_node_and_none_do_not_deviate() -> None:
    assert deviations("cpu.model", fact("x")) == []
    assert deviating_facts({}, lambda _: True) == []
