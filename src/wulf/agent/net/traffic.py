"""The traffic of this node by peer, service and program, from one poll of its sockets to the next."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from wulf.agent.net.sockets import LISTEN, Info, Socket, dump, text_of
from wulf.agent.session import Refused

MOST_GROUPS = 2000
"""Groups that one answer has, those with most bytes; 120 B each."""

_WRAP = 0xFFFFFFFF
"""Counters of segments have 32 bits."""

_MICRO = 1e-6


COLUMNS = (
    "peer", "port", "serving", "program", "sockets", "acked", "received", "segments", "again", "dups", "delivered",
    "busy", "rwnd", "sndbuf", "window", "rtt", "least", "rate",
)  # fmt: skip
"""What is said of a group. An answer has a list of each, as long as there are groups: a thousand groups take a third of
the time to write that they take with every name before every figure."""

Row = tuple[Any, ...]

_ACKED, _RECEIVED, _SEGMENTS = (COLUMNS.index(one) for one in ("acked", "received", "segments"))


def row_of(changes: list[tuple[Info, Info]]) -> Row:
    """What connections with one peer over one service's port did, now and before: `COLUMNS` from `sockets` on.

    In SI units. A round trip or a rate is the median over connections, by segments delivered. Where nothing was sent
    and acknowledged, a connection's round trip says nothing of this time.
    """
    acked = received = segments = again = dups = delivered = busy = rwnd = sndbuf = least = window = 0
    rtts, rates = [], []
    for now, before in changes:
        (
            flags, rtt1, _, _, again1, acked1, received1, _, least1, sent1, rate1, busy1, rwnd1, sndbuf1, got1, dups1,
            window1,
        ) = now  # fmt: skip
        _, _, _, _, again0, acked0, received0, _, _, sent0, _, busy0, rwnd0, sndbuf0, got0, dups0, _ = before
        got = got1 - got0 & _WRAP
        acked += acked1 - acked0
        received += received1 - received0
        segments += sent1 - sent0 & _WRAP
        again += again1 - again0 & _WRAP
        dups += dups1 - dups0 & _WRAP
        busy += busy1 - busy0
        rwnd += rwnd1 - rwnd0
        sndbuf += sndbuf1 - sndbuf0
        delivered += got
        window = max(window, window1)
        if got:
            rtts.append((rtt1, got))
            least = min(least or least1, least1)
            if not flags & 1 and rate1:
                rates.append((rate1, got))
    rtt = weighted_median(rtts) if rtts else None
    return (
        len(changes), acked, received, segments, again, dups, delivered, busy * _MICRO, rwnd * _MICRO, sndbuf * _MICRO,
        window, None if rtt is None else rtt * _MICRO, least * _MICRO if rtts else None,
        weighted_median(rates) if rates else None,
    )  # fmt: skip


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    """Rows of `COLUMNS` as a list of each."""
    return {name: list(own) for name, own in zip(COLUMNS, zip(*rows))} if rows else {name: [] for name in COLUMNS}


def weighted_median(values: Iterable[tuple[float, int]]) -> float | None:
    """The least value up to which half of the weight lies, of (value, weight); None of none."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered[0][0]
    half, so_far = sum(weight for _, weight in ordered) / 2, 0
    for value, weight in ordered:
        so_far += weight
        if so_far >= half:
            return value
    return None


_NOTHING = Info(*[0] * len(Info._fields))
"""What a connection had counted before it was opened."""


