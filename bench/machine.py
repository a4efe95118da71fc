"""What the figures were taken on, beside them in results/MACHINE/machine.json."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wulf import __version__

RESULTS = Path(__file__).parent / "results"
"""A folder a machine, named by `name_of`."""

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
