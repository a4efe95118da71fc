"""What a change writes, in which order, and what it says came of it."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from tests.unit.agent.changes.machine import START, FakeNode, setting
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.keep import end
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state.journal import NAME, Journal
from wulf.agent.changes.status import status
from wulf.agent.changes.watch.arming import NotArmed
from wulf.agent.session import Refused

ME = Request("c1", "me@head", confirm=30.0, lease=120.0)


def one(node: FakeNode, wanted: dict[str, Any], request: Request = ME) -> dict[str, Any]:
    (result,) = apply(node.host, request, [wanted])["results"]
    return result


@pytest.mark.parametrize(
    ("wanted", "after", "outcome", "reason"),
    [
        (setting("mtu", 9000), 9000, "applied", None),
        (setting("gro", False), False, "applied", None),
        (setting("mtu", 9000, high=4000), 4000, "clamped", "9000 was asked, and it reads 4000"),
        (setting("mtu", 9000, high=1500), 1500, "refused", "the write was accepted, and changed nothing"),
        (setting("mtu", 9000, ignores=True), 1500, "refused", "the write was accepted, and changed nothing"),
        (setting("mtu", 9000, refuses="Operation not supported"), 1500, "refused", "Operation not supported"),
        (setting("mtu", 9000, breaks="a defect"), 1500, "refused", "fake failed: RuntimeError: a defect"),
        (setting("mtu", 1500), 1500, "unchanged", None),
        (setting("mtu", 9000, inert=True), 9000, "inert", "it has no effect on this kernel"),
        (setting("mtu", 9000, blind=True), None, "unconfirmed", "mtu of eth0 can't be read"),
        (setting("ratio", 5.0000000000000002e-05, place=""), 5e-05, "unchanged", None),
    ],
)
def test_outcomes(node: FakeNode, wanted: dict[str, Any], after: Any, outcome: str, reason: str | None) -> None:
    found = one(node, wanted)
    assert (found["after"], found["outcome"], found.get("reason")) == (after, outcome, reason)
    assert found["before"] == START[wanted["place"]][wanted["target"]["key"]]
    changed = outcome in ("applied", "clamped", "inert", "unconfirmed")
    assert len(status(node.host)["open"]) == changed


def test_the_order_of_a_change(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    told = [step for step in node.steps if not step.startswith("half")]
    assert told == [
        "preflight", "journal change", "journaled change", "lock", "deadlines", "arm",
        "journal write", "journaled write", "write nic.mtu", "wrote nic.mtu", "journal wrote", "journaled wrote",
        "deadlines",
    ]  # fmt: skip


def test_what_the_journal_holds_before_the_write(node: FakeNode) -> None:
    class Stop(BaseException):
        pass

    node.trouble["write nic.channels"] = Stop()  # type: ignore[assignment]
    with pytest.raises(Stop):
        apply(node.host, ME, [setting("channels", 8, zeroes=["affinity"], resets=["affinity", "nothing"])])
    (entry,) = Journal(node.host).entries
    assert (entry.before, entry.asked, entry.boot, entry.identity) == (4, 8, "boot-1", "ifindex 2, aa")
    assert [(each["name"], each["before"]) for each in entry.resets] == [("nic.affinity", 3)]
    assert entry.outcome is None
    assert node.value("channels") == 4


@pytest.mark.parametrize(
    ("bad", "code", "words"),
    [
        (setting("mtu", 9000, place="eth7"), "preflight", "there is no such place; there are eth0, eth1"),
        (setting("nothing", 1), "preflight", "there is no such place; there are none"),
        (setting("mtu", 9000, mechanism="readonly") | {"target": {}}, "preflight", "can only be read"),
        (setting("mtu", 9000, mechanism="magic"), "bad-parameter", "no mechanism 'magic'"),
        (setting("mtu", None), "bad-parameter", "needs a value"),
        (setting("mtu", 9000) | {"target": {"kay": "mtu"}}, "bad-parameter", "fake takes key"),
        (setting("mtu", 9000) | {"color": "red"}, "bad-parameter", "color"),
        ("mtu", "bad-parameter", "needs a value"),
    ],
)
def test_nothing_is_begun_unless_all_can_be(node: FakeNode, bad: Any, code: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        apply(node.host, ME, [setting("rings", 4096), bad])
    assert caught.value.answer["code"] == code
    assert words in caught.value.answer["message"]
    assert node.settings.load() == START
    assert not (node.folder / NAME).exists()
    assert status(node.host)["lock"] is None


def test_what_is_reset_must_be_readable_to_be_brought_back(node: FakeNode) -> None:
    node.settings.set("eth0", "hidden", ["affinity"])
    with pytest.raises(Refused, match=r"nic\.affinity.* resets.* eth0 can't be read"):
        apply(node.host, ME, [setting("channels", 8, resets=["affinity"])])


@pytest.mark.parametrize(
    "moment",
    ["journal change", "half of journal change", "lock", "deadlines", "journal write", "half of journal write"],
)
def test_a_full_disk_before_the_first_write_changes_nothing(node: FakeNode, moment: str) -> None:
    node.trouble[moment] = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(Refused) as caught:
        apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096)])
    assert caught.value.answer["code"] == "state"
    assert "No space left" in caught.value.answer["message"]
    assert node.settings.load() == START
    assert status(node.host)["open"] == []
    node.trouble.clear()
    apply(node.host, ME, [setting("mtu", 9000)])  # the journal was left sound
    assert node.value("mtu") == 9000


@pytest.mark.parametrize("moment", ["journal wrote", "half of journal wrote"])
def test_a_full_disk_after_a_write_takes_it_back(node: FakeNode, moment: str) -> None:
    node.trouble[moment] = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(Refused, match="what was written was taken back"):
        apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096)])
    assert node.settings.load() == START


@pytest.fixture
def full(node: FakeNode) -> FakeNode:
    """A node that has taken a change back while its disk was full; it has room again."""
    apply(node.host, ME, [setting("mtu", 9000)])
    node.trouble |= dict.fromkeys(("journal undoing", "journal undone"), OSError(errno.ENOSPC, "No space left"))
    (result,) = take_back(node.host)["results"]
    assert (result["outcome"], node.value("mtu")) == ("reverted", 1500)
    assert "No space left" in result["reason"]
    node.trouble.clear()
    return node


def test_what_a_full_disk_could_not_take_is_in_memory_until_it_can(full: FakeNode) -> None:
    assert status(full.host)["open"] == []
    disk, copy = full.folder / NAME, full.run / NAME
    assert len(copy.read_bytes()) > len(disk.read_bytes())
    apply(full.host, ME, [setting("rings", 4096)])
    assert copy.read_bytes() == disk.read_bytes()
    copy.unlink()
    assert [entry.name for entry in Journal(full.host).open_entries()] == ["nic.rings"]


def test_a_campaign_that_ends_leaves_the_disk_whole(full: FakeNode) -> None:
    end(full.host, "c1")
    assert not (full.run / NAME).exists()
    (ended,) = full.folder.glob("ended-*")
    assert b'"undone"' in ended.read_bytes()


def test_without_its_memory_it_is_taken_back_again(full: FakeNode) -> None:
    """As after a boot, for what survives one."""
    (full.run / NAME).unlink()
    (again,) = take_back(full.host)["results"]
    assert again["outcome"] == "reverted"
    assert status(full.host)["open"] == []


class TestWhatABootWouldKeep:
    def test_is_its_to_take_back_while_it_is_open(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("mtu", 9000)])
        assert node.at_boot == []
        apply(node.host, ME, [setting("rings", 4096, mechanism="lasting")])
        assert node.at_boot == [True]
        assert node.steps.index("at boot") < node.steps.index("write nic.rings")
        take_back(node.host, names=["nic.mtu"])
        assert node.at_boot == [True]
        take_back(node.host)
        assert node.at_boot == [True, False]

    def test_is_not_written_where_the_boot_can_not_be_told(self, node: FakeNode) -> None:
        node.trouble["at boot"] = OSError(errno.EROFS, "Read-only file system")
        wanted = [setting("rings", 4096, mechanism="lasting"), setting("mtu", 9000)]
        refused, applied = apply(node.host, ME, wanted)["results"]
        assert (refused["outcome"], node.value("rings")) == ("refused", 256)
        assert "Read-only file system" in refused["reason"]
        assert applied["outcome"] == "applied"

    def test_a_way_back_does_not_need_to_tell_it(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("rings", 4096, mechanism="lasting")])
        node.trouble["not at boot"] = OSError(errno.EROFS, "Read-only file system")
        (result,) = take_back(node.host)["results"]
        assert (result["outcome"], node.value("rings")) == ("reverted", 256)


def test_too_little_room_is_seen_beforehand(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wulf.agent.changes.preflight.SPACE", 1 << 62)
    with pytest.raises(Refused, match="make room there"):
        apply(node.host, ME, [setting("mtu", 9000)])
    assert not (node.folder / NAME).exists()


@pytest.mark.parametrize("which", ["folder", "run"])
def test_a_state_that_others_can_write_is_seen_beforehand(node: FakeNode, which: str) -> None:
    """Whoever writes the journal decides what root writes when it takes changes back."""
    folder: Path = getattr(node, which)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o775)
    with pytest.raises(Refused, match="can be written by others"):
        apply(node.host, ME, [setting("mtu", 9000)])
    assert not (node.folder / NAME).exists()


def test_without_a_watchdog_nothing_is_written(node: FakeNode) -> None:
    node.trouble["arm"] = NotArmed("no answer")  # type: ignore[assignment]
    with pytest.raises(Refused) as caught:
        apply(node.host, ME, [setting("mtu", 9000)])
    assert caught.value.answer["code"] == "watchdog"
    assert node.settings.load() == START
    found = status(node.host)
    assert (found["lock"], found["deadlines"], found["open"]) == (None, None, [])


def test_what_somebody_else_set_since_is_not_changed_again(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    node.settings.set("eth0", "mtu", 7000)
    with pytest.raises(Refused, match="we left 9000, and somebody else has set 7000"):
        apply(node.host, ME, [setting("rings", 4096), setting("mtu", 4000)])
    assert (node.value("mtu"), node.value("rings")) == (7000, 256)


def test_a_change_that_changes_nothing_needs_no_confirmation(node: FakeNode) -> None:
    done = apply(node.host, ME, [setting("mtu", 1500)])
    assert done["confirm_until"] is None
    assert status(node.host)["deadlines"] == {"lease_left": 120.0, "unconfirmed": {}}


def test_the_time_to_confirm_begins_with_the_last_write(node: FakeNode) -> None:
    written = node.settings.write

    def slow(*arguments: Any) -> None:
        node.clock.now += 20.0
        written(*arguments)

    node.settings.write = slow  # type: ignore[method-assign]
    done = apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096), setting("gro", False)])
    assert done["confirm_until"] == 1000.0 + 3 * 20.0 + 30.0


class TestTwoControllers:
    OTHER = Request("c2", "you@desk")

    def refused(self, node: FakeNode) -> str:
        with pytest.raises(Refused) as caught:
            apply(node.host, self.OTHER, [setting("rings", 4096)])
        assert caught.value.answer["code"] == "locked"
        assert node.value("rings") == 256
        return str(caught.value.answer["message"])

    def test_one_with_changes_keeps_the_other_out_for_good(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("mtu", 9000)])
        assert "campaign c1 of me@head, since" in self.refused(node)
        node.clock.now += 1e6
        assert "wulf tune revert c1" in self.refused(node)
        take_back(node.host, "c1")
        apply(node.host, self.OTHER, [setting("rings", 4096)])  # the first one is dead, and left nothing
        assert status(node.host)["lock"]["campaign"] == "c2"

    def test_one_that_lives_keeps_the_other_out_though_nothing_is_open(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("mtu", 9000)])
        take_back(node.host, "c1")
        node.clock.now += 119.0
        assert "wait until it ends" in self.refused(node)
        node.clock.now += 2.0
        assert one(node, setting("rings", 4096), self.OTHER)["outcome"] == "applied"

    def test_a_lock_of_before_the_boot_with_nothing_open_is_no_lock(self, node: FakeNode) -> None:
        apply(node.host, ME, [setting("mtu", 1500)])
        node.boot = "boot-2"
        assert one(node, setting("rings", 4096), self.OTHER)["outcome"] == "applied"


def test_after_a_reboot_the_old_changes_are_looked_at_first(node: FakeNode) -> None:
    apply(node.host, ME, [setting("mtu", 9000)])
    node.boot = "boot-2"
    with pytest.raises(Refused) as caught:
        apply(node.host, ME, [setting("rings", 4096)])
    assert caught.value.answer["code"] == "stale"
    take_back(node.host, "c1")
    assert one(node, setting("rings", 4096))["outcome"] == "applied"
