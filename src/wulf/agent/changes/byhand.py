"""The agent by hand, for whoever sits before a node: what is changed here, and back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from wulf.agent.changes.operations import answer, change_revert, change_status
from wulf.agent.changes.watch import atboot
from wulf.agent.session import Refused


def by_hand(word: str, *campaign: str) -> int:
    """`--changes`, `--revert [CAMPAIGN]`, `--at-boot`: 0; 1: something is not as before; 3: nothing could be done."""
    try:
        lines, status = _WORDS[word](*campaign)
    except Refused as refused:
        sys.stderr.write(f"wulf-agent: {refused.answer['message']}\n")
        return 3
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return status


def _changes() -> tuple[list[str], int]:
    found = change_status()
    lines = [f"state: {found['folder']}"]
    if found["lock"]:
        lines.append(f"campaign {found['lock']['campaign']} of {found['lock']['by']} holds this node")
    lines += [
        _changed(each, "stale" if each["stale"] else "kept" if each["kept"] else "open") for each in found["open"]
    ]
    lines += [_changed(each, each["undone"]["outcome"]) for each in found["left"]]
    lines += [f"taken back: {_where(each)}: by the {each['undone']['by']}" for each in found["taken_back"]]
    lines += [f"of another wulf: {json.dumps(each)}" for each in found["foreign"]]
    for line in (found["journal"] or {}).get("lines", []):
        lines.append(f"journal line {line['line']}: {line['text']}")
    lines += [f"problem: {each}" for each in found["problems"]]
    if len(lines) == 1:
        lines.append("nothing is changed here")
    return lines, 1 if found["open"] or found["problems"] else 0


def _changed(each: dict[str, Any], state: str) -> str:
    now = each["after"] if each["outcome"] not in (None, "unconfirmed") else f"{each['asked']} (not known)"
    return f"{state}: {_where(each)}: was {each['before']}, written {now}; campaign {each['campaign']}"


def _reverted(campaign: str | None = None) -> tuple[list[str], int]:
    return _told(change_revert(campaign)["results"])


def _at_boot() -> tuple[list[str], int]:
    return _told(answer(atboot.take_back)["results"])


def _told(results: list[dict[str, Any]]) -> tuple[list[str], int]:
    lines = [
        f"{each['outcome']}: {_where(each)}: now {each['now']}, was {each['before']}, written {each['wrote']}"
        + (f" ({each['reason']})" if each.get("reason") else "")
        for each in results
    ]
    return lines or ["nothing is changed here"], int(any(each["outcome"] != "reverted" for each in results))


def _where(each: dict[str, Any]) -> str:
    return str(each["name"]) + (f" of {each['place']}" if each["place"] else "")


_WORDS: dict[str, Callable[..., tuple[list[str], int]]] = {
    "--changes": _changes,
    "--revert": _reverted,
    atboot.OPTION: _at_boot,
}
