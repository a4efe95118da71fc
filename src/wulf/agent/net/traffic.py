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
"""Groups that one answer has, those with most bytes; 300 B each."""

_WRAP = 0xFFFFFFFF
"""Counters of segments have 32 bits."""

_MICRO = 1e-6


class Group:
    """Connections with one peer over one service's port, of one program, that did something since the last poll."""

    __slots__ = (
        "acked", "again", "busy", "delivered", "dups", "least", "rates", "received", "rtts", "rwnd", "segments",
        "sndbuf", "sockets", "window",
    )  # fmt: skip

    def __init__(self) -> None:
        self.sockets = self.acked = self.received = self.segments = self.again = self.delivered = self.dups = 0
        self.busy = self.rwnd = self.sndbuf = self.least = self.window = 0
        self.rtts: list[tuple[float, int]] = []
        self.rates: list[tuple[float, int]] = []

    def take(self, now: Info, before: Info) -> None:
        """Add what one connection did; nothing was sent and acknowledged: its round trip says nothing of this time."""
        delivered = now.delivered - before.delivered & _WRAP
        self.sockets += 1
        self.acked += now.bytes_acked - before.bytes_acked
        self.received += now.bytes_received - before.bytes_received
        self.segments += now.data_segs_out - before.data_segs_out & _WRAP
        self.again += now.total_retrans - before.total_retrans & _WRAP
        self.dups += now.dsack_dups - before.dsack_dups & _WRAP
        self.busy += now.busy_time - before.busy_time
        self.rwnd += now.rwnd_limited - before.rwnd_limited
        self.sndbuf += now.sndbuf_limited - before.sndbuf_limited
        self.delivered += delivered
        self.window = max(self.window, now.snd_wnd)
        if delivered:
            self.rtts.append((now.rtt, delivered))
            self.least = min(self.least or now.min_rtt, now.min_rtt)
            if not now.flags & 1 and now.delivery_rate:
                self.rates.append((now.delivery_rate, delivered))

    def said(self) -> dict[str, Any]:
        """In SI units; a round trip or a rate is the median over its connections, by segments delivered."""
        rtt, rate = weighted_median(self.rtts), weighted_median(self.rates)
        return {
            "sockets": self.sockets, "acked": self.acked, "received": self.received, "segments": self.segments,
            "again": self.again, "dups": self.dups, "delivered": self.delivered, "busy": self.busy * _MICRO,
            "rwnd": self.rwnd * _MICRO, "sndbuf": self.sndbuf * _MICRO, "window": self.window,
            "rtt": None if rtt is None else rtt * _MICRO, "least": self.least * _MICRO if self.rtts else None,
            "rate": rate,
        }  # fmt: skip


def weighted_median(values: Iterable[tuple[float, int]]) -> float | None:
    """The least value up to which half of the weight lies, of (value, weight); None of none."""
    ordered = sorted(values)
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
        groups: dict[tuple[int, bytes, int, bool, str], Group] = {}
        seen: dict[int, Info] = {}
        for one in found:
            now = one.info
            if now is None:
                continue
            before = self._seen.get(one.cookie, _NOTHING)
            seen[one.cookie] = now
            if now == before:
                continue
            here = one.port in serving
            key = one.family, one.peer, one.port if here else one.peer_port, here, self._names.get(one.cookie, "")
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group()
            group.take(now, before)
        told = self._told(groups, seen, at, spent, host)
        self._seen, self._before = seen, (at, spent, host)
        self._names = {cookie: name for cookie, name in self._names.items() if cookie in seen}
        return told

    def _told(
        self, groups: dict[Any, Group], seen: dict[int, Info], at: float, spent: float, host: dict[str, float]
    ) -> dict[str, Any]:
        new, ended = len(seen.keys() - self._seen.keys()), len(self._seen.keys() - seen.keys())
        if self._before is None:
            return {
                "seconds": None, "sockets": len(seen), "new": 0, "ended": 0, "left_out": 0, "cpu_seconds": None,
                "host": {}, "groups": [],
            }  # fmt: skip
        since, spent_since, host_since = self._before
        active = [item for item in groups.items() if item[1].acked or item[1].received or item[1].segments]
        active.sort(key=lambda item: -(item[1].acked + item[1].received))
        return {
            "seconds": at - since, "sockets": len(seen), "new": new, "ended": ended,
            "left_out": max(0, len(active) - MOST_GROUPS), "cpu_seconds": spent - spent_since,
            "host": {name: value - host_since[name] for name, value in host.items() if name in host_since},
            "groups": [
                {"peer": text_of(family, peer), "port": port, "serving": here, "program": program, **group.said()}
                for (family, peer, port, here, program), group in active[:MOST_GROUPS]
            ],
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
