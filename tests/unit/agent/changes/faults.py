"""Faults at every step of a change: kill -9, failing disks, reboots, a clock that is set, a turned bit, meddlers.

Each run is a campaign of real processes on a machine whose settings live in a file. Afterwards a new agent looks: each
setting is as before, or the journal says so; and what somebody else has set is left. `python -m
tests.unit.agent.changes.faults --runs 420` is the campaign of `make change-faults`; the tests have a short form.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from tests.unit.agent.changes.forked import ForkedNode, in_child, kill, kill_at_once
from tests.unit.agent.changes.machine import LASTING, START, FakeNode, setting
from wulf.agent.changes import keep
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.host import Host
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.state.journal import NAME
from wulf.agent.changes.state.lines import Damaged
from wulf.agent.changes.status import status
from wulf.agent.files.disk import Disk

KINDS = (
    "agent", "watchdog", "both", "all", "watchdog, on the way back", "full disk", "read-only disk", "disk gone",
    "slow disk", "silent disk", "turned bit", "bit turned, and booted", "clock step", "reboot", "third party",
    "second controller",
)  # fmt: skip
"""Whom a kill -9 ends: the agent, the watchdog, both, all, with the watchdog's twin; or what else happens."""
DISKS = {"full disk": errno.ENOSPC, "read-only disk": errno.EROFS, "slow disk": 0, "silent disk": 0}
IN_MEMORY = ("lock", "deadlines")
"""Written there: the memory is full as well, where a disk is."""
CONFIRM, LEASE = 0.15, 0.3
"""Seconds. On a machine that is slower than this the node takes back what is fine: another course, the same claims."""
HANGS = 60.0
FOREIGN = 1234

FIRST = [
    setting("mtu", 9000),
    setting("rings", 99999, high=4096),
    setting("channels", 8, zeroes=["affinity"], resets=["affinity"]),
]
SECOND = [
    setting("gro", False, place="eth1"),
    setting("mtu", 4000),
    setting("affinity", 5),
    setting(LASTING, "always", "", mechanism="lasting"),
]
UNDONE = ["nic.mtu", "nic.rings", "nic.channels", "nic.affinity", "nic.word"]
WATCHED = (
    "agent", "watchdog", "both", "watchdog, on the way back", "read-only disk", "disk gone", "slow disk", "silent disk",
    "turned bit", "clock step", "third party", "second controller",
)  # fmt: skip
"""After which somebody still watches."""
WINDOW = (
    "journal write", "half of journal write", "journaled write", "write", "wrote", "journal undoing",
    "half of journal undoing", "journaled undoing", "write back", "written back", "restore",
)  # fmt: skip
"""Steps between reading, writing and reading back: what somebody else sets just then can't be told from what we set."""


def campaign(node: ForkedNode) -> None:
    """A controller's campaign: two changes, each confirmed by another session; one setting kept, the rest undone."""
    me = Request("c1", "me@head", CONFIRM, LEASE)
    for wanted in (FIRST, SECOND):
        change = apply(node.host, me, wanted)["change"]
        if in_child(lambda change=change: keep.confirm(node.host, "c1", change)) != 0:
            return
    keep.renew(node.host, "c1")
    keep.keep(node.host, "c1", ["nic.gro"])
    take_back(node.host, "c1", UNDONE)
    keep.end(node.host, "c1")


@dataclass
class Outcome:
    """What a run has shown.

    Parameters
    ----------
    wrong
        Claims that did not hold: none, or the protocol is broken.
    told
        Outcomes of the new agent's way back.
    """

    kind: str
    step: str = ""
    wrong: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)


