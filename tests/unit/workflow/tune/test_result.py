"""What counts as a difference between two dumps of the nodes' settings."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.workflow.tune.result import differences


def dump(affinity: str, balancing: bool, mtu: int = 1500) -> dict[str, dict[str, Any]]:
    return {
        "n1": {
            "irq.affinity": {"rx-0 of eth0": {"value": affinity}},
            "irq.balance_active": {"": {"value": balancing}},
            "nic.mtu": {"eth0": {"value": mtu}},
        }
    }


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (dump("0", True), dump("1", True), []),  # irqbalance moves interrupts whenever it likes
        (dump("0", False), dump("1", False), ["irq.affinity"]),
        (dump("0", True), dump("1", False), ["irq.affinity", "irq.balance_active"]),
        (dump("0", True), dump("0", True, mtu=9000), ["nic.mtu"]),
    ],
)
def test_what_the_node_moves_by_itself_is_no_leftover(before: Any, after: Any, found: list[str]) -> None:
    assert [one["name"] for one in differences(before, after, [])] == found
