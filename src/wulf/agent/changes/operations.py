"""The agent's requests that change settings, and take changes back."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from typing import Any

from wulf.agent.changes import apply as applying
from wulf.agent.changes import keep, status
from wulf.agent.changes.host import Host
from wulf.agent.changes.live import live
from wulf.agent.changes.revert import revert
from wulf.agent.changes.state.journal import Journal
from wulf.agent.changes.state.lines import Damaged
from wulf.agent.changes.state.lock import Busy, guard
from wulf.agent.session import Operation, Refused

LONGEST = 7 * 86400.0
"""Seconds that a controller may ask to be silent at most."""


def change_apply(
    campaign: Any, settings: Any, by: Any = None, confirm: Any = applying.CONFIRM, lease: Any = applying.LEASE
) -> dict[str, Any]:
    """{"op": "change_apply", "campaign": …, "by": "user@host", "settings": [{name, mechanism, target, place, value}]}.

    "resets": settings that a write sets anew; "inert": true: it is known to have no effect here.
    """
    _text(campaign, "campaign")
    for word, seconds in (("confirm", confirm), ("lease", lease)):
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= LONGEST:
            raise Refused("bad-parameter", f"{word} must be seconds, {LONGEST:g} at most, not {seconds!r}", word)
    who = by if isinstance(by, str) and by else f"{pwd.getpwuid(os.getuid()).pw_name}@{os.uname().nodename}"
    request = applying.Request(campaign, who, confirm, lease)
    return answer(lambda host: applying.apply(host, request, settings))


def change_confirm(campaign: Any, change: Any) -> dict[str, Any]:
    """{"op": "change_confirm", "campaign": …, "change": 3}, from another session than the one that changed."""
    _text(campaign, "campaign")
    if not isinstance(change, int) or isinstance(change, bool):
        raise Refused("bad-parameter", f"change must be the number of a change, not {change!r}", "change")
    return answer(lambda host: keep.confirm(host, campaign, change))


def change_renew(campaign: Any) -> dict[str, Any]:
    """{"op": "change_renew", "campaign": …}: the controller lives."""
    _text(campaign, "campaign")
    return answer(lambda host: keep.renew(host, campaign))


def change_revert(campaign: Any = None, names: Any = None, places: Any = None, force: Any = False) -> dict[str, Any]:
    """{"op": "change_revert", "campaign": …?, "names": […]?, "places": […]?}: back to what was before the first change.

    Without a campaign: all that is open here, kept or not. "force": also what a write that was cut short may have left.
    """
    if campaign is not None:
        _text(campaign, "campaign")
    for word, wanted in (("names", names), ("places", places)):
        if wanted is not None:
            _texts(wanted, word)
    return answer(lambda host: take_back(host, campaign, names, places, force=bool(force)))


def take_back(
    host: Host, campaign: str | None = None, names: list[str] | None = None, places: list[str] | None = None,
    *, force: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What is open of a campaign, or of all, is undone: {"results"}. See `revert.revert`."""
    if not host.has_state:
        return {"results": []}
    with guard(host):
        journal = Journal(host)
        chosen = [
            entry
            for entry in journal.open_entries(campaign)
            if (names is None or entry.name in names) and (places is None or entry.place in places)
        ]
        return {"results": revert(host, journal, chosen, "asked for", force)}


def change_keep(campaign: Any, names: Any) -> dict[str, Any]:
    """{"op": "change_keep", "campaign": …, "names": […]}: these stay, though they can be reverted by hand."""
    _text(campaign, "campaign")
    _texts(names, "names")
    return answer(lambda host: keep.keep(host, campaign, names))


def change_status() -> dict[str, Any]:
    """{"op": "change_status"}: what is changed here, by whom, and what is wrong."""
    return answer(status.status)


def change_end(campaign: Any) -> dict[str, Any]:
    """{"op": "change_end", "campaign": …}: gives the node free, where nothing is open but what is kept."""
    _text(campaign, "campaign")
    return answer(lambda host: keep.end(host, campaign))


def answer(work: Callable[[Host], dict[str, Any]]) -> dict[str, Any]:
    """Do it on this node; what is in the way is a refusal."""
    host = live()
    try:
        return work(host)
    except Damaged as damaged:
        raise Refused("journal", str(damaged)) from damaged
    except Busy as busy:
        raise Refused("busy", f"{busy}; try again") from busy
    except OSError as error:
        raise Refused("state", f"{host.folder} can't be used: {error}; changing settings needs root") from error


def _text(value: Any, word: str) -> None:
    if not isinstance(value, str) or not value:
        raise Refused("bad-parameter", f"{word} must be a name, not {value!r}", word)


def _texts(value: Any, word: str) -> None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused("bad-parameter", f"{word} must be a list of names, not {value!r}", word)


OPERATIONS: dict[str, Operation] = {
    "change_apply": change_apply,
    "change_confirm": change_confirm,
    "change_renew": change_renew,
    "change_revert": change_revert,
    "change_keep": change_keep,
    "change_status": change_status,
    "change_end": change_end,
}
