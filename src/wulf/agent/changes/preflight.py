"""What must hold before anything is begun: every setting is there, and can be read; there is room for the journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.host import same
from wulf.agent.changes.reading import read
from wulf.agent.changes.state.entry import key_of
from wulf.agent.changes.state.journal import UNKNOWN
from wulf.agent.files.durable import make_folder
from wulf.agent.files.owned import exposed
from wulf.agent.mechanism import Mechanism
from wulf.agent.session import Refused
from wulf.agent.settings import check_words
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from pathlib import Path

    from wulf.agent.changes.host import Host
    from wulf.agent.changes.state.journal import Journal

SPACE = 1 << 20
"""Bytes that must be free for the journal."""

_NEEDED = {"name": str, "mechanism": str, "target": dict, "place": str}


def check_request(host: Host, settings: Any) -> list[dict[str, Any]]:
    """The settings of a request, with all their words. Raises Refused where it is not as `change_apply` says."""
    if not isinstance(settings, list) or not settings:
        raise Refused("bad-parameter", "settings must be a list of what is to be written", "settings")
    for each in settings:
        if not isinstance(each, dict) or "value" not in each or isinstance(each["value"], (dict, list, type(None))):
            raise Refused("bad-parameter", f"a setting needs a value (bool, number or text): {each!r}", "value")
        resets = each.get("resets") or []
        unknown = set(each) - {*_NEEDED, "value", "resets", "inert"}
        if unknown or not isinstance(resets, list):
            raise Refused(
                "bad-parameter", f"{each.get('name')}: not understood: {', '.join(sorted(unknown))}", "settings"
            )
        for one in (each, *resets):
            _check_words(host, one)
    return settings


def _check_words(host: Host, setting: Any) -> None:
    for word, kind in _NEEDED.items():
        if not isinstance(setting, dict) or not isinstance(setting.get(word), kind):
            raise Refused("bad-parameter", f"a setting needs {', '.join(_NEEDED)}: {setting!r}", word)
    check_words(host.mechanisms, setting)


def preflight(host: Host, journal: Journal, settings: list[dict[str, Any]]) -> None:
    """Nothing is written here. Raises Refused 'preflight' with all that is in the way."""
    host.step("preflight")
    found = [trouble for each in settings for trouble in _troubles(host, journal, each)]
    state = _state_trouble(host)
    if state:
        found.append(state)
    if found:
        raise Refused("preflight", "nothing was begun: " + "; ".join(found))


def _troubles(host: Host, journal: Journal, setting: dict[str, Any]) -> list[str]:
    where = setting["name"] + (f" of {setting['place']}" if setting["place"] else "")
    kind = host.mechanisms[setting["mechanism"]]
    if type(kind).write is Mechanism.write:
        return [f"{where} can only be read"]
    try:
        with host.machine() as machine:
            places = kind.places(machine, setting["target"])
    except Unknown as unknown:
        return [f"{where}: {unknown.reason}"]
    if setting["place"] not in places:
        return [f"{where}: there is no such place; there are {', '.join(places) or 'none'}"]
    readings = [(where, setting)] + [
        (f"{each['name']}, which it resets,", each) for each in setting.get("resets") or []
    ]
    found = [(who, read(host, each["mechanism"], each["target"], each["place"])) for who, each in readings]
    foreign = foreign_value(journal, setting, found[0][1].value)
    if foreign is not None:
        return [f"{where}: {foreign}"]
    return [f"{who}: {one.reason}" for who, one in found if one.reason is not None and (who == where or not one.absent)]


def foreign_value(journal: Journal, setting: dict[str, Any], now: Any) -> str | None:
    """Why a setting that we have changed is not ours any more: its way back would go over what somebody else set."""
    ours = [entry for entry in journal.open_entries() if entry.key == key_of(setting)]
    left = journal.left.get(key_of(setting), UNKNOWN)
    if now is None or not ours or left is UNKNOWN or same(now, left) or same(now, ours[0].before):
        return None
    return f"we left {left!r}, and somebody else has set {now!r}: revert it first, which leaves theirs"


def _state_trouble(host: Host) -> str | None:
    """Why the journal or its copy could not be written, as far as can be known without writing it."""
    return next(filter(None, map(_folder_trouble, (host.folder, host.run))), None)


def _folder_trouble(folder: Path) -> str | None:
    try:
        make_folder(folder)
        there = os.statvfs(folder)
    except OSError as error:
        return f"{folder} can't be made: {error.strerror}; tuning needs root, or WULF_STATE elsewhere"
    if not os.access(folder, os.W_OK):
        return f"{folder} can't be written by user {os.geteuid()}; tuning needs root"
    reason = exposed(folder)
    if reason is not None:
        return f"{reason}: whoever writes there decides what is taken back; chmod it, or WULF_STATE elsewhere"
    free = there.f_bavail * there.f_frsize
    if free < SPACE:
        return f"{folder} has {free} bytes left, and the journal needs {SPACE}: make room there"
    return None