class Run:
    """One campaign with one fault, and what a new agent finds."""

    def __init__(self, folder: Path, kind: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.node = ForkedNode(folder)
        self.node.disk = Disk(patience=CONFIRM / 3 if kind == "silent disk" else HANGS)
        self.outcome = Outcome(kind)
        self.kind = kind
        self.foreign: tuple[str, str] | None = None
        self.at = 0
        self.broken, self.lost = folder / "broken", folder / "lost"

    def __call__(self, at: int) -> Outcome:
        """Run it; `at` is the number of the step at which the fault comes."""
        self.at = at
        self.node.act = self.fault
        self.node.watchdog_act = self.disk_fails
        if self.kind == "watchdog, on the way back":
            self.node.act = lambda number, _: number == self.at and kill(os.getpid())
            last = self.random.randrange(40)
            self.node.watchdog_act = lambda number, _: number == last and kill(os.getpid())
        in_child(lambda: campaign(self.node))
        names = self.node.names()
        self.outcome.step = names[self.at] if self.at < len(names) else "none"
        self.wait_for_watchdog()
        self.mend()
        self.look()
        return self.outcome

    def fault(self, number: int, name: str) -> None:
        """What happens at the step chosen, and for a full disk at all that follow."""
        if number >= self.at and self.kind in DISKS:
            self.broken.touch()
        self.disk_fails(number, name)
        if number != self.at:
            return
        if self.kind in ("watchdog", "both") and (pid := self.node.watchdog_pid()):
            kill(pid)
        if self.kind in ("all", "reboot", "bit turned, and booted"):
            kill_at_once(self.node.watchdog_pids())
        if self.kind == "disk gone" and (self.node.folder / NAME).exists():  # back without it, it is refused
            self.node.folder.rename(self.lost)
            self.node.folder.mkdir()
        if self.kind == "clock step":
            self.node.wall = lambda: -1e9
        if self.kind in ("turned bit", "bit turned, and booted"):
            self.turn_a_bit()
        if self.kind == "third party":
            place, key = self.random.choice([("eth0", "mtu"), ("eth0", "rings"), ("eth1", "gro"), ("eth0", "channels")])
            self.node.settings.set(place, key, FOREIGN)
            (self.node.folder.parent / "foreign").write_text(f"{place} {key}")
        if self.kind == "second controller":
            self.meddle()
        if self.kind in ("agent", "both", "all", "turned bit", "bit turned, and booted", "reboot") or (
            self.kind == "third party" and self.random.random() < 0.5
        ):
            kill(os.getpid())

    def disk_fails(self, _: int, name: str) -> None:
        """What a disk does to whoever writes to it, once it is broken."""
        meant = "journal " in name or (self.kind == "full disk" and name in IN_MEMORY)
        if not (meant and self.broken.exists()):
            return
        if self.kind == "slow disk":
            time.sleep(CONFIRM / 2)
        elif self.kind == "silent disk":
            while self.broken.exists() and threading.current_thread() is not threading.main_thread():
                time.sleep(CONFIRM / 10)
        else:
            number = DISKS[self.kind]
            raise OSError(number, os.strerror(number))

    def mend(self) -> None:
        """The disk works again, is there again; or the node has booted."""
        self.broken.unlink(missing_ok=True)
        if self.lost.exists():
            shutil.rmtree(self.node.folder)
            self.lost.rename(self.node.folder)
        if self.kind == "bit turned, and booted":
            self.node.act = lambda *_: None
            with contextlib.suppress(Damaged):
                self.node.reboot()
        if self.kind == "reboot":
            self.node.act = lambda *_: None
            self.node.reboot()
            self.claim(self.node.value(LASTING, "") == START[""][LASTING], "a boot left what the one before had kept")

    def turn_a_bit(self) -> None:
        path = self.node.folder / NAME
        if path.exists() and path.stat().st_size:
            data = bytearray(path.read_bytes())
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            path.write_bytes(bytes(data))

    def meddle(self) -> None:
        """Another controller asks at this moment: it may have the node only where the first one does not hold it."""
        held = deadlines.alive(self.node.host)
        other = FakeNode(self.node.file.parent)
        other.step = lambda _: None  # type: ignore[method-assign]

        def ask() -> None:
            os.closerange(3, 256)
            host = replace(other.host, now=self.node.clock_now)
            with mock.patch.object(lock, "PATIENCE", 0.02):
                apply(host, Request("c2", "you@desk", CONFIRM, LEASE), [setting("swappiness", 1, "")])
                take_back(host, "c2")
                keep.end(host, "c2")

        if in_child(ask) == 0 and held and deadlines.alive(self.node.host):
            (self.node.folder.parent / "let-in").write_text("")

    def wait_for_watchdog(self) -> None:
        began = time.monotonic()
        while not self.node.nobody_watches():
            now = time.monotonic() - began
            if self.kind == "turned bit" and now > 4 * LEASE and status(self.node.host)["journal"]:
                kill_at_once(self.node.watchdog_pids())  # it waits for whoever puts the journal right
            if now > HANGS:
                self.outcome.wrong.append("the watchdog does not end")
                return
            time.sleep(0.005)

    def look(self) -> None:
        """As a new agent, whom nothing disturbs."""
        self.node.act = lambda *_: None
        host, before = self.node.host, self.node.settings.load()
        folder = self.node.folder.parent
        note = folder / "foreign"
        self.foreign = tuple(note.read_text().split()) if note.exists() else None  # type: ignore[assignment]
        self.claim(not (folder / "let-in").exists(), "a second controller changed a node that another held")
        found = status(host)
        damaged = bool(found["journal"])
        said = {(each["place"], each["name"]) for each in (*found["open"], *found["left"])}
        for place, key in self.different(before):
            if before[place][key] == FOREIGN:
                continue
            self.claim(
                damaged or (place, f"nic.{key}") in said or key == "affinity", f"{key} of {place} changed, unsaid"
            )
        if found["open"] and not all(each["kept"] for each in found["open"]):
            self.claim(bool(found["problems"]), "open changes that nobody watches, and no word of it")
        if self.kind in WATCHED:
            rest = [each["name"] for each in found["open"] if not each["kept"] and each["outcome"] is not None
                    and self.foreign != (each["place"], each["name"].partition(".")[2])]  # fmt: skip
            self.claim(not rest, f"the watchdog left {rest} changed")
        if damaged:
            self.refuses(before)
        else:
            self.goes_back(host)

    def refuses(self, before: dict[str, Any]) -> None:
        self.outcome.told["refused: damaged"] += 1
        with contextlib.suppress(Damaged):
            take_back(self.node.host)
            self.claim(False, "a damaged journal was acted on")
        self.claim(self.node.settings.load() == before, "a damaged journal, and something was written")

    def goes_back(self, host: Host) -> None:
        told = take_back(host)["results"]
        unclear = [each for each in told if each["outcome"] == "unconfirmed"]
        clamped_or_theirs = {"nic.rings", f"nic.{self.foreign[1]}" if self.foreign else ""}
        self.claim({each["name"] for each in unclear} <= clamped_or_theirs, f"unconfirmed: {unclear}")
        told += take_back(host, force=True)["results"]
        self.outcome.told.update(each["outcome"] for each in told)
        left = {(each["place"], each["name"]) for each in status(host)["left"]}
        for place, key in self.different(self.node.settings.load()):
            foreign = (place, key) == self.foreign
            self.claim(foreign or (key == "affinity" and bool(left)), f"{key} of {place} is not as before")
            if foreign and (place, f"nic.{key}") not in left:
                self.outcome.told["set by another, never ours"] += 1
        self.claim(not status(host)["open"], "something is open at the end")
        forced = {each["name"] for each in unclear}  # asked for by force, it is overwritten
        seen = not any(self.outcome.step.startswith(each) for each in WINDOW)
        if self.foreign and seen and f"nic.{self.foreign[1]}" not in forced:
            place, key = self.foreign
            self.claim(self.node.value(key, place) == FOREIGN, f"{key} of {place}, set by another, was overwritten")
        keep.end(host, (status(host)["lock"] or {"campaign": "c1"})["campaign"])

    def different(self, values: dict[str, Any]) -> list[tuple[str, str]]:
        return [(place, key) for place in START for key in START[place] if values[place][key] != START[place][key]]

    def claim(self, holds: bool, what: str) -> None:
        if not holds:
            self.outcome.wrong.append(what)


def length_of_a_campaign(folder: Path) -> int:
    """Steps of a campaign without a fault, which ends with one setting kept and the others as before."""
    node = ForkedNode(folder)
    with mock.patch(f"{__name__}.CONFIRM", HANGS), mock.patch(f"{__name__}.LEASE", HANGS):
        done = in_child(lambda: campaign(node))
    found = status(node.host)
    if done != 0 or [each["name"] for each in found["open"]] != ["nic.gro"] or found["problems"]:
        raise AssertionError(f"a campaign without a fault ended with {done}: {found}")
    return len(node.names())


def run_all(count: int, seed: int) -> list[Outcome]:
    """So many runs: kinds of fault in turn, steps at random."""
    steps = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="wulf-faults-", dir="/dev/shm") as base:
        length = length_of_a_campaign(make_folder(base, "clean"))
        return [
            Run(make_folder(base, str(number)), KINDS[number % len(KINDS)], seed + number)(steps.randrange(length))
            for number in range(count)
        ]


