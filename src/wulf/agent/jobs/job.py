"""One start of an application: a process of its own that outlives nobody, and says how the application ended.

It is started with ``python3 -c START folder-of-wulf descriptor command…``; its standard input is a pipe that whoever
wants the application ended closes. The descriptor gets one JSON object when the application has ended:
{"status", "signal", "seconds", "usage"}, or {"error"} where it could not be started.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import time
from typing import Any

from wulf.agent.mpi.supervise import adopt, die_with_parent, end_orphans, guarded, serve
from wulf.agent.processes.signals import name_of

START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from wulf.agent.jobs.job import main; sys.exit(main(sys.argv[2:]))"
)
"""Not by PYTHONPATH: the application would inherit it."""

LEFT_BEHIND = 1.0
"""Seconds that processes may last which the application started and did not wait for."""


def main(arguments: list[str]) -> int:
    """Run a command to its end, and report it on the descriptor that the first argument names.

    Nothing is left of it, even where the one that runs it is killed.
    """
    report, command = int(arguments[0]), arguments[1:]
    os.set_inheritable(report, False)
    return guarded(lambda: _run(report, command), release=[report])


def _run(report: int, command: list[str]) -> int:
    woken = adopt()
    began = time.monotonic()
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_prepare  # noqa: PLW1509
        )  # fmt: skip
    except OSError as error:
        _tell(report, {"error": f"{error.filename or command[0]}: {error.strerror}"})
        return 0
    try:
        serve(child, woken, 0.0)
        _tell(report, {**_end(child.returncode), "seconds": time.monotonic() - began, "usage": _usage()})
    finally:  # whatever is wrong with the report, nothing is left of the application
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _left(child.pid):
                os.killpg(child.pid, signal.SIGKILL)
        end_orphans(LEFT_BEHIND)
    return 0


def _prepare() -> None:
    die_with_parent()
    # a crash is reported by its signal; gigabytes of core files beside it help nobody
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _left(group: int) -> bool:
    """Whether anything is left of a process group whose leader has been waited for."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _end(returncode: int) -> dict[str, Any]:
    if returncode < 0:
        return {"status": None, "signal": name_of(-returncode)}
    return {"status": returncode, "signal": None}


def _usage() -> dict[str, float]:
    """What the application used on this node, its children included [s, B]; ranks on other nodes are not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "user": used.ru_utime, "system": used.ru_stime, "resident": used.ru_maxrss * 1024.0,
        "major_faults": used.ru_majflt, "switches": used.ru_nvcsw + used.ru_nivcsw,
    }  # fmt: skip


def _tell(descriptor: int, what: dict[str, Any]) -> None:
    with os.fdopen(descriptor, "w") as line:
        json.dump(what, line)
