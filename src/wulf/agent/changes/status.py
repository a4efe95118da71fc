"""What is changed on this node, who does it, and what is wrong with that; nothing is written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.changes.host import same
from wulf.agent.changes.revert import is_stale
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.state.entry import Entry
from wulf.agent.changes.state.journal import Journal
from wulf.agent.changes.state.lines import Damaged, readable_lines
from wulf.agent.changes.watch import arming
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host


def status(host: Host) -> dict[str, Any]:
    """{"lock", "open", "left", "taken_back", "foreign", "watchdog", "deadlines", "problems", "journal", "folder"…}.

    `open`: writes that may have to be undone, the latest last, "stale" where the node has booted since. `left`: writes
    that were not undone since somebody else had set the setting, its device was gone, or a boot left it otherwise.
    `taken_back`: what the node undid by itself. `foreign`: lines of another wulf. `problems`: sentences.
    """
    told: dict[str, Any] = {"folder": str(host.folder), "boot": host.boot, "lock": None, "deadlines": None}
    told |= {"foreign": [], "open": [], "left": [], "taken_back": [], "journal": None, "watchdog": None, "problems": []}
    if not host.has_state:
        return told
    told["watchdog"] = arming.ask(host)
    _state(host, told)
    try:
        journal = Journal(host)
    except Damaged as damaged:
        told["journal"] = {"damaged": damaged.told, "lines": readable_lines(host, damaged.path)}
        told["problems"].append(str(damaged))
        return told
    except OSError as error:
        told["problems"].append(f"the journal can't be read: {error}")
        return told
    told["open"] = [{**entry.shown(), "stale": is_stale(host, entry)} for entry in journal.open_entries()]
    told["foreign"] = journal.foreign
    told["left"] = [entry.shown() for entry in journal.entries if _is_left(entry)]
    told["taken_back"] = [entry.shown() for entry in journal.taken_back()]
    told["problems"] += _problems(host, told, journal)
    return told


_LEFT = ("changed-since", "gone", "stale")


def _is_left(entry: Entry) -> bool:
    """Whether a write was closed without being undone; one that a boot had undone is as before."""
    undone = entry.undone or {}
    as_before = undone.get("outcome") == "stale" and same(undone["now"], entry.before)
    return undone.get("outcome") in _LEFT and not as_before


def _state(host: Host, told: dict[str, Any]) -> None:
    try:
        told["lock"] = lock.holder(host)
    except Refused as refused:
        told["problems"].append(refused.answer["message"])
    try:
        known = deadlines.load(host)
    except ValueError as error:
        told["problems"].append(f"the deadlines can't be read: {error}")
    else:
        if known is not None and known.boot == host.boot:
            left = {number: each["until"] - host.now() for number, each in known.pending.items()}
            told["deadlines"] = {"lease_left": known.lease_until - host.now(), "unconfirmed": left}


def _problems(host: Host, told: dict[str, Any], journal: Journal) -> list[str]:
    waiting = [entry for entry in journal.open_entries() if not entry.kept]
    now = [entry for entry in waiting if not is_stale(host, entry)]
    said = []
    if journal.damage is not None:
        said.append(
            f"{journal.damage.what}. Its copy in memory has every line: take back what is open before the node boots"
        )
    if now and told["watchdog"] is None:
        said.append(
            f"the watchdog has ended, and {len(now)} changes of campaign {now[0].campaign} are open: nothing takes "
            f"them back by itself; run wulf tune revert {now[0].campaign}, or wulf-agent --revert on the node"
        )
    if len(waiting) > len(now):
        said.append(
            f"{len(waiting) - len(now)} changes are of before the node's last boot: wulf-agent --revert compares what "
            f"is there now, and closes them"
        )
    if journal.foreign:
        said.append(
            f"{len(journal.foreign)} lines of the journal are of another wulf: what they say of settings is not "
            f"known here; take back with that one, or see them with wulf-agent --changes"
        )
    unknown = [entry for entry in now if entry.outcome in (None, "unconfirmed")]
    if unknown:
        said.append(f"not known to have been written: {', '.join(sorted({entry.name for entry in unknown}))}")
    return said