def run_every_step(kind: str, seed: int, stride: int = 1) -> list[Outcome]:
    """A run for each step of a campaign, or for every `stride`-th."""
    with tempfile.TemporaryDirectory(prefix="wulf-faults-", dir="/dev/shm") as base:
        length = length_of_a_campaign(make_folder(base, "clean"))
        return [Run(make_folder(base, str(at)), kind, seed + at)(at) for at in range(0, length, stride)]


def make_folder(base: str, name: str) -> Path:
    made = Path(base) / name
    made.mkdir()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=420)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--every-step", action="store_true", help="kill -9 of agent, of both, and of all, at each step as well"
    )
    given = parser.parse_args()
    outcomes = run_all(given.runs, given.seed)
    for kind in ("agent", "both", "all") if given.every_step else ():
        outcomes += run_every_step(kind, given.seed)
    for kind in KINDS:
        told = sum((each.told for each in outcomes if each.kind == kind), Counter())
        words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(told.items())) or "nothing left to undo"
        print(f"{kind:26} {sum(each.kind == kind for each in outcomes):4} runs; a new agent found: {words}")
    wrong = [f"{each.kind} at '{each.step}': {what}" for each in outcomes for what in each.wrong]
    print("\n".join(wrong) or f"{len(outcomes)} runs, {len({each.step for each in outcomes})} steps: not one setting "
          "left changed without saying so")  # fmt: skip
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
