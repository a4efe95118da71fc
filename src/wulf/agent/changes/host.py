"""What a change needs of its node. Tests hand in a machine of their own, clocks, and a hook that ends the process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wulf.agent.machine import Machine
    from wulf.agent.mechanism import Mechanism

STATE = "/var/lib/wulf"
"""Where a node keeps what must survive its agent; the variable WULF_STATE names another place."""


@dataclass(frozen=True)
class Host:
    """A node, as the change protocol sees it.

    Parameters
    ----------
    folder
        Journal, lock and deadlines.
    mechanisms
        Every way of writing settings, by name.
    machine
        Opens a fresh view of the machine: a view caches what it read.
    now
        Seconds since boot, the same for every process of the node, counted on while it sleeps.
    wall
        Time of day, in seconds since 1970: for people alone.
    boot
        What tells this boot from the one before.
    arm
        Makes sure of a watchdog that knows the deadlines of a serial number, as `arming.arm` does.
    step
        Told the name of every step before it is made. Tests end the process there, or have the disk be full.
    """

    folder: Path
    mechanisms: Mapping[str, Mechanism]
    machine: Callable[[], AbstractContextManager[Machine]]
    now: Callable[[], float]
    wall: Callable[[], float]
    boot: str
    arm: Callable[[Host, int], dict[str, Any]]
    step: Callable[[str], None] = lambda _: None


def live() -> Host:
    """The node that this process runs on."""
    from wulf.agent.changes.arming import arm, start_watchdog
    from wulf.agent.machine import Machine
    from wulf.agent.settings import mechanisms

    return Host(
        folder=Path(os.environ.get("WULF_STATE") or STATE) / "changes",
        mechanisms=mechanisms(),
        machine=Machine,
        now=lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        wall=time.time,
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        arm=lambda host, serial: arm(host, serial, start_watchdog),
    )


def same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are equal; numbers may differ by what a change of unit rounds off."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return bool(one == other)
