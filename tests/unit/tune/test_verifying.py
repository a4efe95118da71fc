from __future__ import annotations

import pytest

from tests.unit.tune.make_exports import SETTINGS, kept
from wulf.tune.values import same
from wulf.tune.verifying import State, requests, verified


def of(each, readings):
    (checked,) = verified("n1", [each], readings, SETTINGS)
    return checked


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (50, 50.0, True), (5e-5, 50 * 1e-6, True), (0.0, 0, True), (1, 2, False), (True, True, True), (True, 1, False),
        (False, 0, False), ("4096 1 2", "4096\t1\t2", True), ("fq", "fq_codel", False), (1500, "1500", False),
    ],
)  # fmt: skip
def test_values_that_mean_the_same(first, second, alike):
    assert same(first, second) is alike


def test_what_is_kept_is_there():
    found = of(kept("nic.mtu", 6000, 1500, "eth0"), {"nic.mtu": {"eth0": {"value": 6000, "startup": 6000}}})
    assert (found.state, found.now, found.reason) == (State.THERE, 6000, "")


def test_what_the_next_start_would_undo_is_said():
    found = of(kept("nic.mtu", 6000, 1500, "eth0"), {"nic.mtu": {"eth0": {"value": 6000, "startup": 1500}}})
    assert (found.state, found.reason) == (State.THERE, "the next start makes it 1500")


def test_another_value_differs():
    found = of(kept("nic.mtu", 6000, 1500, "eth0"), {"nic.mtu": {"eth0": {"value": 1500}, "eth1": {"value": 6000}}})
    assert (found.state, found.now) == (State.DIFFERS, 1500)


@pytest.mark.parametrize(
    ("readings", "reason"),
    [
        ({"nic.mtu": {"eth0": {"value": None, "reason": "no permission"}}}, "no permission"),
        ({"nic.mtu": {"": {"value": None, "reason": "no interface"}}}, "no interface"),
        ({"nic.mtu": {"eth0": {"value": None, "reason": "hidden", "startup": 6000}}}, "hidden; a start gives it 6000"),
        ({"nic.mtu": {"eth1": {"value": 6000}}}, "the node has no eth0"),
        ({}, "the node has no eth0"),
    ],
)
def test_what_cannot_be_read_is_no_yes(readings, reason):
    found = of(kept("nic.mtu", 6000, 1500, "eth0"), readings)
    assert (found.state, found.now, found.reason) == (State.UNREADABLE, None, reason)


def test_a_job_s_setting_is_not_of_the_node():
    assert of(kept("job.eager", 65536, 32768), {}).state == State.ELSEWHERE


def test_each_setting_of_a_node_is_asked_once():
    wanted = requests([kept("nic.mtu", 1, 2, "eth0"), kept("nic.mtu", 1, 2, "eth1"), kept("job.eager", 1, 2)], SETTINGS)
    assert wanted == [{"name": "nic.mtu", "mechanism": "link", "target": {"attribute": "mtu"}}]


def test_a_bypass_is_asked_for_by_its_networks():
    bypass = kept("firewall.bypass", "10.0.0.0/24 fd00::/64", False)
    (request,) = requests([bypass], SETTINGS)
    assert request["target"] == {"what": "bypass", "networks": ["10.0.0.0/24", "fd00::/64"]}
    assert of(bypass, {"firewall.bypass": {"": {"value": True}}}).state == State.THERE
    assert of(bypass, {"firewall.bypass": {"": {"value": "10.0.0.0/24"}}}).state == State.DIFFERS
    assert of(bypass, {"firewall.bypass": {"": {"value": False}}}).state == State.DIFFERS


def test_settings_are_asked_for_in_the_order_kept():
    names = ["nic.gro", "net.rmem_max", "nic.mtu"]
    assert [each["name"] for each in requests([kept(name, 1, 2) for name in names], SETTINGS)] == names
