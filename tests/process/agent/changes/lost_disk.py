"""`python -m tests.process.agent.changes.lost_disk FOLDER KIND WHO`: a change is open, and its state's disk fails.

In a mount namespace of its own, with the state on a disk of its own. WHO takes it back: the watchdog, its twin once
that is killed, or a person; "agent", "stuck": the watchdog or its twin, where an agent or the watchdog is killed while
it waits for a silent disk in the kernel. Prints whether all was taken back, what a person is told, and what is open in
the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.processes import wait_until
from tests.unit.agent.changes.forked import ForkedNode, kill
from tests.unit.agent.changes.machine import START, setting
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state import deadlines
from wulf.agent.changes.status import status
from wulf.agent.changes.watch import arming
from wulf.agent.files.disk import Disk

LEASE = 3.0
"""Seconds that the controller may be silent: enough to lose the disk in."""


def mount(*words: str | Path) -> None:
    subprocess.run([*map(str, words)], check=True)


def lose(folder: Path, kind: str) -> None:
    """What becomes of the disk."""
    if kind == "read-only":  # by a copy: only the kernel itself can do that to a disk in use, after an error
        mount("cp", "-a", folder, folder.with_name("copy"))
        mount("mount", "--bind", folder.with_name("copy"), folder)
        mount("mount", "-o", "remount,bind,ro", folder)
    elif kind == "full":
        with (folder / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(1 << 16)):
                    pass
            except OSError:
                pass
    elif kind == "silent":
        mount("fsfreeze", "--freeze", folder)
    else:
        mount("umount", "--lazy", folder)


def has_a_disk(place: Path, folder: Path, kind: str) -> None:
    """A file system of its own: in memory, or, to be silent, of a kind that can be frozen."""
    if kind == "silent":
        image = place / "image"
        with image.open("wb") as file:
            file.truncate(8 << 20)
        mount("mkfs.ext4", "-q", image)
        mount("mount", "-o", "loop", image, folder)
    else:
        mount("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", folder)


def main(place: Path, kind: str, who: str) -> None:
    """One story."""
    node = ForkedNode(place)
    node.folder.mkdir()
    has_a_disk(place, node.folder, kind)
    node.disk = Disk(patience=0.5)
    apply(node.host, Request("c1", "me@head", 600.0, LEASE), [setting("mtu", 9000), setting("rings", 4096)])
    changed = node.settings.load() != START
    lose(node.folder, kind)
    try:
        goes_back(node, kind, who, changed)
    finally:
        if kind == "silent":
            subprocess.run(["fsfreeze", "--unfreeze", str(node.folder)], stderr=subprocess.DEVNULL, check=False)


def agent(node: ForkedNode) -> int:
    """One that changes more, and waits for the disk while it has the guard."""
    if (child := os.fork()) == 0:
        node.disk = Disk(patience=600.0)
        apply(node.host, Request("c1", "me@head", 600.0, LEASE), [setting("gro", False)])
    return child


def kill_when_stuck(pid: int) -> None:
    """Once one of its threads can't be killed: what that has open stays so."""
    stats = f"/proc/{pid}/task"
    wait_until(lambda: any(state(pid, int(task.name)) == "D" for task in Path(stats).iterdir()), 60)
    kill(pid)


def state(pid: int, task: int) -> str:
    try:
        return Path(f"/proc/{pid}/task/{task}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it ended after it was listed
        return ""


def goes_back(node: ForkedNode, kind: str, who: str, changed: bool) -> None:
    """Without its disk; then, with it again, there is nothing left to do."""
    if who == "agent":
        kill_when_stuck(agent(node))
    if who in ("twin", "stuck") and (pid := node.watchdog_pid()):
        kill(pid) if who == "twin" else kill_when_stuck(pid)
    told = take_back(node.host)["results"] if who == "person" else []
    back = wait_until(lambda: node.settings.load() == START, 60)
    if kind == "read-only":
        mount("mount", "-o", "remount,bind,rw", node.folder)
    elif kind == "full":
        (node.folder / "filler").unlink()
    elif kind == "silent":
        mount("fsfreeze", "--unfreeze", node.folder)
    ended = wait_until(lambda: arming.ask(node.host) is None and deadlines.load(node.host) is None, 60)
    left = [one["name"] for one in status(node.host)["open"]]
    outcomes = [one["outcome"] for one in told]
    print(json.dumps({"changed": changed, "back": back, "ended": ended, "told": outcomes, "open": left}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4])
