"""A sentry over a lab, as its tests start it; what its state holds, beside what its runs do."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from wulf import lab as labs
from wulf.sentry.harvest import of_run
from wulf.sentry.plan import read_plan
from wulf.store.reading import read_meta_file
from wulf.store.run import read_run

WULF = [sys.executable, "-m", "wulf.cli.main"]

COMMON = "[idle]\nload = 100000\nusers = true\n[budget]\nnode_minutes = 100000\nat_once = 2\nrest = 1\n"
"""A lab's load is the host's, which runs the tests."""

SYSCALL = """
[[measure]]
name = "syscall"
command = ["node", "--probe", "syscall", "--quick"]
every = 2
seconds = 3
"""
"""A measure that takes little, and is due again at once."""


def sentry(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command of the sentry's."""
    return subprocess.run(
        [*WULF, "sentry", *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        timeout=300,
    )  # fmt: skip


def incidents(state: Path) -> list[dict[str, Any]]:
    """All of them."""
    done = sentry("incidents", "--all", "--json", "--state", state)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(state: Path, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """What a state answers."""
    with closing(sqlite3.connect(state)) as db:
        return db.execute(query, tuple(values)).fetchall()


def is_sound(state: Path) -> bool:
    """By SQLite's own check of all pages and indexes."""
    return rows(state, "PRAGMA integrity_check") == [("ok",)]


def differences(state: Path, plan: Path, *, at_rest: bool) -> list[str]:
    """Where state and runs do not say the same: figures lost, there twice, or nobody's.

    Parameters
    ----------
    at_rest
        Whether all that ended has been taken in: then every whole run counts.
    """
    found, measures = [], {one.name: one for one in read_plan(plan).measure}
    for number, measure, nodes, own, folder in rows(state, "SELECT id, measure, nodes, state, run FROM measurement"):
        path = Path(folder)
        there = (path / "run.json").is_file()
        whole = there and read_meta_file(path).get("state") == "complete"
        kept = rows(
            state, "SELECT node, metric.name, at, value FROM figure JOIN metric ON metric.id = metric "
            "WHERE measurement = ?", (number,),
        )  # fmt: skip
        expected = []
        if own == "done":
            harvest = of_run(read_run(path), measures[measure], json.loads(nodes), {})
            expected = [(one.node, one.metric, one.at, one.value) for one in harvest.figures]
        elif whole and at_rest and own not in ("preempted", "failed"):
            found.append(f"{number} is {own}, and its run is whole")
        if sorted(kept) != sorted(expected):
            found.append(f"{number} ({own}) has {kept}, and its run {expected}")
    return found


def namespaces(made: labs.Lab) -> dict[str, str]:
    """Network namespace → node."""
    pids = {node.name: made._node(node.name)["process"]["pid"] for node in made.nodes}
    return {str(Path(f"/proc/{pid}/ns/net").readlink()): name for name, pid in pids.items()}


def probes_on(own: dict[str, str], programs: Sequence[str] = ("wulf-node",)) -> dict[str, list[int]]:
    """Node → its processes that measure."""
    found: dict[str, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if not Path((entry / "exe").readlink()).name.startswith(tuple(programs)):
                continue
            node = own.get(str((entry / "ns/net").readlink()))
            alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            continue
        if node and alive:
            found.setdefault(node, []).append(int(entry.name))
    return found
