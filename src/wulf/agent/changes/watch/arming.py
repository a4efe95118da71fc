"""Starting the watchdog, and making sure that it lives and knows the deadlines, before anything is written."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wulf.agent.changes.watch.watchdog import SOCKET, within
from wulf.agent.files.durable import replace
from wulf.agent.processes.process import state

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

PATIENCE = 50.0
"""Seconds that a watchdog has to start and to answer, on a node that is under load: less than a controller waits."""
RESTART = 2.0
"""Seconds after which another one is started, where the first has ended."""
LOG, AGENT = "watchdog.log", "wulf-agent"
OPTION, PAIRED = "--watchdog", "--twin"

MOST_PAUSE = 0.2
"""Seconds between two looks whether it answers: one that is slow to start needs the CPU itself."""


class NotArmed(Exception):  # noqa: N818 - it says what is the matter
    """No watchdog could be had: nothing may be written."""


class Started(NamedTuple):
    """How a watchdog was started, in words; and its process, where that is known."""

    how: str
    pid: int | None = None


def arm(host: Host, serial: int, start: Callable[[Host], Started]) -> dict[str, Any]:
    """A watchdog that knows the deadlines of `serial`: {"pid", "serial", "until", "started"?}. Raises NotArmed.

    `start` starts one, where none lives.
    """
    host.step("arm")
    found = ask(host)
    started, again, pause = None, 0.0, 0.01
    deadline = time.monotonic() + PATIENCE
    while found is None or found["serial"] != serial:
        # One that was about to end may have been in the way. One that is slow to start gets no second beside it.
        if found is None and time.monotonic() >= again and not (started and _lives(started)):
            started, again = _start(host, start), time.monotonic() + RESTART
        if time.monotonic() > deadline:
            raise NotArmed(f"the watchdog did not answer within {PATIENCE:g} s; see {host.folder / LOG}")
        time.sleep(pause)
        found, pause = ask(host), min(2 * pause, MOST_PAUSE)
    host.step("armed")
    return {**found, "started": started.how} if started else found


def ask(host: Host) -> dict[str, Any] | None:
    """What the watchdog says of itself: {"pid", "serial", "until"}; None where none is alive."""
    with contextlib.suppress(OSError, ValueError), within(host) as folder:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(5.0)
            line.connect(f"{folder}/{SOCKET}")
            answer = b""
            while part := line.recv(4096):
                answer += part
        told: dict[str, Any] = json.loads(answer)
        return told
    return None


def _lives(one: Started) -> bool:
    """Whether its process is there, and has not ended."""
    return one.pid is not None and state(one.pid) not in (None, "Z", "X")


def _start(host: Host, start: Callable[[Host], Started]) -> Started:
    try:
        return start(host)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotArmed(f"the watchdog can't be started: {error}") from error


def start_watchdog(host: Host) -> Started:
    """Start it as a unit of systemd where that runs (it then outlives the login), else as a session of its own.

    With a twin in both: systemd does not see the end of one that is killed while it waits for a disk in the kernel.
    """
    command, environment = agent_command(agent_in(host.run), host, OPTION)
    with contextlib.suppress(OSError):  # for people, who have the other one where the disk can't be written
        agent_in(host.folder)
    if systemd_runs():
        unit = f"wulf-watchdog-{os.getpid()}-{time.monotonic_ns()}"
        words = ["systemd-run", "--quiet", "--collect", f"--unit={unit}", "--description=takes back wulf's changes"]
        words += ["--property=Restart=on-failure", "--property=RestartSec=1"]
        words += ["--property=StartLimitIntervalSec=0"]  # else the sixth kill within ten seconds ends it for good
        words += [f"--setenv={name}={value}" for name, value in environment.items()]
        done = subprocess.run(
            [*words, *command, PAIRED], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
        if done.returncode == 0:
            return Started(f"systemd unit {unit}", _main_process(unit))
    pid = _start_session([*command, PAIRED], {**os.environ, **environment}, _log(host))
    return Started("session of its own", pid)


def _main_process(unit: str) -> int | None:
    """The process of a unit of systemd; None where it has ended."""
    words = ["systemctl", "show", "--property=MainPID", "--value", unit]
    shown = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return int(shown.stdout) or None if shown.stdout.strip().isdigit() else None


def _log(host: Host) -> Path:
    """Where it says what it does: on disk, where that can be written."""
    path = host.folder / LOG
    with contextlib.suppress(OSError):
        path.touch(0o600)
        return path
    return host.run / LOG


def _start_session(command: list[str], environment: dict[str, str], log: Path) -> int:
    """As a process that belongs to nobody: what is started by a child that ends has the first process as its parent.

    Returns its number.
    """
    with log.open("ab") as said:
        done = subprocess.run(
            [sys.executable, "-c", _DETACH, *command],
            env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
            start_new_session=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    return int(done.stdout)


# What is started writes where its errors go: the pipe is the number's alone, and must end.
_DETACH = """
import os, sys
pid = os.fork()
if pid == 0:
    os.dup2(2, 1)
    os.execv(sys.argv[1], sys.argv[1:])
print(pid)
"""


def systemd_runs() -> bool:
    """Whether systemd is the first process here, and sees the same network: in a container neither need be."""
    with contextlib.suppress(OSError):
        first = Path("/proc/1/comm").read_text(encoding="ascii").strip()
        ours = all(Path(f"/proc/1/ns/{kind}").samefile(f"/proc/self/ns/{kind}") for kind in ("net", "mnt", "pid"))
        return (
            first == "systemd" and ours and Path("/run/systemd/system").is_dir() and bool(shutil.which("systemd-run"))
        )
    return False


def agent_in(folder: Path) -> Path | None:
    """A copy of the agent in a folder: where it came from may be removed, or lie on the network that a change cuts.

    By it a person can also go back by hand. None where the agent is no file. Raises OSError.
    """
    import wulf.agent

    archive = getattr(wulf.agent.__loader__, "archive", None)
    if archive is None:
        return None
    copy, content = folder / AGENT, Path(archive).read_bytes()
    if not copy.exists() or copy.read_bytes() != content:
        replace(copy, content, 0o700)
    return copy


def agent_command(copy: Path | None, host: Host, option: str) -> tuple[list[str], dict[str, str]]:
    """An agent's command with an option, and what it needs of the environment."""
    environment = {"WULF_STATE": str(host.folder.parent)}
    if copy is not None:
        return [sys.executable, str(copy), option], environment
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return [sys.executable, "-m", "wulf.agent", option], environment
