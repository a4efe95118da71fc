"""What this node counts, host-wide: CPU time, network, memory faults. Named as wulf-net names its counters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_NIC = {0: "rx_bytes", 1: "rx_packets", 2: "rx_errors", 3: "rx_dropped",
        8: "tx_bytes", 9: "tx_packets", 10: "tx_errors", 11: "tx_dropped"}  # fmt: skip
_VM = ("pgfault", "pgmajfault", "pswpin", "pswpout")


def snapshot(proc: Path = Path("/proc")) -> dict[str, Any]:
    """All counters now [s, B, 1]; what this kernel does not have is left out."""
    return {**_stat(proc), "nic": _nics(proc), "snmp": _snmp(proc), "vm": _vm(proc)}


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Later minus earlier; what did not change is left out."""
    changed: dict[str, Any] = {}
    for name, value in after.items():
        earlier = before.get(name)
        if isinstance(value, dict):
            inner = difference(earlier if isinstance(earlier, dict) else {}, value)
            if inner:
                changed[name] = inner
        elif isinstance(value, (int, float)):
            least = earlier if isinstance(earlier, (int, float)) else 0
            if value != least:
                changed[name] = value - least
    return changed


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _stat(proc: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for words in map(str.split, _lines(proc / "stat")):
        if words[0] == "cpu":
            tick = os.sysconf("SC_CLK_TCK")
            found["cpu"] = {"all": {name: int(count) / tick for name, count in zip(_CPU, words[1:])}}
        elif words[0] in ("ctxt", "processes"):
            found[words[0]] = int(words[1])
    return found


def _nics(proc: Path) -> dict[str, dict[str, int]]:
    found = {}
    for line in _lines(proc / "net/dev")[2:]:
        name, _, counts = line.partition(":")
        words = counts.split()
        found[name.strip()] = {called: int(words[place]) for place, called in _NIC.items() if place < len(words)}
    return found


def _snmp(proc: Path) -> dict[str, dict[str, int]]:
    """TCP's and UDP's lines of /proc/net/snmp: names, then numbers."""
    rows = [line.split() for line in _lines(proc / "net/snmp")]
    found = {}
    for names, numbers in zip(rows[::2], rows[1::2]):
        if names[0] in ("Tcp:", "Udp:"):
            pairs = zip(names[1:], numbers[1:])
            found[names[0][:-1]] = {name: int(number) for name, number in pairs if name not in ("MaxConn", "CurrEstab")}
    return found


def _vm(proc: Path) -> dict[str, int]:
    rows = (line.split() for line in _lines(proc / "vmstat"))
    return {name: int(number) for name, number in rows if name in _VM}
