""""""

from __future__ import annotations

import subprocess
import sys

from wulf.lab import state


def test_a_zombie_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        known = state.identify(process.pid)
        state.kill(known)  # returns though nobody has collected it
        assert not state.alive(known)


def test_kill_spares_a_successor_with_the_same_pid() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        state.kill({"pid": process.pid, "start": "1"})
        assert process.poll() is None
        process.communicate(b"\n")
