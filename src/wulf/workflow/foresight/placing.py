"""Where things stand: hosts in a topology, and ranks on hosts where a trace does not say."""

from __future__ import annotations

from dataclasses import replace

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Traced

HOSTS_HOW = "as in --placement random:1 (a seed), every:4 (so many places apart), or 0,8,16,… (each host's place)"
RANKS_HOW = "as in --ranks-on block:8 (so many ranks a host), cyclic:4 (so many hosts), or 0,0,1,1,… (each rank's host)"


def positions(text: str) -> dict[str, int] | list[int]:
    """Where hosts stand in a topology, as its `positions` has it.

    Raises
    ------
    UsageError
        It is none of the forms.
    """
    rule, colon, number = text.partition(":")
    try:
        if colon and rule in ("random", "every"):
            return {rule: _whole(number)}
        return [_whole(each) for each in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--placement {text}: that is no placement", HOSTS_HOW) from error


def placed(traced: Traced, text: str) -> Traced:
    """A trace that does not say on which hosts its ranks ran, with its ranks on hosts by a rule.

    Raises
    ------
    UsageError
        The trace says it; the text is none of the forms, or has another number of ranks.
    """
    if traced.hosts:
        raise UsageError(f"{traced.path} says on which hosts its ranks ran", "leave --ranks-on out")
    return replace(traced, hosts=tuple(str(host) for host in _hosts(text, traced.ranks)))


def _hosts(text: str, ranks: int) -> list[int]:
    rule, colon, number = text.partition(":")
    try:
        if colon:
            many = _whole(number)
            return {
                "block": [rank // many for rank in range(ranks)], "cyclic": [rank % many for rank in range(ranks)]
            }[rule]  # fmt: skip
        found = [_whole(each) for each in text.split(",")]
    except (ValueError, KeyError, ZeroDivisionError) as error:
        raise UsageError(f"--ranks-on {text}: that places no ranks", RANKS_HOW) from error
    if len(found) != ranks:
        raise UsageError(f"--ranks-on places {len(found)} ranks, and the trace has {ranks}", RANKS_HOW)
    return found


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(text)
    return int(text)
