"""Starts a program under a seccomp filter: `python filtered.py FILTER PROGRAM…`. A static program can't be preloaded.

Kernel: Documentation/userspace-api/seccomp_filter.rst; linux/filter.h for the instructions.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import NamedTuple

FULL_QUEUE_BYTES = 777
"""Datagrams of this length find no room."""

LOAD, IF_EQUAL, IF_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
ENOBUFS = 105
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2

CALLS = {
    "x86_64": {"sendto": 44, "futex": 202, "clock_nanosleep": 230, "timerfd_settime": 286, "settimeofday": 164},
    "aarch64": {"sendto": 206, "futex": 98, "clock_nanosleep": 115, "timerfd_settime": 86, "settimeofday": 170},
}


class Rule(NamedTuple):
    """What happens to a system call whose arguments all meet the conditions: (argument, instruction, value)."""

    call: str
    conditions: tuple[tuple[int, int, int], ...]
    action: int


ANY = 0xFFFFFFFF
FILTERS = {
    "full-queue": [Rule("sendto", ((2, IF_EQUAL, FULL_QUEUE_BYTES),), FAIL | ENOBUFS)],
    # Whatever waits until a time of the wall clock is killed: FUTEX_CLOCK_REALTIME with a time-out, and
    # TIMER_ABSTIME of CLOCK_REALTIME. Relative sleeps do not follow the wall clock, clock_nanosleep(2).
    "wall-clock": [
        Rule("futex", ((1, IF_ANY_BIT, 256), (3, IF_ANY_BIT, ANY)), KILL),
        Rule("clock_nanosleep", ((0, IF_EQUAL, 0), (1, IF_ANY_BIT, 1)), KILL),
        Rule("timerfd_settime", (), KILL),
    ],
}


def instruction(code: int, value: int, otherwise: int = 0) -> bytes:
    """One struct sock_filter; a test that fails jumps over `otherwise` instructions."""
    return struct.pack("=HBBI", code, 0, otherwise, value)


def compiled(rules: list[Rule]) -> bytes:
    calls = CALLS[platform.machine()]
    program = b""
    for rule in rules:
        tests = [(0, IF_EQUAL, calls[rule.call])]  # offset 0 of struct seccomp_data: the call's number
        tests += [(16 + 8 * argument, code, value) for argument, code, value in rule.conditions]
        for i, (offset, code, value) in enumerate(tests):
            rest = 2 * (len(tests) - i - 1) + 1
            program += instruction(LOAD, offset) + instruction(code, value, rest)
        program += instruction(RETURN, rule.action)
    return program + instruction(RETURN, ALLOW)


def install(program: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(program, len(program))
    pointer = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    for words in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SECCOMP, FILTER, ctypes.c_char_p(pointer), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    install(compiled(FILTERS[sys.argv[1]]))
    os.execv(sys.argv[2], sys.argv[2:])