class Traffic:
    """Polls of one node's sockets, each told from the one before.

    Parameters
    ----------
    sockets, host, programs
        What the kernel says now; injected, as the clocks are.
    """

    def __init__(
        self,
        sockets: Callable[[], list[Socket]] = dump,
        host: Callable[[], dict[str, float]] | None = None,
        programs: Callable[[set[int]], dict[int, str]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.process_time,
    ) -> None:
        self._sockets, self._clock, self._spent = sockets, clock, spent
        self._host, self._programs = host or host_counts, programs or programs_of
        self._seen: dict[int, Info] = {}
        self._names: dict[int, str] = {}
        self._before: tuple[float, float, dict[str, float]] | None = None
        self._polling = threading.Lock()

    def poll(self, by_program: Any = False) -> dict[str, Any]:
        """{"op": "sockets", "by_program": false}: what was sent and received since the last poll, in groups.

        The first poll knows of no time before: its `seconds` are null, and it has no groups.
        """
        if not isinstance(by_program, bool):
            raise Refused("bad-parameter", f"by_program must be true or false, not {by_program!r}", "by_program")
        with self._polling:
            return self._poll(by_program)

    def _poll(self, by_program: bool) -> dict[str, Any]:
        at, spent, host, found = self._clock(), self._spent(), self._host(), self._sockets()
        serving = {one.port for one in found if one.state == LISTEN}
        if by_program:
            self._name(found)
        groups: dict[tuple[int, bytes, int, bool, str], list[tuple[Info, Info]]] = {}
        seen: dict[int, Info] = {}
        known, names = self._seen.get, self._names.get
        for family, _, port, peer_port, _, peer, cookie, _, now in found:
            if now is None:
                continue
            before = known(cookie, _NOTHING)
            seen[cookie] = now
            if now != before:
                here = port in serving
                key = family, peer, port if here else peer_port, here, names(cookie, "")
                if key in groups:
                    groups[key].append((now, before))
                else:
                    groups[key] = [(now, before)]
        told = self._told(groups, seen, at, spent, host)
        self._seen, self._before = seen, (at, spent, host)
        self._names = {cookie: name for cookie, name in self._names.items() if cookie in seen}
        return told

    def _told(
        self,
        groups: dict[Any, list[tuple[Info, Info]]],
        seen: dict[int, Info],
        at: float,
        spent: float,
        host: dict[str, float],
    ) -> dict[str, Any]:
        new, ended = len(seen.keys() - self._seen.keys()), len(self._seen.keys() - seen.keys())
        if self._before is None:
            return {
                "seconds": None, "sockets": len(seen), "new": 0, "ended": 0, "left_out": 0, "cpu_seconds": None,
                "host": {}, "groups": columns_of([]),
            }  # fmt: skip
        since, spent_since, host_since = self._before
        rows = [
            (text_of(family, peer), port, here, program, *row_of(changes))
            for (family, peer, port, here, program), changes in groups.items()
        ]
        active = [row for row in rows if row[_ACKED] or row[_RECEIVED] or row[_SEGMENTS]]
        if len(active) > MOST_GROUPS:
            active.sort(key=lambda row: -(row[_ACKED] + row[_RECEIVED]))
        return {
            "seconds": at - since, "sockets": len(seen), "new": new, "ended": ended,
            "left_out": max(0, len(active) - MOST_GROUPS), "cpu_seconds": spent - spent_since,
            "host": {name: value - host_since[name] for name, value in host.items() if name in host_since},
            "groups": columns_of(active[:MOST_GROUPS]),
        }  # fmt: skip

    def _name(self, found: list[Socket]) -> None:
        """Learn whose the connections are that were not here before: all of /proc is walked through for them."""
        unknown = {one.inode: one.cookie for one in found if one.info and one.cookie not in self._names}
        if unknown:
            owners = self._programs(set(unknown))
            self._names.update({cookie: owners.get(inode, "") for inode, cookie in unknown.items()})


def programs_of(inodes: set[int], proc: Path = Path("/proc")) -> dict[int, str]:
    """Socket's inode → name of the process that has it, of those that we may look at."""
    found = {}
    for process in os.listdir(proc):  # noqa: PTH208 - a node may have thousands: Path would triple the time
        if not process.isdigit():
            continue
        try:
            for entry in os.scandir(proc / process / "fd"):
                target = os.readlink(entry.path)  # noqa: PTH115
                inode = int(target[8:-1]) if target.startswith("socket:[") else 0
                if inode in inodes and inode not in found:
                    found[inode] = (proc / process / "comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:  # it ended, or is another user's
            continue
    return found


def host_counts(proc: Path = Path("/proc")) -> dict[str, float]:
    """What the host's CPUs and TCP have counted so far; what this kernel does not count is left out.

    `pressure`: seconds in which some task waited for a CPU (PSI). `cpu`, `softirq`: seconds of all CPUs, and of these
    in softirqs. `run_delay`: seconds that tasks waited in run queues. `segments`, `again`: TCP's, sent and sent again.
    """
    found: dict[str, float] = {}
    for word in _text(proc / "pressure/cpu").partition("\n")[0].split():
        if word.startswith("total="):
            found["pressure"] = int(word[6:]) * _MICRO
    ticks = [int(word) for word in _text(proc / "stat").partition("\n")[0].split()[1:9]]
    if len(ticks) == 8:
        tick = os.sysconf("SC_CLK_TCK")
        found["cpu"], found["softirq"] = sum(ticks) / tick, ticks[6] / tick
    waits = [row.split() for row in _text(proc / "schedstat").splitlines() if row.startswith("cpu")]
    if waits:
        found["run_delay"] = sum(int(row[8]) for row in waits) * 1e-9
    rows = [row.split() for row in _text(proc / "net/snmp").splitlines() if row.startswith("Tcp:")]
    if len(rows) == 2:
        counts = dict(zip(*rows))
        found["segments"], found["again"] = float(counts["OutSegs"]), float(counts["RetransSegs"])
        found["opened"] = float(counts["ActiveOpens"]) + float(counts["PassiveOpens"])
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


sockets = Traffic().poll
"""This node's, polled by one controller."""
