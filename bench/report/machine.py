"""What the figures were taken on, beside them in results/MACHINE/machine.json: the machine, and each part's own run."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wulf import __version__

"""A folder a machine, named by `name_of`."""

LASTING = ("cpu", "cpus", "kernel", "system", "virtual")
"""Of a fingerprint what is the machine's; all else is that of one run: versions, load, time."""

PARTS = "parts"
"""In machine.json: part of the bench → the run that measured it last."""

VERSIONS = {
    "sockperf": (("sockperf", "--version"), r"version (\S+)"),
    "NetPIPE": (("dpkg-query", "-W", "netpipe-tcp"), r"\s(\S+)"),  # it doesn't tell by itself
    "qperf": (("qperf", "--version"), r"qperf (\S+)"),
    "perf": (("perf", "--version"), r"version (\S+)"),
    "UCX": (("ucx_info", "-v"), r"version[ =]+(\S+)"),
    "iperf3": (("iperf3", "--version"), r"iperf (\S+)"),
}


def fingerprint() -> dict[str, Any]:
    """The machine, and the versions of all that was compared; null for what can't be told."""
    return {
        "cpu": _cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME"),
        "virtual": "hypervisor" in _text("/proc/cpuinfo"),
        "congestion control": _text("/proc/sys/net/ipv4/tcp_congestion_control").strip() or None,
        "load before": round(os.getloadavg()[0], 2),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "wulf": __version__,
        "python": platform.python_version(),
        "peers": {name: _version(command, pattern) for name, (command, pattern) in VERSIONS.items()},
    }


def kept(before: Mapping[str, Any], now: Mapping[str, Any], parts: Iterable[str]) -> dict[str, Any]:
    """What machine.json holds once these parts were measured; each other part keeps its own run.

    Parameters
    ----------
    before
        What it held; empty: nothing yet.
    now
        The run's fingerprint, and its seed.
    """
    run = {key: value for key, value in now.items() if key not in LASTING}
    known = before.get(PARTS, {})
    return {key: now.get(key) for key in LASTING} | {PARTS: {**known, **dict.fromkeys(parts, run)}}


def newest(found: Mapping[str, Any]) -> str:
    """When a part was last measured on this machine, by its machine.json."""
    return max((str(run["date"]) for run in found[PARTS].values()), default="")


def name_of(found: dict[str, Any]) -> str:
    """The name of a fingerprint's folder of results: figures of one name may stand in one table."""
    words = " ".join(str(found.get(key)) for key in ("cpu", "cpus", "kernel")).lower()
    return re.sub(r"[^a-z0-9.]+", "-", words).strip("-")


def _cpu_model() -> str | None:
    found = re.search(r"^model name\s*:\s*(.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    return found[1] if found else platform.processor() or None


def _text(path: str) -> str:
    file = Path(path)
    return file.read_text() if file.exists() else ""


def _version(command: tuple[str, ...], pattern: str) -> str | None:
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
    except OSError:
        return None
    found = re.search(pattern, output)
    return found[1] if found else None
