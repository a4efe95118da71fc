"""Starts the link emulator in a lab from outside: a child of the lab's first process, which ends with it.

Its standard input and output are named pipes in the lab's directory. It holds both ends of them itself, so that it
serves whoever comes, and its session ends when the lab does.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Callable

from . import linux

_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid


def main(arguments: list[str]) -> int:
    """`link PID START PROGRAM DIRECTORY`: PID and START name the lab's first process. Prints the emulator's pid."""
    pid, start, program, directory = int(arguments[0]), arguments[1], arguments[2], arguments[3]
    streams = [os.open(f"{directory}/link.{name}", os.O_RDWR) for name in ("in", "out")]
    streams.append(os.open(f"{directory}/link.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    try:
        if linux.enter(pid, start):
            linux.keep_capabilities()
    except OSError as error:
        print(f"can't enter the lab: {error.strerror or error}", file=sys.stderr)
        return 1
    print(adopt(lambda report: _become(program, streams, report)))
    return 0


def adopt(become: Callable[[socket.socket], None]) -> int:
    """Have the first process of the namespaces just joined adopt a child that calls `become`, which never returns.

    `become` sends a word over the socket that it is given. Returns the child's pid as our own namespace numbers it.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    child = os.fork()
    if child == 0:
        if os.fork() > 0:
            os._exit(0)  # the orphan becomes a child of the first process
        become(theirs)
    theirs.close()
    os.waitpid(child, 0)
    _, ancillary, _, _ = ours.recvmsg(16, socket.CMSG_SPACE(_CREDENTIALS.size))
    return int(_CREDENTIALS.unpack(ancillary[0][2][: _CREDENTIALS.size])[0])


def _become(program: str, streams: list[int], report: socket.socket) -> None:
    try:
        while os.getppid() != 1:  # a program that is a session ends when its parent changes
            time.sleep(0.001)
        os.setsid()
        os.chdir("/")
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        report.send(b"link")
        os.execve(program, [program], {"PATH": "/usr/bin:/bin"})  # noqa: S606  (no shell is meant)
    except OSError as error:
        os.write(streams[2], f"can't run {program}: {error.strerror}\n".encode())
    finally:
        os._exit(127)
