"""Runs one command on a node from outside, with the caller's standard streams and exit status."""

from __future__ import annotations

import os
import signal
import sys

from . import linux
from .node import HOME, TEMPORARY

HOMES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""Of who calls: the nodes would share them, as they share no home."""


def main(arguments: list[str]) -> int:
    """`enter PID START COMMAND …`: PID and START name the node's first process. Exit status as a shell gives it."""
    pid, start, command = int(arguments[0]), arguments[1], arguments[2:]
    try:
        if linux.enter(pid, start):
            linux.keep_capabilities()
    except OSError as error:
        print(f"can't enter the node: {error.strerror or error}", file=sys.stderr)
        return 126
    child = os.fork()  # a joined PID namespace holds children only
    if child == 0:
        _run(command)
    for number in (signal.SIGINT, signal.SIGQUIT):  # the terminal sends them to the command as well
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def _run(command: list[str]) -> None:
    linux.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.chdir("/")
    os.environ.update(HOME=HOME, TMPDIR=TEMPORARY)
    for name in HOMES:
        os.environ.pop(name, None)
    try:
        os.execvp(command[0], command)  # noqa: S606  (no shell is meant)
    except OSError as error:
        print(f"can't run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
