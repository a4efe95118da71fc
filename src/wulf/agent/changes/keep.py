"""What a controller says after a change: that it still reaches the node, that it lives, what stays, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.changes.apply import session
from wulf.agent.changes.revert import settle_boot
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.state.journal import Journal
from wulf.agent.changes.watch.arming import NotArmed, ask
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host
    from wulf.agent.changes.state.deadlines import Deadlines


def confirm(host: Host, campaign: str, change: int) -> dict[str, Any]:
    """From now on a change, and those before it, need no confirmation any more: {"confirmed": numbers, "watchdog"}.

    Raises
    ------
    Refused
        'same-session': the session that made the change can't tell whether a new one can be had. 'reverted': too late.
    """
    with lock.guard(host):
        journal = Journal(host)
        if journal.changes.get(change, {}).get("campaign") != campaign:
            raise Refused("bad-parameter", f"campaign {campaign} has made no change {change} here", "change")
        _refuse_reverted(journal, campaign, change)
        known = _known(host, campaign)
        waiting = sorted(int(number) for number in known.pending if int(number) <= change)
        for each in (known.pending[str(number)] for number in waiting):
            if each["session"] == session():
                raise Refused("same-session", "a change is confirmed over a new session: this one was there before it")
            if each["until"] <= host.now():
                raise Refused("reverted", f"change {change} was confirmed too late: the node takes it back")
        for number in waiting:
            del known.pending[str(number)]
        return {"confirmed": waiting, "watchdog": _renewed(host, known)}


def _refuse_reverted(journal: Journal, campaign: str, change: int) -> None:
    for entry in journal.taken_back(campaign):
        if entry.change == change and entry.undone is not None:
            raise Refused("reverted", f"the node has taken change {change} back: {entry.undone['by']}")


def renew(host: Host, campaign: str) -> dict[str, Any]:
    """The controller lives: {"lease_until", "watchdog"}; a watchdog that has ended is started again, and said so."""
    with lock.guard(host):
        known = _known(host, campaign)
        if known.lease_until <= host.now():
            raise Refused("reverted", f"nothing was heard of you for {known.lease:g} s: the node takes all back")
        armed = _renewed(host, known)
        return {"lease_until": known.lease_until, "watchdog": armed}


def _known(host: Host, campaign: str) -> Deadlines:
    """The deadlines of a campaign that holds the node. Raises Refused where it does not."""
    holder = lock.holder(host)
    try:
        known = deadlines.load(host)
    except ValueError as error:
        raise Refused("state", f"the deadlines can't be read: {error}; the watchdog takes all back") from error
    if holder is not None and holder["campaign"] != campaign:
        raise Refused("locked", f"campaign {holder['campaign']} of {holder['by']} holds this node", "campaign")
    if holder is None or known is None or known.boot != host.boot:
        raise Refused(
            "reverted", f"campaign {campaign} does not hold this node: it ended, was taken back, or the node has booted"
        )
    return known


def _renewed(host: Host, known: Deadlines) -> dict[str, Any]:
    known.lease_until = host.now() + known.lease
    try:
        deadlines.save(host, known)
        return host.arm(host, known.serial)
    except OSError as error:
        raise Refused("state", f"{host.run} can't be written: {error.strerror}; the old deadlines stand") from error
    except NotArmed as error:
        raise Refused("watchdog", f"{error}; what is open here is taken back by nobody but you") from error


def keep(host: Host, campaign: str, names: list[str]) -> dict[str, Any]:
    """What these settings were changed to stays, whatever becomes of the controller: {"kept": how many writes}."""
    with lock.guard(host):
        journal = Journal(host)
        known = _known(host, campaign)
        chosen = [entry for entry in journal.open_entries(campaign) if entry.name in names]
        missing = set(names) - {entry.name for entry in chosen}
        if missing:
            raise Refused("bad-parameter", f"not open here: {', '.join(sorted(missing))}", "names")
        if any(str(entry.change) in known.pending for entry in chosen):
            raise Refused("unconfirmed-change", "a change is kept once it is confirmed over a new session")
        try:
            journal.append("keep", of=[entry.number for entry in chosen], campaign=campaign)
        except OSError as error:
            raise Refused("state", f"{host.folder} can't be written: {error.strerror}") from error
        settle_boot(host, journal)
        return {"kept": len(chosen)}


def end(host: Host, campaign: str) -> dict[str, Any]:
    """Give the node free: {"kept": names that stay changed}. Raises Refused 'open' where something is not undone."""
    with lock.guard(host):
        journal = Journal(host)
        found = lock.holder(host)
        if found is not None and found["campaign"] != campaign:
            raise Refused("locked", f"campaign {found['campaign']} of {found['by']} holds this node", "campaign")
        entries = journal.open_entries(campaign)
        rest = sorted({entry.name for entry in entries if not entry.kept})
        if rest:
            raise Refused("open", f"still changed here: {', '.join(rest)}; revert or keep them first", "campaign")
        if found is not None:
            lock.release(host)
            ask(host)  # wakes the watchdog, which has nothing to wait for any more
        journal.archive()
        return {"kept": sorted({entry.name for entry in entries})}
