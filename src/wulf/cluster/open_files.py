"""Open files for many sessions: each process that is talked to takes a descriptor for each of its three streams."""

from __future__ import annotations

import os
import resource

from wulf.core.errors import UsageError

A_SESSION = 3
MARGIN = 512
"""For what a start holds for a moment (both ends of three pipes, for as many as are started at once), and all else."""


def needed(sessions: int, held: int) -> int:
    """Descriptors for so many more sessions, where so many are held already."""
    return held + A_SESSION * sessions + MARGIN


def make_room(sessions: int) -> None:
    """Raise this process's limit so that so many more sessions can be opened.

    Raises
    ------
    UsageError
        The hard limit is below.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return
    wanted = needed(sessions, len(os.listdir("/proc/self/fd")))  # noqa: PTH208 - names alone
    if wanted <= soft:
        return
    if hard != resource.RLIM_INFINITY and wanted > hard:
        raise UsageError(
            f"{sessions} sessions need {wanted} open files, and this process may have {hard} (ulimit -Hn)",
            "raise it (limits.conf, or LimitNOFILE= of the unit), or launch by way of `gateways` in cluster.toml",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
