"""States of settings and what is remarkable about them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.tune.make_audit import ABSENT, REFUSED, advised, read, readings, setting
from tests.wording import Wording, lacking
from wulf.tune.audit.audited import remarks
from wulf.tune.audit.judging import Mark, State, audit
from wulf.tune.readings import shown, wanted
from wulf.tune.setting import Aim, Setting
from wulf.tune.values import same

KERNEL = "6.1.0-18-amd64"


def states(one: Setting, nodes: Any, roles: dict[str, str] | None = None, kernel: str = KERNEL) -> list[State]:
    return audit([one], nodes, roles or {}, Aim.LATENCY, dict.fromkeys(nodes, kernel))


def marked(found: list[State]) -> dict[tuple[str, ...], set[Mark]]:
    return {state.nodes: set(state.marks) for state in found}


def test_alike_nodes_are_one_state_without_marks() -> None:
    (state,) = states(setting(), readings("nic.mtu", *[read(1500, 1500)] * 3))
    assert state.nodes == ("n1", "n2", "n3")
    assert state.marks == frozenset()
    assert not state.deviates


def test_the_node_that_differs_is_named_with_what_most_have() -> None:
    found = states(setting(), readings("nic.mtu", read(1500), read(1500), read(1400), read(1500)))
    assert marked(found) == {("n1", "n2", "n4"): set(), ("n3",): {Mark.ODD}}
    assert found[1].usual == 1500


def test_half_of_the_nodes_is_no_majority() -> None:
    found = states(setting(), readings("nic.mtu", read(1500), read(9000)))
    assert marked(found) == {("n1",): {Mark.SPLIT}, ("n2",): {Mark.SPLIT}}


def test_nodes_of_other_roles_do_not_vote_and_roles_need_not_agree() -> None:
    nodes = readings("nic.mtu", read(1500), read(9000), read(9000))
    assert all(not state.marks for state in states(setting(), nodes, {"n1": "head", "n2": "node", "n3": "node"}))


def test_a_setting_that_may_differ_does_not_deviate() -> None:
    assert all(not state.marks for state in states(setting(uniform=False), readings("nic.mtu", read(1), read(2))))


def test_who_could_not_read_it_does_not_vote_and_who_has_it_not_does() -> None:
    found = states(setting(), readings("nic.mtu", read(1500), REFUSED, REFUSED, read(1500), ABSENT))
    assert marked(found) == {("n1", "n4"): set(), ("n2", "n3"): {Mark.UNKNOWN}, ("n5",): {Mark.ABSENT, Mark.ODD}}


def test_a_cpu_that_differs_within_its_node_is_odd() -> None:
    cpus = {f"cpu{i}": read("performance" if i else "powersave") for i in range(4)}
    found = states(setting("cpu.governor", type="word", scope="cpu"), {"n1": {"cpu.governor": cpus}})
    assert {state.places: set(state.marks) for state in found} == {
        ("cpu0",): {Mark.ODD},
        ("cpu1", "cpu2", "cpu3"): set(),
    }


def test_what_a_reboot_would_change() -> None:
    found = states(setting(), readings("nic.mtu", read(1500, 1500), read(1500, 9000), read(1500)))
    assert marked(found)["n2",] == {Mark.STARTUP}
    assert marked(found)["n3",] == set()


@pytest.mark.parametrize(("value", "wrong"), [(67, True), (68, False), (65535, False), (65536, True), ("x", False)])
def test_the_range(value: Any, wrong: bool) -> None:
    (state,) = states(setting(low=68, high=65535), readings("nic.mtu", read(value)))
    assert (Mark.RANGE in state.marks) is wrong


def test_a_mode_of_its_own_is_no_matter_of_the_range() -> None:
    one = setting(low=1, special=[{"value": "none", "meaning": "no request"}, {"value": 0, "meaning": "never"}])
    for value, marks in ((0, set()), ("none", set()), (-1, {Mark.RANGE})):
        assert [set(state.marks) for state in states(one, readings("nic.mtu", read(value)))] == [marks]


def test_a_word_that_is_no_choice() -> None:
    one = setting(type="word", choices=["cubic", "bbr"])
    assert [state.marks for state in states(one, readings("nic.mtu", read("reno")))] == [{Mark.RANGE}]
    assert [state.marks for state in states(one, readings("nic.mtu", read("bbr")))] == [set()]


def test_advice_is_for_the_aim_alone() -> None:
    nodes = readings("nic.mtu", read(3))
    assert [state.marks for state in states(setting(**advised(0)), nodes)] == [{Mark.ADVICE}]
    assert [s.marks for s in audit([setting(**advised(0))], nodes, {}, Aim.QUIET, {})] == [set()]
    assert [state.marks for state in states(setting(**advised(3)), nodes)] == [set()]


@pytest.mark.parametrize(
    ("kernel", "marks"),
    [("4.13.0", {Mark.ADVICE}), ("4.14.0-rc1", {Mark.INERT}), ("6.1.0-18-amd64", {Mark.INERT}), ("", {Mark.ADVICE})],
)
def test_an_inert_setting_is_said_to_be_so_and_not_advised(kernel: str, marks: set[Mark]) -> None:
    one = setting(kernels={"inert_since": "4.14"}, **advised(1))
    assert [set(state.marks) for state in states(one, readings("nic.mtu", read(0)), kernel=kernel)] == [marks]


def test_a_masked_setting_says_by_what() -> None:
    one = setting("nic.rx_usecs", scope="nic", masked_by={"nic.adaptive_rx": True}, **advised(0))
    nodes = {
        node: {"nic.rx_usecs": {"eth0": read(3e-6)}, "nic.adaptive_rx": {"eth0": read(adaptive)}}
        for node, adaptive in (("n1", True), ("n2", False))
    }
    found = {state.nodes: state for state in states(one, nodes)}
    assert found["n1",].marks == {Mark.MASKED}
    assert found["n1",].masked_by == "nic.adaptive_rx = on"
    assert found["n2",].marks == {Mark.ADVICE}


def test_a_setting_of_the_whole_node_masks_every_place() -> None:
    one = setting("nic.rps", masked_by={"host.off": True})
    node = {"nic.rps": {"rx-0 of eth0": read(1)}, "host.off": {"": read(True)}}
    assert [state.marks for state in states(one, {"n1": node})] == [{Mark.MASKED}]


def test_remarks_are_the_gravest_first() -> None:
    one = setting(low=68, high=65535, unit="B", **advised(1500))
    found = states(one, readings("nic.mtu", read(60, 1500), read(1500), read(1500)))
    (odd,) = [state for state in found if state.nodes == ("n1",)]
    assert remarks(odd, Aim.LATENCY) == [
        "not among what is known: 68 B to 65535 B", "most have 1500 B", "a reboot makes it 1500 B",
        "advised for latency: 1500 B",
    ]  # fmt: skip


def test_what_weakens_security_is_shown_and_not_recommended(wording: Wording) -> None:
    (state,) = states(setting(security="weakens", type="word", **advised("off")), readings("nic.mtu", read("auto")))
    (remark,) = remarks(state, Aim.LATENCY)
    assert lacking(remark, "advised for latency: off", "weakens security", "not recommended") == []
    wording(remark)


def test_values_compare_but_for_rounding_and_blanks() -> None:
    assert same(3e-6, 3 / 1e6)
    assert same("4096 131072\t6291456", "4096 131072 6291456")
    assert not same("a", "b")
    assert not same(1, "1")
    assert same([1, 2], [1, 2])


def test_values_for_people_are_exact() -> None:
    assert shown(1500, "B") == "1500 B"
    assert shown(5e-05, "s") == "50 µs"
    assert shown(0, "s") == "0 s"
    assert shown(True) == "on"
    assert shown(6291456) == "6291456"
    assert shown(None) == "none"


def test_only_what_an_agent_can_read_is_asked_for() -> None:
    asked = wanted([setting("a.b"), setting("c.d", mechanism="advice", target={})])
    assert asked == [{"name": "a.b", "mechanism": "sysctl", "target": {"key": "a.b"}}]


def test_the_cluster_s_network_is_named_to_what_is_about_networks() -> None:
    bypass = setting("firewall.bypass", mechanism="nftables", target={"what": "bypass"})
    drops = setting("firewall.drops", mechanism="nftables", target={"what": "drops"}, access="report")
    asked = wanted([bypass, drops, setting()], ["10.0.0.0/24"])
    assert [one["target"] for one in asked] == [
        {"what": "bypass", "networks": ["10.0.0.0/24"]}, {"what": "drops"}, {"key": "nic.mtu"},
    ]  # fmt: skip
