"""Which settings a campaign takes, in which groups and with which values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workflow.tune_fakes import setting
from tests.wording import Wording, lacking
from wulf.core.errors import UsageError
from wulf.tune.campaign.selecting import Criteria, relevant, select
from wulf.tune.dependencies import order, together
from wulf.tune.setting import Aim
from wulf.tune.values import Level, level_text, parse_settings, same, value_text, with_networks


def readings(**values: Any) -> dict[str, Any]:
    """One node that has these values, `nic__mtu=1500` for nic.mtu."""
    return {"n1": {name.replace("__", "."): {"": {"value": value}} for name, value in values.items()}}


def chosen(catalogue: dict[str, Any], values: dict[str, Any], **criteria: Any) -> Any:
    return select(catalogue, Criteria(Aim.LATENCY, **criteria), values)


def test_what_is_recommended_and_not_so_already() -> None:
    catalogue = {name: setting(name) for name in ("net.a", "net.b")}
    found = chosen(catalogue, readings(net__a=0, net__b=1))
    assert [(f.name, f.levels) for f in found.factors] == [("net.a", (Level((("net.a", 1),)),))]
    assert [(o.name, o.reason) for o in found.omitted] == [("net.b", "is so already on every node")]


def test_a_setting_that_only_one_node_lacks_is_taken() -> None:
    found = chosen(
        {"net.a": setting("net.a")}, {"n1": {"net.a": {"": {"value": 1}}}, "n2": {"net.a": {"": {"value": 0}}}}
    )
    assert [f.name for f in found.factors] == ["net.a"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mechanism": "advice"}, "only a person"),
        ({"scope": "job"}, "a job's launch"),
        ({"access": "report"}, "never changed by wulf"),
        ({"reboot": True}, "after a reboot"),
        ({"security": "weakens"}, "weakens security"),
        ({"kernels": {"inert_since": "4.14"}}, "no effect since Linux 4.14"),
    ],
    ids=["advice", "job", "report", "reboot", "weakens", "inert"],
)
def test_what_is_left_out_and_why(fields: dict[str, Any], words: str, wording: Wording) -> None:
    found = chosen({"net.a": setting("net.a", **fields)}, readings(net__a=0), kernels=("6.1.0-18-amd64",))
    assert not found.factors
    (omitted,) = found.omitted
    assert words in omitted.reason
    wording(omitted.reason)


@pytest.mark.parametrize("fields", [{"security": "weakens"}, {"kernels": {"inert_since": "4.14"}}])
def test_a_named_setting_is_tried_though_it_weakens_or_is_inert(fields: dict[str, Any]) -> None:
    found = chosen({"net.a": setting("net.a", **fields)}, readings(net__a=0), named={"net.a": ()}, kernels=("6.1",))
    assert [(f.name, f.inert) for f in found.factors] == [("net.a", "kernels" in fields)]


@pytest.mark.parametrize(("kernel", "inert"), [("4.13.0", False), ("4.14.0-1", True), ("5.2", True), ("10.0.1", True)])
def test_kernels_are_compared_as_numbers(kernel: str, inert: bool) -> None:
    catalogue = {"net.a": setting("net.a", kernels={"inert_since": "4.14"})}
    found = chosen(catalogue, readings(net__a=0), named={"net.a": ()}, kernels=(kernel,))
    assert found.factors[0].inert is inert


@pytest.mark.parametrize("fields", [{"scope": "host"}, {"scope": "cpu"}, {"scope": "irq"}, {"global_in_netns": True}])
def test_what_belongs_to_a_shared_machine_is_never_changed_even_if_named(fields: dict[str, Any]) -> None:
    catalogue = {"net.a": setting("net.a", **fields)}
    found = chosen(catalogue, readings(net__a=0), named={"net.a": (1,)}, shared=True)
    (omitted,) = found.omitted
    assert lacking(omitted.reason, "machine", "nodes share") == []


def test_a_setting_that_no_node_has_says_why() -> None:
    nothing = {"n1": {"net.a": {"": {"value": None, "reason": "no such file"}}}}
    assert [o.reason for o in chosen({"net.a": setting("net.a")}, nothing).omitted] == ["no such file"]


def test_named_values_take_the_place_of_the_recommended_ones() -> None:
    found = chosen({"net.a": setting("net.a")}, readings(net__a=0), named={"net.a": (5, 7)})
    assert [level.writes for level in found.factors[0].levels] == [(("net.a", 5),), (("net.a", 7),)]


COALESCING = {
    "nic.rx_usecs": setting(
        "nic.rx_usecs", scope="nic", masked_by={"nic.adaptive_rx": True}, advice={"latency": {"value": 0, "why": ""}}
    ),
    "nic.adaptive_rx": setting(
        "nic.adaptive_rx", scope="nic", type="bool", advice={"latency": {"value": False, "why": ""}}
    ),
    "net.a": setting("net.a"),
}


def test_what_masks_each_other_is_one_factor_and_masked_values_are_not_tried() -> None:
    now = readings(nic__rx_usecs=3, nic__adaptive_rx=True, net__a=0)
    found = chosen(COALESCING, now)
    assert [f.name for f in found.factors] == ["nic.adaptive_rx + nic.rx_usecs", "net.a"]
    assert [level.writes for level in found.factors[0].levels] == [
        (("nic.adaptive_rx", False), ("nic.rx_usecs", 0)),
        (("nic.adaptive_rx", False),),
    ]


def test_a_masked_setting_named_alone_is_pointed_out(wording: Wording) -> None:
    now = readings(nic__rx_usecs=3, nic__adaptive_rx=True, net__a=0)
    found = chosen(COALESCING, now, named={"nic.rx_usecs": ()})
    (note,) = found.notes
    assert lacking(note, "nic.rx_usecs has no effect", "while nic.adaptive_rx is on") == []
    wording(note)


def test_the_order_of_writing_follows_needs_masks_and_resets() -> None:
    catalogue = {
        "nic.a": setting("nic.a", needs=["nic.c"]),
        "nic.b": setting("nic.b", resets=["nic.a", "nic.c"]),
        "nic.c": setting("nic.c"),
    }
    assert order(catalogue, ["nic.a", "nic.b", "nic.c"]) == ["nic.b", "nic.c", "nic.a"]
    assert together(catalogue, ["nic.a", "nic.b", "nic.c"]) == [["nic.c", "nic.a"], ["nic.b"]]


def test_settings_are_parsed_by_their_types() -> None:
    catalogue = {
        "nic.mtu": setting("nic.mtu"),
        "nic.gro": setting("nic.gro", type="bool"),
        "tcp.cc": setting("tcp.cc", type="word"),
    }
    assert parse_settings("nic.mtu=1500:9000, nic.gro=off,tcp.cc=cubic", catalogue) == {
        "nic.mtu": (1500, 9000), "nic.gro": (False,), "tcp.cc": ("cubic",),
    }  # fmt: skip
    assert parse_settings("nic.mtu", catalogue) == {"nic.mtu": ()}


@pytest.mark.parametrize("text", ["", "nic.mto", "nic.mtu=many", "nic.gro=perhaps"])
def test_wrong_settings_are_refused(text: str) -> None:
    catalogue = {"nic.mtu": setting("nic.mtu"), "nic.gro": setting("nic.gro", type="bool")}
    with pytest.raises(UsageError) as caught:
        parse_settings(text, catalogue)
    assert caught.value.next_step
    if text == "nic.mto":
        assert "nic.mtu" in caught.value.next_step


def test_other_cards_than_the_clusters_are_left_alone() -> None:
    catalogue = {
        "nic.mtu": setting("nic.mtu", scope="nic"),
        "nic.q": setting("nic.q", scope="queue"),
        "net.a": setting("net.a"),
    }
    here = {"n1": {
        "nic.mtu": {"eth0": {"value": 1}, "eth1": {"value": 1}},
        "nic.q": {"rx-0 of eth0": {"value": 1}, "rx-0 of eth1": {"value": 1}},
        "net.a": {"": {"value": 1}},
    }}  # fmt: skip
    found = relevant(here, catalogue, {"n1": "eth1"})
    assert {name: list(places) for name, places in found["n1"].items()} == {
        "nic.mtu": ["eth1"], "nic.q": ["rx-0 of eth1"], "net.a": [""],
    }  # fmt: skip
    assert relevant(here, catalogue, {}) == here


def test_a_bypass_names_the_clusters_networks() -> None:
    catalogue = {
        "firewall.bypass": setting("firewall.bypass", mechanism="nftables", target={"what": "bypass"}),
        "firewall.rules": setting("firewall.rules", mechanism="nftables", target={"what": "rules"}),
    }
    found = with_networks(catalogue, ["10.0.0.0/24"])
    assert found["firewall.bypass"].target == {"what": "bypass", "networks": ["10.0.0.0/24"]}
    assert found["firewall.rules"].target == {"what": "rules"}


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (3e-6, 3.0000000000001e-6, True),
        ("1", 1, False),
        (0, 0.0, True),
        (0, 1e-6, False),
    ],
)
def test_values_are_compared_as_what_they_are(a: Any, b: Any, equal: bool) -> None:
    assert same(a, b) is equal


def test_values_are_shown_with_their_unit() -> None:
    assert value_text(setting("nic.mtu", unit="B"), 9000) == "9000 B"
    assert value_text(setting("nic.u", type="float", unit="s"), 3e-6) == "3 µs"
    assert value_text(setting("nic.g", type="bool"), False) == "off"
    assert value_text(setting("nic.f", unit="1"), 64) == "64"
    catalogue = {"nic.g": setting("nic.g", type="bool"), "nic.u": setting("nic.u", unit="s")}
    assert level_text(catalogue, Level((("nic.g", False), ("nic.u", 0)))) == "nic.g = off, nic.u = 0 ns"
