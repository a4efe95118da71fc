"""The plan of a campaign: what is asked of a node, what it costs, and what may go wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workflow.tune_fakes import setting
from wulf.core.errors import UsageError
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.plan import (
    Campaign,
    blocks_wanted,
    change_of,
    check_design,
    folded,
    journalled,
    planned_settings,
    risks,
    seconds_of,
    stages_of,
)
from wulf.tune.campaign.selecting import Criteria, select
from wulf.tune.setting import Aim

CATALOGUE = {
    "nic.mtu": setting(
        "nic.mtu", scope="nic", unit="B", flap=True, resets=["nic.xps", "nic.gone"],
        advice={"latency": {"sweep": [1500, 3000, 9000], "why": ""}},
    ),
    "nic.xps": setting("nic.xps", scope="queue", advice={}),
    "firewall.bypass": setting("firewall.bypass", security="weakens"),
    "mem.thp": setting("mem.thp", scope="host"),
    "tcp.old": setting("tcp.old", kernels={"inert_since": "4.14"}),
}  # fmt: skip

READINGS: dict[str, Any] = {
    node: {
        "nic.mtu": {"eth0": {"value": 1500}},
        "nic.xps": {"tx-0 of eth0": {"value": "3"}, "tx-1 of eth0": {"value": None, "reason": "one CPU"}},
        "firewall.bypass": {"": {"value": 0}},
        "mem.thp": {"": {"value": 0}},
        "tcp.old": {"": {"value": 0}},
    }
    for node in ("n1", "n2")
}


def campaign(named: dict[str, Any] | None = None, blocks: int = 8) -> Campaign:
    selection = select(CATALOGUE, Criteria(Aim.LATENCY, named), READINGS)
    return Campaign(Aim.LATENCY, ("n1", "n2"), selection, CampaignMetric("rtt", "s"), "a round trip", 0.5, blocks, 1)


def test_a_node_is_asked_for_what_is_not_so_yet_with_what_it_resets() -> None:
    here = {**READINGS["n1"], "nic.mtu": {"eth0": {"value": 1500}, "eth1": {"value": 9000}}}
    asked = change_of((("nic.mtu", 9000), ("tcp.old", 1)), here, CATALOGUE, {"tcp.old"})
    sysctl = {"mechanism": "sysctl", "target": {"key": "nic.mtu"}}
    xps = {"name": "nic.xps", "mechanism": "sysctl", "target": {"key": "nic.xps"}, "place": "tx-0 of eth0"}
    old = {"mechanism": "sysctl", "target": {"key": "tcp.old"}}
    assert asked == [
        {"name": "nic.mtu", **sysctl, "place": "eth0", "value": 9000, "resets": [xps]},
        {"name": "tcp.old", **old, "place": "", "value": 1, "inert": True},
    ]


def test_what_is_planned_is_told_with_where_and_from_what_to_what() -> None:
    found = planned_settings(campaign(), CATALOGUE, READINGS)
    mtu = next(one for one in found if one.name == "nic.mtu")
    assert (mtu.now, mtu.to) == ((("1500 B", "eth0 on n[1-2]"),), ("3000 B", "9000 B"))
    assert journalled(found)[0] == "nic.mtu: 1500 B at eth0 on n[1-2]"


def test_risks_are_said() -> None:
    named = {"nic.mtu": (), "firewall.bypass": (), "mem.thp": ()}
    said = " ".join(risks(campaign(named), CATALOGUE))
    for words in ("link goes down for a moment at each change: nic.mtu", "Weakens security while it is measured",
                  "firewall.bypass", "whole machine", "mem.thp", "tried on n1 first", "within 30 s"):  # fmt: skip
        assert words in said
    assert "Weakens" not in " ".join(risks(campaign({"mem.thp": ()}), CATALOGUE))


def test_stages_and_time_grow_with_what_is_tried() -> None:
    swept, single = campaign({"nic.mtu": ()}), campaign({"mem.thp": ()})
    assert [stage.name for stage in stages_of(swept, CATALOGUE)] == ["sweep", "main"]
    assert [stage.name for stage in stages_of(single, CATALOGUE)] == ["main"]
    few, many = (seconds_of(one, stages_of(one, CATALOGUE)) for one in (single, swept))
    # 8 blocks of 4 arms, 16 confirming, 16 for the figure, each 0.5 s; 2 + 16 + 8 + 8 changes of 2 s
    assert few == pytest.approx(64 * 0.5 + 34 * 2.0)
    assert many > few


def test_nothing_to_change_is_refused_with_reasons() -> None:
    with pytest.raises(UsageError, match=r"latency on n\[1-2\]: nic\.xps: no value"):
        check_design(campaign({"nic.xps": ()}))


def test_blocks_as_given_or_as_many_as_it_takes() -> None:
    selection = campaign().selection
    assert blocks_wanted(None, selection, 0.05) == 9
    assert blocks_wanted(None, selection, 0.05, quick=True) == 7
    assert blocks_wanted(20, selection, 0.05) == 20
    with pytest.raises(UsageError):
        blocks_wanted(5, selection, 0.05)


def test_nodes_are_folded() -> None:
    assert folded(["n1", "n2", "n4"]) == "n[1-2,4]"
