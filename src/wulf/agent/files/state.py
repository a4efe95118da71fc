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


def state_folder() -> Path:
    """For what must survive a boot."""
    return Path(os.environ.get("WULF_STATE") or STATE)


def run_folder() -> Path:
    """For what holds for one boot; with a state elsewhere, its folder `run`."""
    state = state_folder()
    return RUN if state == STATE else state / "run"
