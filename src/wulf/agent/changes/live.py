"""The node that this process runs on, as the change protocol needs it."""

from __future__ import annotations

import time
from pathlib import Path

from wulf.agent.changes.host import Host
from wulf.agent.changes.watch.arming import arm, start_watchdog
from wulf.agent.changes.watch.atboot import at_boot
from wulf.agent.files.state import run_folder, state_folder
from wulf.agent.machine import Machine
from wulf.agent.settings import mechanisms


def live() -> Host:
    """The node that this process runs on."""
    return Host(
        folder=state_folder() / "changes",
        run=run_folder(),
        mechanisms=mechanisms(),
        machine=Machine,
        now=lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        wall=time.time,
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        arm=lambda host, serial: arm(host, serial, start_watchdog),
        at_boot=at_boot,
    )
