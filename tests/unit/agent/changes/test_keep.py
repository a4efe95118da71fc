"""Confirming, prolonging, keeping, ending; and what a status says."""

from __future__ import annotations

import pytest

from tests.unit.agent.changes.machine import START, FakeNode, setting
from tests.wording import Wording, lacking
from wulf.agent.changes import keep
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state import deadlines
from wulf.agent.changes.status import status
from wulf.agent.session import Refused

ME = Request("c1", "me@head", confirm=30.0, lease=120.0)


@pytest.fixture
def changed(node: FakeNode) -> FakeNode:
    apply(node.host, ME, [setting("mtu", 9000)])
    return node


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wulf.agent.changes.keep.session", lambda: "another")


def refused(code: str, act) -> str:
    with pytest.raises(Refused) as caught:
        act()
    assert caught.value.answer["code"] == code
    return str(caught.value.answer["message"])


def test_the_session_that_changed_can_not_confirm(changed: FakeNode) -> None:
    refused("same-session", lambda: keep.confirm(changed.host, "c1", 1))
    assert status(changed.host)["deadlines"]["unconfirmed"] == {"1": 30.0}


def test_another_one_can_and_twice(changed: FakeNode, elsewhere: None) -> None:
    assert keep.confirm(changed.host, "c1", 1)["confirmed"] == [1]
    assert status(changed.host)["deadlines"] == {"lease_left": 120.0, "unconfirmed": {}}
    assert keep.confirm(changed.host, "c1", 1)["confirmed"] == []


def test_a_later_change_confirms_those_before(changed: FakeNode, elsewhere: None) -> None:
    apply(changed.host, ME, [setting("rings", 4096)])
    assert keep.confirm(changed.host, "c1", 2)["confirmed"] == [1, 2]


def test_too_late_is_refused(changed: FakeNode, elsewhere: None) -> None:
    changed.clock.now += 30.0
    assert "too late" in refused("reverted", lambda: keep.confirm(changed.host, "c1", 1))


def test_what_was_never_changed_can_not_be_confirmed(changed: FakeNode, elsewhere: None) -> None:
    refused("bad-parameter", lambda: keep.confirm(changed.host, "c1", 2))
    refused("bad-parameter", lambda: keep.confirm(changed.host, "c2", 1))


def test_a_lease_is_prolonged_until_it_is_over(changed: FakeNode) -> None:
    changed.clock.now += 100.0
    assert keep.renew(changed.host, "c1")["lease_until"] == changed.clock.now + 120.0
    changed.clock.now += 121.0
    assert "nothing was heard" in refused("reverted", lambda: keep.renew(changed.host, "c1"))
    refused("locked", lambda: keep.renew(changed.host, "c2"))


def test_damaged_deadlines_confirm_nothing(changed: FakeNode, elsewhere: None) -> None:
    for text in ("{", "[]", '{"campaign": "c1"}', '{"campaign":"c1","boot":"b","lease":1,"lease_until":"x"}'):
        (changed.run / deadlines.NAME).write_text(text)
        refused("state", lambda: keep.confirm(changed.host, "c1", 1))
        assert "deadlines can't be read" in status(changed.host)["problems"][0]


def test_only_what_is_confirmed_can_be_kept(changed: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    refused("unconfirmed-change", lambda: keep.keep(changed.host, "c1", ["nic.mtu"]))
    monkeypatch.setattr("wulf.agent.changes.keep.session", lambda: "another")
    keep.confirm(changed.host, "c1", 1)
    refused("bad-parameter", lambda: keep.keep(changed.host, "c1", ["nic.mtu", "nic.rings"]))
    assert keep.keep(changed.host, "c1", ["nic.mtu"]) == {"kept": 1}
    assert keep.end(changed.host, "c1") == {"kept": ["nic.mtu"]}
    found = status(changed.host)
    assert (found["lock"], found["deadlines"], found["problems"]) == (None, None, [])
    assert [each["kept"] for each in found["open"]] == [True]
    take_back(changed.host)
    assert changed.settings.load() == START


def test_a_campaign_ends_when_nothing_is_open(changed: FakeNode) -> None:
    assert "still changed here: nic.mtu" in refused("open", lambda: keep.end(changed.host, "c1"))
    take_back(changed.host)
    refused("locked", lambda: keep.end(changed.host, "c2"))
    assert keep.end(changed.host, "c1") == {"kept": []}
    assert keep.end(changed.host, "c1") == {"kept": []}


def test_a_status_says_that_nobody_watches(changed: FakeNode, wording: Wording) -> None:
    found = status(changed.host)
    assert found["lock"]["by"] == "me@head"
    assert found["watchdog"] is None
    assert lacking(found["problems"][0], "watchdog has ended", " 1 change", "campaign c1") == []
    wording(found["problems"][0])
    (entry,) = found["open"]
    assert (entry["name"], entry["before"], entry["after"], entry["outcome"]) == ("nic.mtu", 1500, 9000, "applied")


def test_a_node_that_was_never_changed(node: FakeNode) -> None:
    found = status(node.host)
    assert (found["lock"], found["open"], found["problems"]) == (None, [], [])
    assert take_back(node.host) == {"results": []}
    assert not node.folder.exists()
    assert not node.run.exists()
