"""Changing settings: lock, journal, watchdog, and only then write; read back and say what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.host import same
from wulf.agent.changes.preflight import check_request, foreign_value, preflight
from wulf.agent.changes.reading import Reading, read, write
from wulf.agent.changes.revert import is_stale, revert, survives
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.state.deadlines import Deadlines
from wulf.agent.changes.state.entry import key_of
from wulf.agent.changes.state.journal import Journal
from wulf.agent.changes.watch.arming import NotArmed, ask
from wulf.agent.processes.process import started
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

CONFIRM, LEASE = 30.0, 120.0
"""Seconds to confirm a change, and that a controller may be silent, unless it says otherwise."""


@dataclass(frozen=True)
class Request:
    """What is asked: who, and for how long without a word."""

    campaign: str
    by: str
    confirm: float = CONFIRM
    lease: float = LEASE


def apply(host: Host, request: Request, settings: Any) -> dict[str, Any]:
    """Write settings in their order: {"change", "results", "watchdog", "confirm_until", "taken_back"}.

    `confirm_until` is null where nothing was changed; `taken_back` names what the watchdog undid of this campaign.

    Raises
    ------
    Refused
        Nothing is changed then: 'locked', 'preflight', 'stale', 'watchdog', 'state' (the journal can't be written; what
        had been written was taken back), 'bad-parameter'.
    """
    wanted = check_request(host, settings)
    with lock.guard(host):
        journal = Journal(host)
        if journal.damage is not None:
            raise journal.damage
        new = lock.may_take(host, journal, request.campaign)
        _refuse_stale(host, journal)
        preflight(host, journal, wanted)
        number = max(journal.changes, default=0) + 1
        armed = _begin(host, journal, request, number, new)
        results = _write_all(host, journal, request, number, wanted)
        until = _last_word(host, journal, request, number)
        taken = sorted({entry.name for entry in journal.taken_back(request.campaign)})
    ask(host)  # the watchdog reads what was written, should the disk be gone when it has to take it back
    return {"change": number, "results": results, "watchdog": armed, "confirm_until": until, "taken_back": taken}


def session() -> str:
    """What tells this process from every other of this boot: its number, and when it started (proc(5), stat)."""
    return f"{os.getpid()} {started(os.getpid())}"


def _refuse_stale(host: Host, journal: Journal) -> None:
    stale = [entry for entry in journal.open_entries() if is_stale(host, entry)]
    if stale:
        raise Refused(
            "stale",
            f"the node has booted since campaign {stale[0].campaign} wrote {stale[0].name} ({len(stale)} open): see "
            f"and close them with wulf tune revert {stale[0].campaign}",
        )


def _begin(host: Host, journal: Journal, request: Request, number: int, new: bool) -> dict[str, Any]:
    """Journal, lock, deadlines and watchdog stand, or nothing does."""
    try:
        journal.append("change", campaign=request.campaign, change=number, by=request.by, boot=host.boot)
        if new:
            lock.take(host, request.campaign, request.by)
        known = None if new else deadlines.load(host)
        if known is None or known.boot != host.boot or known.campaign != request.campaign:
            known = Deadlines(request.campaign, host.boot, request.lease, 0.0)
        known.lease, known.lease_until = request.lease, host.now() + request.lease
        until = host.now() + request.confirm
        known.pending[str(number)] = {"until": until, "confirm": request.confirm, "session": session()}
        deadlines.save(host, known)
        return host.arm(host, known.serial)
    except (OSError, ValueError, NotArmed) as error:
        _abandon(host, number, new)
        if isinstance(error, NotArmed):
            raise Refused("watchdog", f"nothing was written: {error}") from error
        raise Refused("state", f"nothing was written: {host.folder} can't be used: {error}") from error


def _abandon(host: Host, number: int, new: bool) -> None:
    """Take back a beginning: nothing has been written."""
    try:
        if new:
            lock.release(host)
            return
        known = deadlines.load(host)
        if known is not None and str(number) in known.pending:
            del known.pending[str(number)]
            deadlines.save(host, known)
    except (OSError, ValueError):
        return  # the deadline stands: there is nothing that it could take back


def _write_all(
    host: Host, journal: Journal, request: Request, number: int, wanted: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    try:
        results = []
        for each in wanted:
            results.append(_write(host, journal, request, number, each))
            _postpone(host, request, number)
        return results
    except OSError as error:
        mine = [entry for entry in journal.open_entries(request.campaign) if entry.change == number]
        back = revert(host, journal, mine, f"the journal could not be written: {error.strerror}")
        bad = [one["name"] for one in back if one["outcome"] != "reverted"]
        said = f"; {', '.join(bad)} could not be taken back: see change_status" if bad else ""
        raise Refused(
            "state", f"{host.folder} can't be written: {error.strerror}; what was written was taken back{said}"
        ) from error


def _postpone(host: Host, request: Request, number: int) -> None:
    """The time to confirm begins with the last write: a hundred settings, each with its link down, take a while."""
    known = deadlines.load(host)
    if known is not None and known.pending[str(number)]["until"] < host.now() + request.confirm / 2:
        known.pending[str(number)]["until"] = host.now() + request.confirm
        known.lease_until = max(known.lease_until, host.now() + request.lease)
        deadlines.save(host, known)


def _last_word(host: Host, journal: Journal, request: Request, number: int) -> float | None:
    """Until when to confirm, counted from now on; None where nothing was changed. A full disk leaves it as it was."""
    known = deadlines.load(host)
    if known is None:
        return None
    was = float(known.pending[str(number)]["until"])
    if any(entry.change == number for entry in journal.open_entries(request.campaign)):
        known.pending[str(number)]["until"] = host.now() + request.confirm
    else:
        del known.pending[str(number)]
    try:
        deadlines.save(host, known)
    except OSError:
        return was
    return float(known.pending[str(number)]["until"]) if str(number) in known.pending else None


def _write(host: Host, journal: Journal, request: Request, number: int, wanted: dict[str, Any]) -> dict[str, Any]:
    """One setting: journal, write, read back, journal."""
    where = wanted["mechanism"], wanted["target"], wanted["place"]
    before, asked = read(host, *where), wanted["value"]
    told = {"name": wanted["name"], "place": wanted["place"], "before": before.value, "asked": asked}
    if before.reason is not None:
        return {**told, "after": None, "outcome": "refused", "reason": before.reason}
    foreign = foreign_value(journal, wanted, before.value)
    if foreign is not None:
        return {**told, "after": before.value, "outcome": "refused", "reason": foreign}
    if same(before.value, asked):
        return {**told, "after": before.value, "outcome": "unchanged"}
    trouble = _at_boot(host, wanted)
    if trouble is not None:
        return {**told, "after": before.value, "outcome": "refused", "reason": trouble}
    resets = _resets(host, wanted)
    setting = {word: wanted[word] for word in ("name", "mechanism", "target", "place")}
    line = journal.append(
        "write", campaign=request.campaign, change=number, boot=host.boot, identity=before.identity,
        before=before.value, asked=asked, resets=resets, **setting,
    )  # fmt: skip
    host.step(f"write {wanted['name']}")
    refusal = write(host, *where, asked)
    host.step(f"wrote {wanted['name']}")
    after = read(host, *where)
    outcome, reason = _classify(before.value, asked, after, refusal, bool(wanted.get("inert")))
    since = [{**each, "after": read(host, each["mechanism"], each["target"], each["place"]).value} for each in resets]
    closed = outcome == "refused" and all(same(each["after"], each["before"]) for each in since)
    found = {"of": line["number"], "after": after.value, "outcome": outcome, "closed": closed, "resets": since}
    failure = journal.note("wrote", **found)
    if failure is not None:
        raise failure
    return {**told, "after": after.value, "outcome": outcome, **({"reason": reason} if reason else {})}


def _at_boot(host: Host, wanted: dict[str, Any]) -> str | None:
    """Have the next boot take back what it would keep; why it can't be made to."""
    try:
        if survives(host, wanted["mechanism"]):
            host.disk.do(lambda: host.at_boot(host, True))
    except OSError as error:
        return f"a boot would keep it, and can't be made to take it back: {error}"
    return None


def _resets(host: Host, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """What the settings that this one sets anew are now; those that are not there need no way back."""
    found = []
    for each in wanted.get("resets") or []:
        now = read(host, each["mechanism"], each["target"], each["place"])
        if now.reason is None and key_of(each) != key_of(wanted):
            found.append(
                {**{word: each[word] for word in ("name", "mechanism", "target", "place")}, "before": now.value}
            )
    return found


def _classify(before: Any, asked: Any, after: Reading, refusal: str | None, inert: bool) -> tuple[str, str | None]:
    """What came of a write, and why. 'unconfirmed': it was made, and could not be read back."""
    if after.reason is not None:
        return "unconfirmed", refusal or after.reason
    if same(after.value, before):
        return "refused", refusal or "the write was accepted, and changed nothing"
    if not same(after.value, asked):
        return "clamped", refusal or f"{asked!r} was asked, and it reads {after.value!r}"
    return ("inert", "it has no effect on this kernel") if inert else ("applied", refusal)
