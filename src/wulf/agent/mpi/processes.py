"""Whether ranks still run on this node, and whether it reaches the other nodes by ssh."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wulf.agent.processes.process import state
from wulf.agent.session import Refused

WINDOW = 32
"""Connections that are tried at the same time."""

SSH = ("ssh", "-x", "-oBatchMode=yes", "-oConnectTimeout=10")


def mpi_processes(pids: Any) -> dict[str, Any]:
    """{"op": "mpi_processes", "pids": [4711]}: each one's state letter as in proc(5), /proc/PID/stat; null: gone."""
    return {"states": {str(pid): state(int(pid)) for pid in pids}}


def mpi_reach(hosts: Any) -> dict[str, Any]:
    """{"op": "mpi_reach", "hosts": ["n2"]}: which of them ssh can't start a command on from here, and why."""
    if not isinstance(hosts, list):
        raise Refused("bad-parameter", "hosts must be a list of names", "hosts")
    with ThreadPoolExecutor(WINDOW) as pool:
        outcomes = list(pool.map(_reach, hosts))
    return {"failed": {host: outcome for host, outcome in zip(hosts, outcomes) if outcome}}


def _reach(host: str) -> dict[str, Any] | None:
    try:
        done = subprocess.run(
            [*SSH, host, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=30, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        return {"status": 127, "stderr": ["ssh is not installed there"]}
    except subprocess.TimeoutExpired:
        return {"status": 255, "stderr": ["Connection timed out"]}
    if done.returncode == 0:
        return None
    return {"status": done.returncode, "stderr": done.stderr.decode(errors="replace").splitlines()[-5:]}
