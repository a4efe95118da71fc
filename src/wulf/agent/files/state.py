"""Where a node keeps what wulf knows of it, the same for the agent and for all that it starts."""

from __future__ import annotations

import os
from pathlib import Path

STATE = Path("/var/lib/wulf")
"""What must survive a boot; the variable WULF_STATE names another place."""
RUN = Path("/run/wulf-changes")
"""What holds for one boot: in memory, which no disk that fails takes away.

Not in /run/wulf: where rates are measured by a timer, that belongs to an account which is not root.
"""


def own_cache() -> Path:
    """For what can be had again: wulf's folder below $XDG_CACHE_HOME, unless that is relative, else ~/.cache.

    As ssh's scripts have it, and `wulf.core.places`, which does not travel with the agent.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path(os.path.expanduser("~"), ".cache")) / "wulf"  # noqa: PTH111


def state_folder() -> Path:
    """For what must survive a boot."""
    return Path(os.environ.get("WULF_STATE") or STATE)


def run_folder() -> Path:
    """For what holds for one boot; with a state elsewhere, its folder `run`."""
    state = state_folder()
    return RUN if state == STATE else state / "run"
