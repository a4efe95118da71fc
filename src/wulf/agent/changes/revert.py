"""The way back: in reverse order, read back, and never over what somebody else has set meanwhile.

Whoever is killed in the middle is followed by another who does the same again: a value that is as before is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.host import same
from wulf.agent.changes.reading import Reading, read, write
from wulf.agent.changes.state.entry import Key, key_of
from wulf.agent.changes.state.journal import UNKNOWN

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host
    from wulf.agent.changes.state.entry import Entry
    from wulf.agent.changes.state.journal import Journal

Result = dict[str, Any]


@dataclass(frozen=True)
class _Way:
    """What every step back needs: where, the journal, who takes back and why, and whether a cut-short write counts."""

    host: Host
    journal: Journal
    by: str
    force: bool


def revert(host: Host, journal: Journal, chosen: Iterable[Entry], by: str, force: bool = False) -> list[Result]:
    """Take writes back: each setting to what it was before the first of them.

    The caller holds the guard. A disk that is full, read-only or gone stops nothing: results then say so, and the
    journal's copy in memory has what was done.

    Parameters
    ----------
    chosen
        Open entries.
    by
        Who takes back, and why: for the journal.
    force
        Also where a write was cut short and the setting reads neither as before nor as asked, and what a newer wulf
        wrote, whose journal may mean something else.

    Returns
    -------
    {"name", "place", "campaign", "change", "outcome", "now", "wrote", "before", "reason"?, "resets"?} each; outcome:

        reverted        it is as before, as read back
        changed-since   somebody else has set it: left as it is
        unconfirmed     it could not be read back, or not written: still open
        stale           written before the node's last boot: nothing is written, the values say what is there now
        gone            the device is not there any more
    """
    stacks: dict[Key, list[Entry]] = {}
    for entry in chosen:
        stacks.setdefault(entry.key, []).append(entry)
    latest_first = sorted(stacks.values(), key=lambda stack: -stack[0].number)
    way = _Way(host, journal, by, force)
    results = [result for stack in latest_first for result in _stack(way, stack)]
    settle_boot(host, journal)
    return results


def settle_boot(host: Host, journal: Journal) -> None:
    """The next boot has nothing to take back, where nothing is open that it would keep against our will."""
    if not outliving(host, journal):
        with suppress(OSError):  # it will find nothing to do, and go
            host.disk.do(lambda: host.at_boot(host, False))


def _stack(way: _Way, stack: list[Entry]) -> list[Result]:
    """One setting at one place, written once or several times."""
    host = way.host
    host.step(f"undo {stack[-1].name}")
    found = read(host, stack[-1].mechanism, stack[-1].target, stack[-1].place)
    results = []
    newer = [entry for entry in stack if entry.change in way.journal.newer and not way.force]
    if newer:
        why = "a newer wulf wrote it: take it back with that one, or with force"
        results.append(_result(newer, "unconfirmed", found, why))
    stack = [entry for entry in stack if entry not in newer]
    stale = [entry for entry in stack if is_stale(host, entry)]
    if stale:
        results.append(_close(way, stale, "stale", found, reason=_stale(stale, found)))
    live = [entry for entry in stack if entry not in stale]
    gone = [
        entry for entry in live if found.absent or (found.identity is not None and found.identity != entry.identity)
    ]
    if gone:
        why = found.reason or f"{gone[-1].place} is another device now: {found.identity}, it was {gone[-1].identity}"
        results.append(_close(way, gone, "gone", found, reason=why))
    live = [entry for entry in live if entry not in gone]
    above = [entry for entry in way.journal.open_entries() if live and entry.key == live[0].key and entry not in stack]
    under = [entry for entry in live if above and entry.number < above[-1].number]
    if under:
        why = f"campaign {above[-1].campaign} has changed it after that: take that back first"
        results.append(_result(under, "changed-since", found, why))
    live = [entry for entry in live if entry not in under]
    if live:
        results.append(_undo(way, live, found))
    return results


def outliving(host: Host, journal: Journal) -> list[Entry]:
    """What is open, is not to stay, and survives a boot all the same."""
    return [entry for entry in journal.open_entries() if not entry.kept and survives(host, entry.mechanism)]


def is_stale(host: Host, entry: Entry) -> bool:
    """Whether a boot has undone it."""
    return entry.boot != host.boot and not survives(host, entry.mechanism)


def survives(host: Host, name: str) -> bool:
    """Whether what a mechanism writes is there after a reboot, too: a service that was disabled."""
    mechanism = host.mechanisms.get(name)
    return mechanism is not None and mechanism.survives_reboot


def _undo(way: _Way, stack: list[Entry], found: Reading) -> Result:
    host = way.host
    first, last = stack[0], stack[-1]
    if found.reason is not None:
        return _result(stack, "unconfirmed", found, found.reason)
    if not same(found.value, first.before):
        stop = _foreign(way, last, found.value)
        if stop is not None and stop[0] == "changed-since":
            return _close(way, stack, "changed-since", found, reason=stop[1] + _also(host, stack))
        if stop is not None:
            return _result(stack, stop[0], found, stop[1])
    plan = last.plan if last.plan is not None else _plan(way, stack)
    trouble = _note(way, "undoing", of=[entry.number for entry in stack], plan=plan)
    reason = None
    if not same(found.value, first.before):
        host.step(f"write back {first.name}")
        reason = write(host, first.mechanism, first.target, first.place, first.before)
        host.step(f"written back {first.name}")
        found = read(host, first.mechanism, first.target, first.place)
    resets = [_restore(host, each) for each in plan]
    broken = [each for each in resets if each["outcome"] == "unconfirmed"]
    if found.reason is not None or not same(found.value, first.before):
        why = reason or found.reason or f"{first.before!r} was written back, and it reads {found.value!r}"
        return _result(stack, "unconfirmed", found, why, resets)
    if broken:
        why = f"it is as before, but {broken[0]['name']}, which it resets, is not: {broken[0]['reason']}"
        return _result(stack, "unconfirmed", found, why, resets)
    return _close(way, stack, "reverted", found, resets, reason=trouble)


def _foreign(way: _Way, last: Entry, now: Any) -> tuple[str, str] | None:
    """Whether what is there is not ours, as outcome and reason; None: it is."""
    left = way.journal.left.get(last.key, UNKNOWN)
    if left is not UNKNOWN:
        return None if same(now, left) else ("changed-since", f"we left {left!r}: somebody else has set {now!r}")
    ours = [last.asked, last.before, *([] if last.outcome in (None, "unconfirmed") else [last.after])]
    if way.force or any(same(now, value) for value in ours):
        return None
    why = (
        f"the write of {last.asked!r} was cut short, and it reads {now!r}, which may be ours or somebody else's; "
        f"set it by hand, or take it back with force"
    )
    return "unconfirmed", why


def _also(host: Host, stack: list[Entry]) -> str:
    """Which settings that these writes reset are not as before, as the end of a sentence."""
    settings = {key_of(each): each for entry in reversed(stack) for each in entry.resets}.values()
    found = [(each, read(host, each["mechanism"], each["target"], each["place"])) for each in settings]
    other = [each["name"] for each, now in found if now.reason is not None or not same(now.value, each["before"])]
    return f"; {', '.join(other)}, which it resets, left as found, too" if other else ""


def _plan(way: _Way, stack: list[Entry]) -> list[dict[str, Any]]:
    """What the settings that these writes reset are to be afterwards: as before, unless somebody set them since."""
    settings = {key_of(each): each for entry in stack for each in entry.resets}
    return [_planned(way, stack, key, setting) for key, setting in settings.items()]


def _planned(way: _Way, stack: list[Entry], key: Key, setting: dict[str, Any]) -> dict[str, Any]:
    """One of them. A change of its own that came after a reset stays, and what was before the reset is its way back."""
    found = read(way.host, setting["mechanism"], setting["target"], setting["place"])
    left = way.journal.left.get(key, UNKNOWN)
    value, rebase = found.value, []
    cut_short = stack[-1].outcome is None  # it may have reset them, and nobody has looked since
    ours = found.reason is not None or cut_short or left is UNKNOWN or same(found.value, left)
    own = [entry for entry in way.journal.open_entries() if entry.key == key]
    for entry in reversed(stack) if ours else ():
        for before in (each["before"] for each in entry.resets if key_of(each) == key):
            later = [one for one in own if one.number > entry.number]
            if later:
                rebase.append({"of": later[0].number, "before": before})
            else:
                value = before
    return {**{word: setting[word] for word in _SETTING}, "value": value, "rebase": rebase}


_SETTING = ("name", "mechanism", "target", "place")


def _restore(host: Host, planned: dict[str, Any]) -> dict[str, Any]:
    """Bring a setting that was reset back; says how that ended."""
    where = planned["mechanism"], planned["target"], planned["place"]
    found, reason = read(host, *where), None
    if found.reason is None and not same(found.value, planned["value"]):
        host.step(f"restore {planned['name']}")
        reason = write(host, *where, planned["value"])
        found = read(host, *where)
    told = {**{word: planned[word] for word in _SETTING}, "now": found.value}
    if found.reason is None and same(found.value, planned["value"]):
        return {**told, "outcome": "reverted"}
    why = reason or found.reason or f"{planned['value']!r} was written back, and it reads {found.value!r}"
    return {**told, "outcome": "gone" if found.absent else "unconfirmed", "reason": why}


def _close(
    way: _Way, stack: list[Entry], outcome: str, found: Reading,
    resets: list[dict[str, Any]] | None = None, *, reason: str | None = None,
) -> Result:  # fmt: skip
    """Say in the journal that these writes need no undoing any more."""
    plan = stack[-1].plan or []
    trouble = _note(
        way, "undone", of=[entry.number for entry in stack], outcome=outcome, now=found.value,
        reason=reason, closed=True, resets=resets or [],
        rebase=[rebase for each in plan for rebase in each["rebase"]],
    )  # fmt: skip
    return _result(stack, outcome, found, reason or trouble, resets)


def _note(way: _Way, kind: str, **fields: Any) -> str | None:
    """Write a line; a disk that can't take it must not stop the way back, and is said."""
    trouble = way.journal.note(kind, by=way.by, **fields)
    if trouble is None:
        return None
    return f"the disk could not take this ({trouble.strerror}): after a boot, its journal may name it as open"


def _stale(stack: list[Entry], found: Reading) -> str:
    if found.reason is not None:
        return f"the node has booted since, and the setting can't be read: {found.reason}"
    if same(found.value, stack[0].before):
        return "the node has booted since, and it is as before"
    if stack[-1].outcome is not None and same(found.value, stack[-1].after):
        return "the node has booted since, and it reads as we wrote it all the same: something sets it at start-up"
    return "the node has booted since, and it reads neither as before nor as we wrote it"


def _result(
    stack: list[Entry], outcome: str, found: Reading, reason: str | None, resets: list[dict[str, Any]] | None = None
) -> Result:
    first, last = stack[0], stack[-1]
    told: Result = {"name": last.name, "place": last.place, "campaign": last.campaign, "change": last.change}
    told |= {"outcome": outcome, "now": found.value, "before": first.before}
    told["wrote"] = last.asked if last.outcome in (None, "unconfirmed") else last.after
    if reason:
        told["reason"] = reason
    if resets:
        told["resets"] = [{word: each.get(word) for word in ("name", "place", "outcome", "now")} for each in resets]
    return told
