"""The longest time that a CPU may take to wake (PM QoS), which keeps it out of deeper sleep states.

The kernel holds to a limit for as long as somebody keeps /dev/cpu_dma_latency open with it
(Documentation/power/pm_qos_interface.rst); so the holder is a process of ours that outlives the session, and closing is
the undo. After a reboot nothing holds it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.files.durable import make_folder, replace
from wulf.agent.files.state import run_folder
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown, unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

DEVICE = "/dev/cpu_dma_latency"
NONE = "none"
_UNLIMITED_US = 2_000_000_000  # PM_QOS_CPU_LATENCY_DEFAULT_VALUE, linux/pm_qos.h
_MICROSECONDS = struct.Struct("=i")
_HOLDER = ["sleep", "infinity"]
_PATIENCE_S = 5.0


class PmQos(Mechanism):
    help = (
        "longest time (s) that a CPU may take to wake, held by a process: what = 'limit' ('none' without one), 'holder'"
    )
    optional = ("what",)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        _live(machine)
        if target.get("what") == "holder":
            return _holders()
        return _limit()

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        """Hold a limit; 'none' (or null) lets go of ours. A limit that others hold to already needs no holder."""
        _live(machine)
        if target.get("what") == "holder":
            raise Unknown("write the limit: who holds it follows")
        wanted = NONE if value is None else value
        _let_go()
        if wanted not in (NONE, _limit()):
            _hold(_as_microseconds(wanted))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        if target.get("what") == "holder":
            raise Unknown("a reboot ends every holder")
        return NONE


def _live(machine: Machine) -> None:
    if not machine.live:
        raise Unknown("a limit is a live process's: a recorded tree has none")


def _as_microseconds(seconds: Any) -> int:
    try:
        return round(float(seconds) * 1e6)
    except (TypeError, ValueError):
        raise Unknown(f"'{seconds}' is no time in seconds, nor '{NONE}'") from None


def _limit() -> float | str:
    """What the kernel holds to now, whoever asked for it; opening the device to read asks for nothing."""
    try:
        content = Path(DEVICE).read_bytes()
    except OSError as error:
        raise unreadable(error, DEVICE[1:]) from error
    if len(content) != _MICROSECONDS.size:
        raise Unknown(f"{DEVICE} holds {len(content)} bytes, not a number of {_MICROSECONDS.size}")
    (microseconds,) = _MICROSECONDS.unpack(content)
    return NONE if microseconds >= _UNLIMITED_US else float(f"{microseconds * 1e-6:.12g}")


def _holders() -> str:
    """Processes that have the device open: 'sleep (4711, ours), tuned (812)'; 'none'."""
    ours = _ours()
    found = []
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        if _holds(int(folder.name)):
            mark = ", ours" if int(folder.name) == ours else ""
            found.append(f"{_comm(int(folder.name))} ({folder.name}{mark})")
    return ", ".join(found) or NONE


def _holds(pid: int) -> bool:
    """Whether a process has the device open; False for one that has ended or may not be looked into."""
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(descriptor) == DEVICE:  # noqa: PTH115 - as it stands there, not resolved
                    return True
    return False


def _comm(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return "ended"


def _note() -> Path:
    """Where our holder's number stands, for the agent and the watchdog alike: gone with a reboot, as the holder is."""
    return run_folder() / "pmqos.pid"


def _ours() -> int | None:
    """Our holder, if it lives: a number alone may be another process's by now, which does not hold the device."""
    try:
        pid = int(_note().read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return pid if _holds(pid) and _comm(pid) == _HOLDER[0] else None


def _hold(microseconds: int) -> None:
    note = _note()
    try:
        make_folder(note.parent)
        device = os.open(DEVICE, os.O_WRONLY)
    except OSError as error:
        raise Unknown(f"{error.filename}: {error.strerror}") from error
    try:
        os.write(device, _MICROSECONDS.pack(microseconds))
        holder = subprocess.Popen(
            _HOLDER,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives this session
            pass_fds=[device],
        )
    except OSError as error:
        raise Unknown(f"{DEVICE} can't be held open: {error.strerror}") from error
    finally:
        os.close(device)
    try:
        replace(note, str(holder.pid).encode())
    except OSError as error:  # one that nobody knew of could never be ended
        holder.kill()
        holder.wait()
        raise Unknown(f"{note} can't be written: {error.strerror}") from error


def _let_go() -> None:
    """End our holder, if there is one, and wait until it has let go."""
    pid = _ours()
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE_S
        while _holds(pid):
            if time.monotonic() > deadline:
                raise Unknown(f"process {pid} was killed and still holds {DEVICE}")
            time.sleep(0.001)
        with contextlib.suppress(ChildProcessError):  # one that an earlier session started is not our child
            os.waitpid(pid, 0)
    _note().unlink(missing_ok=True)


mechanism = PmQos()
