"""Runs a command that is killed when the process that started it ends, however that ends: prctl(2), PR_SET_PDEATHSIG.

    python -S tied.py PARENT WORD...

A program of its own, for what a child does before its program begins must not be Python where the parent has threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Tie, and become the command."""
    parent, words = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == parent:  # it may have ended before it could be heard of
        os.execv(words[0], words)  # noqa: S606 - our own words


if __name__ == "__main__":
    main()
