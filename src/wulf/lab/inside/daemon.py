"""Starts a daemon in a lab from outside: a child of the first process of the lab, or of a node, which ends with it."""

from __future__ import annotations

import os
import socket
import sys

from . import linux
from .link import adopt

_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


def main(arguments: list[str]) -> int:
    """`daemon PID START LOG HOSTNAME PROGRAM …`: PID and START name the first process that is to be the parent.

    HOSTNAME is what the daemon takes for its host's name, "-" for the parent's. The program stays in the foreground;
    what it prints is appended to LOG. Prints its pid.
    """
    pid, start, log, host, command = int(arguments[0]), arguments[1], arguments[2], arguments[3], arguments[4:]
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        linux.enter(pid, start)
    except OSError as error:
        print(f"can't enter the lab: {error.strerror or error}", file=sys.stderr)
        return 1
    print(adopt(lambda report: _become(command, output, host, report)))
    return 0


def _become(command: list[str], output: int, host: str, report: socket.socket) -> None:
    try:
        report.send(b"daemon")
        os.setsid()
        os.chdir("/")
        if host != "-":
            linux.unshare(linux.NEW_UTS)
            linux.set_host_name(host)
        nothing = os.open("/dev/null", os.O_RDWR)
        for number, fd in enumerate((nothing, output, output)):
            os.dup2(fd, number)
        os.closerange(3, 256)
        os.execve(command[0], command, _ENVIRONMENT)  # noqa: S606  (no shell is meant)
    except OSError as error:
        os.write(output, f"can't run {command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)
