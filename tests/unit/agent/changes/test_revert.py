"""The way back: to what was before the first change, and over nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.agent.changes.machine import START, FakeNode, setting
from tests.wording import Wording, lacking
from wulf.agent.changes import keep
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.status import status

ME, OTHER = Request("c1", "me@head"), Request("c2", "you@desk")


def back(node: FakeNode, campaign: str | None = None, **chosen: Any) -> dict[str, str]:
    """Outcome by name and place."""
    results = take_back(node.host, campaign, **chosen)["results"]
    return {f"{each['name']} {each['place']}".strip(): each["outcome"] for each in results}


def test_all_is_as_before_in_reverse_order(node: FakeNode) -> None:
    wanted = [
        setting("mtu", 9000),
        setting("rings", 4096),
        setting("gro", False, place="eth1"),
        setting("ratio", 1e-06, ""),
    ]
    apply(node.host, ME, wanted)
    assert list(back(node)) == ["nic.ratio", "nic.gro eth1", "nic.rings eth0", "nic.mtu eth0"]
    assert node.settings.load() == START
    assert back(node) == {}


def test_two_changes_of_one_setting_are_one_way_back(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    apply(node.host, ME, [setting("mtu", 4000)])
    (result,) = take_back(node.host)["results"]
    assert (result["before"], result["wrote"], result["now"]) == (1500, 4000, 1500)
    assert node.steps.count("write back nic.mtu") == 1


def test_names_and_places_choose(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000), setting("mtu", 9000, place="eth1"), setting("rings", 4096)])
    assert back(node, names=["nic.mtu"], places=["eth1"]) == {"nic.mtu eth1": "reverted"}
    assert back(node, "c2") == {}
    assert back(node, names=["nic.rings"]) == {"nic.rings eth0": "reverted"}
    assert [each["name"] for each in status(node.host)["open"]] == ["nic.mtu"]


def test_a_clamped_value_is_ours(node: FakeNode) -> None:
    apply(node.host, ME, [setting("rings", 99999, high=4096)])
    assert back(node) == {"nic.rings eth0": "reverted"}
    assert node.settings.load() == START


def test_what_somebody_else_set_is_left(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096)])
    node.settings.set("eth0", "mtu", 7000)
    assert back(node) == {"nic.rings eth0": "reverted", "nic.mtu eth0": "changed-since"}
    assert node.value("mtu") == 7000
    (left,) = status(node.host)["left"]
    assert (left["name"], left["before"], left["after"], left["undone"]["now"]) == ("nic.mtu", 1500, 9000, 7000)
    assert keep.end(node.host, "c1") == {"kept": []}  # it keeps nobody out


def test_somebody_who_set_it_back_did_our_work(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    node.settings.set("eth0", "mtu", 1500)
    assert back(node) == {"nic.mtu eth0": "reverted"}
    assert "write back nic.mtu" not in node.steps


def test_another_device_of_that_name_is_not_written(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    node.settings.set("eth0", "identity", "ifindex 9, aa")
    assert back(node) == {"nic.mtu eth0": "gone"}
    assert node.value("mtu") == 9000


def test_a_device_that_is_away_is_gone(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    values = node.settings.load()
    del values["eth0"]
    node.settings.store(values)
    assert back(node) == {"nic.mtu eth0": "gone"}


def test_unreadable_is_unconfirmed_and_stays_open(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    node.settings.set("eth0", "hidden", ["mtu"])
    assert back(node) == {"nic.mtu eth0": "unconfirmed"}
    assert len(status(node.host)["open"]) == 1
    node.settings.set("eth0", "hidden", [])
    assert back(node) == {"nic.mtu eth0": "reverted"}
    assert node.value("mtu") == 1500


def test_a_way_back_that_does_not_take_stays_open(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    with monkeypatch.context() as patched:
        patched.setattr(node.settings, "write", lambda *_: None)
        (result,) = take_back(node.host)["results"]
    assert (result["outcome"], result["reason"]) == ("unconfirmed", "1500 was written back, and it reads 9000")
    assert back(node) == {"nic.mtu eth0": "reverted"}


class TestAfterAReboot:
    @pytest.mark.parametrize(
        ("now", "words"),
        [(1500, "it is as before"), (9000, "something sets it at start-up"), (7000, "neither as before")],
    )
    def test_nothing_is_written_and_all_is_said(self, node: FakeNode, now: int, words: str) -> None:
        apply(node.host, ME, [setting("mtu", 9000)])
        node.boot = "boot-2"
        node.settings.set("eth0", "mtu", now)
        assert status(node.host)["open"][0]["stale"]
        (result,) = take_back(node.host)["results"]
        assert (result["outcome"], result["now"], result["before"], result["wrote"]) == ("stale", now, 1500, 9000)
        assert words in result["reason"]
        assert node.value("mtu") == now
        found = status(node.host)
        assert found["open"] == []
        assert [each["name"] for each in found["left"]] == ([] if now == 1500 else ["nic.mtu"])

    def test_what_survives_it_is_undone(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("mtu", 9000, mechanism="lasting")])
        node.boot = "boot-2"
        assert back(node) == {"nic.mtu eth0": "reverted"}
        assert node.value("mtu") == 1500


class TestWhatAWriteResets:
    """Channels zero the affinity, as drivers do."""

    def change(self, node: FakeNode, value: int = 8, request: Request = ME) -> None:
        apply(node.host, request, [setting("channels", value, zeroes=["affinity"], resets=["affinity"])])

    def test_is_brought_back_too(self, node: FakeNode) -> None:
        self.change(node)
        assert node.value("affinity") == 0
        (result,) = take_back(node.host)["results"]
        assert [(each["name"], each["outcome"], each["now"]) for each in result["resets"]] == [
            ("nic.affinity", "reverted", 3)
        ]
        assert node.settings.load() == START

    def test_unless_somebody_else_set_it(self, node: FakeNode) -> None:
        self.change(node)
        node.settings.set("eth0", "affinity", 12)
        back(node)
        assert (node.value("channels"), node.value("affinity")) == (4, 12)

    def test_is_brought_back_beneath_a_change_of_its_own(self, node: FakeNode) -> None:
        self.change(node)
        apply(node.host, ME, [setting("affinity", 5)])
        assert back(node) == {"nic.affinity eth0": "reverted", "nic.channels eth0": "reverted"}
        assert node.settings.load() == START

    def test_keeps_its_own_change_when_only_the_other_goes_back(self, node: FakeNode) -> None:
        self.change(node)
        apply(node.host, ME, [setting("affinity", 5)])
        assert back(node, names=["nic.channels"]) == {"nic.channels eth0": "reverted"}
        assert (node.value("channels"), node.value("affinity")) == (4, 5)
        assert back(node) == {"nic.affinity eth0": "reverted"}
        assert node.settings.load() == START

    def test_a_change_of_its_own_that_was_reset_later_is_still_ours(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("affinity", 5)])
        self.change(node)
        assert node.value("affinity") == 0
        assert back(node) == {"nic.channels eth0": "reverted", "nic.affinity eth0": "reverted"}
        assert node.settings.load() == START

    def test_a_reset_that_is_made_again_beneath_it_is_unwound_step_by_step(self, node: FakeNode) -> None:
        self.change(node)
        apply(node.host, ME, [setting("affinity", 5)])
        self.change(node, 16)
        assert back(node, names=["nic.channels"]) == {"nic.channels eth0": "reverted"}
        assert (node.value("channels"), node.value("affinity")) == (4, 5)
        assert back(node) == {"nic.affinity eth0": "reverted"}
        assert node.settings.load() == START

    def test_is_named_where_the_setting_itself_is_left(self, node: FakeNode, wording: Wording) -> None:
        self.change(node)
        node.settings.set("eth0", "channels", 2)
        (result,) = take_back(node.host)["results"]
        assert result["outcome"] == "changed-since"
        assert lacking(result["reason"], "nic.affinity", "left as found") == []
        wording(result["reason"])


def test_a_write_that_was_cut_short(node: FakeNode) -> None:
    class Stop(BaseException):
        pass

    def stop(step: str) -> None:
        node.trouble = {step: Stop()}  # type: ignore[dict-item]
        with pytest.raises(Stop):
            apply(node.host, ME, [setting("rings", 99999, high=4096)])
        node.trouble = {}

    stop("write nic.rings")  # not written
    assert back(node) == {"nic.rings eth0": "reverted"}
    stop("wrote nic.rings")  # written, clamped, not read back: ours, or somebody else's?
    assert "not known to have been written: nic.rings" in status(node.host)["problems"][-1]
    assert back(node) == {"nic.rings eth0": "unconfirmed"}
    assert node.value("rings") == 4096
    assert back(node, force=True) == {"nic.rings eth0": "reverted"}
    assert node.settings.load() == START


def test_kept_under_another_campaign(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    confirm(node, 1)
    keep.keep(node.host, "c1", ["nic.mtu"])
    assert keep.end(node.host, "c1") == {"kept": ["nic.mtu"]}
    apply(node.host, OTHER, [setting("mtu", 4000)])
    (result,) = take_back(node.host, "c1")["results"]
    assert (result["outcome"], node.value("mtu")) == ("changed-since", 4000)
    assert "campaign c2 has changed it after that" in result["reason"]
    assert back(node, "c2") == {"nic.mtu eth0": "reverted"}
    assert node.value("mtu") == 9000
    assert back(node, "c1") == {"nic.mtu eth0": "reverted"}
    assert node.settings.load() == START


def confirm(node: FakeNode, change: int) -> None:
    import unittest.mock

    with unittest.mock.patch("wulf.agent.changes.keep.session", lambda: "another"):
        keep.confirm(node.host, "c1", change)
