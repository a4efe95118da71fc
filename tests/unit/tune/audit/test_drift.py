"""What changed since a baseline."""

from __future__ import annotations

from typing import Any

from tests.unit.tune.make_audit import ABSENT, REFUSED, read, readings, setting
from wulf.tune.audit.drift import SettingDrift, changes, unlike


def changed(before: Any, now: Any, **more: Any) -> list[SettingDrift]:
    return changes([setting(**more)], before, now)


def test_nothing_changed() -> None:
    same = readings("nic.mtu", read(1500, 1500), REFUSED, ABSENT)
    assert changed(same, same) == []


def test_nodes_with_the_same_change_are_told_of_together() -> None:
    before = readings("nic.mtu", *[read(1500)] * 3, place="eth0")
    now = readings("nic.mtu", read(9000), read(1500), read(9000), place="eth0")
    assert changed(before, now) == [SettingDrift(setting(), "value", 1500, 9000, ("eth0",), ("n1", "n3"))]


def test_what_a_reboot_would_give_counts_too() -> None:
    before, now = readings("nic.mtu", read(1500, 1500)), readings("nic.mtu", read(1500, 9000))
    assert [(one.what, one.before, one.now) for one in changed(before, now)] == [("startup", 1500, 9000)]


def test_a_thing_that_is_gone_and_one_that_is_new() -> None:
    there, not_there = readings("nic.mtu", read(1500)), readings("nic.mtu", ABSENT)
    assert [(one.before, one.now) for one in changed(there, not_there)] == [(1500, None)]
    assert [(one.before, one.now) for one in changed(not_there, there)] == [(None, 1500)]


def test_an_interface_of_another_name_is_gone_and_new() -> None:
    before, now = readings("nic.mtu", read(1500), place="eth0"), readings("nic.mtu", read(1500), place="ens1")
    assert [(one.places, one.before, one.now) for one in changed(before, now)] == [
        (("eth0",), 1500, None),
        (("ens1",), None, 1500),
    ]


def test_what_could_not_be_read_is_not_known_to_have_changed() -> None:
    known, unknown = readings("nic.mtu", read(1500)), readings("nic.mtu", REFUSED)
    assert changed(known, unknown) == []
    assert changed(unknown, known) == []


def test_an_entry_that_the_baseline_does_not_know_has_not_changed() -> None:
    assert changed({"n1": {}}, readings("nic.mtu", read(1500))) == []


def test_counters_change_all_the_time() -> None:
    before, now = readings("nic.mtu", read(1)), readings("nic.mtu", read(2))
    assert changed(before, now, access="report", uniform=False) == []
    assert len(changed(before, now, access="report")) == 1


def test_nodes_that_only_one_of_the_two_knows() -> None:
    assert unlike(["n1", "n2"], ["n2", "n3"]) == (["n1"], ["n3"])
