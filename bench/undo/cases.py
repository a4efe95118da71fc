"""`python -m bench.undo.cases CASE CONTENDER TUNED`: one trial of bench.undo, inside namespaces of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.undo.contenders import CONFIRM_S, CONTENDERS, Contender, Values

KEYS = (
    "tcp_slow_start_after_idle", "tcp_sack", "tcp_timestamps", "tcp_window_scaling", "tcp_autocorking",
    "tcp_no_metrics_save", "tcp_fin_timeout", "tcp_keepalive_time", "tcp_keepalive_intvl", "tcp_retries2",
    "tcp_syn_retries", "tcp_orphan_retries",
)  # fmt: skip
"""Settings of a network namespace, of numbers alone."""

ROOT = Path("/proc/sys/net/ipv4")

ALONE = """
set -e
mount -t tmpfs none /mnt
mkdir /mnt/upper /mnt/work /mnt/proc
mount -t overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work overlay /etc
mount -t tmpfs none /run
mount -t tmpfs none /var/log
mount -t proc proc /mnt/proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount --bind /mnt/proc/sys/net /proc/sys/net
mount -t sysfs -o ro none /sys
mkdir /run/tuned /var/log/tuned
"""
"""Writable: /proc/sys/net, which is of this network namespace; /etc, /run and /var/log, which end with the trial."""

FOREIGN = 77
"""What somebody else sets meanwhile."""


@dataclass(frozen=True)
class Seen:
    """What one trial left."""

    left: int
    """Settings that are not as they were before."""
    of: int
    foreign_kept: bool | None = None
    """Whether what somebody else set is still there; None: nobody did."""


@dataclass(frozen=True)
class Case:
    """What happens between the change and the look."""

    title: str
    happen: Callable[[Contender], None]
    foreign: bool = False


def values() -> Values:
    """What the settings are now."""
    return {f"net.ipv4.{key}": int((ROOT / key).read_text()) for key in KEYS}


def other(value: int) -> int:
    """Another value that the kernel takes."""
    return 1 - value if value in (0, 1) else value + 1


def set_foreign() -> None:
    """Somebody else changes a setting."""
    (ROOT / "tcp_fin_timeout").write_text(str(FOREIGN))


def undone(contender: Contender) -> None:
    """In order."""
    contender.begin()
    contender.applied()
    contender.undo()


def killed(contender: Contender) -> None:
    """SIGKILL once all is changed; then it is brought back."""
    contender.begin()
    contender.applied()
    contender.kill()
    contender.recover()


def killed_midway(contender: Contender) -> None:
    """SIGKILL as soon as the first setting has changed."""
    first = (ROOT / KEYS[0]).read_text()
    contender.begin()
    end = time.monotonic() + 30
    while (ROOT / KEYS[0]).read_text() == first and time.monotonic() < end:
        pass
    contender.kill()
    contender.recover()


def abandoned(contender: Contender) -> None:
    """SIGKILL, and nobody comes."""
    contender.begin()
    contender.applied()
    contender.kill()
    time.sleep(CONFIRM_S + 4)


def changed_by_another(contender: Contender) -> None:
    """Somebody else changes one of the settings before it is taken back."""
    contender.begin()
    contender.applied()
    set_foreign()
    contender.undo()


CASES = {
    "undone": Case("taken back in order", undone),
    "killed": Case("killed after the change, started again, taken back", killed),
    "midway": Case("killed after the first setting, started again, taken back", killed_midway),
    "abandoned": Case(f"killed, and nobody comes for {CONFIRM_S + 4:g} s", abandoned),
    "foreign": Case("somebody else set one meanwhile; taken back", changed_by_another, foreign=True),
}


def trial(case: Case, contender: str, tuned: str) -> Seen:
    """One trial; the namespaces are its own."""
    before = values()
    case.happen(CONTENDERS[contender](before, {key: other(value) for key, value in before.items()}, tuned))
    now = values()
    ours = [key for key in before if not (case.foreign and key.endswith(".tcp_fin_timeout"))]
    kept = now["net.ipv4.tcp_fin_timeout"] == FOREIGN if case.foreign else None
    return Seen(sum(now[key] != before[key] for key in ours), len(ours), kept)


def main(arguments: list[str]) -> None:
    """Refuses to run where it is not alone: the first process of its namespace is what `unshare` started."""
    case, contender, tuned = arguments
    if os.getpid() != 1:
        sys.exit("this changes settings: `python -m bench.undo` runs it in namespaces of its own")
    subprocess.run(["sh", "-c", ALONE], check=True)
    print(json.dumps(asdict(trial(CASES[case], contender, tuned))))


if __name__ == "__main__":
    main(sys.argv[1:])
