"""`python -m bench.links`: faults planted in a lab under load, and quiet windows; what `wulf links` says.

Each window: a load starts, perhaps with a fault, `wulf links` looks on, and what it says stands out is held against
what was planted. Rewrites the table of docs/how-it-works/links.md; the windows themselves are bench/data/links.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from bench.engine.errors import BenchError, told
from bench.engine.places import DATA, DOCS
from bench.links import faults, loads, table
from bench.report import machine
from bench.report.docs import rewrite
from wulf import lab as labs
from wulf.cli.net import links
from wulf.core.errors import FOUND, OK
from wulf.measure.net.traffic import PRESSURE
from wulf.store.run import Run, read_run

PAGE, FILE = DOCS / "how-it-works" / "links.md", DATA / "links.json"
SEED = 20261129
NODES = 5
PLANTED, QUIET, HOGGED = 60, 78, 3
WINDOW = "24s"
CONTROL = "reno"
"""Of congestion, on the nodes: a network namespace is often not allowed cubic, which does the same on paths this short;
bbr, which some hosts have, fills a queue until it overflows, with nothing planted."""

SETTLE_S = 1.0
"""From the load's start to the first poll."""

LONGEST_S = 120.0
"""For which the load runs at most."""


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 the goals are met, 1 they are not, 2 no lab could be made or a load did not run."""
    parser = argparse.ArgumentParser(prog="python -m bench.links", description="The table of how-it-works/links.md.")
    parser.add_argument("--planted", type=int, default=PLANTED, help="windows with a fault of the network")
    parser.add_argument("--quiet", type=int, default=QUIET, help="windows without")
    parser.add_argument("--hogged", type=int, default=HOGGED, help="windows in which something takes the CPUs")
    parser.add_argument("--load", choices=loads.LOADS, action="append", help="this one alone [all]")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--keep", type=Path, help="the runs, for those who want to look at them")
    parser.add_argument("--file", type=Path, default=FILE, help="where the windows are kept")
    parser.add_argument("--docs", action="store_true", help="measure nothing: the page from what is kept")
    asked = parser.parse_args(arguments)
    if not asked.docs:
        _measure(asked)
    kept = json.loads(asked.file.read_text())
    if asked.file == FILE:
        rewrite(PAGE, table.page(kept))
    else:
        print(table.page(kept))
    return OK if all(claim.interval[0] >= table.GOALS[name] for name, claim in table.totals(kept["windows"])) else FOUND


def order(
    planted: int, quiet: int, hogged: int, seed: int, used: Sequence[str] = loads.LOADS
) -> list[tuple[str, str | None, int]]:
    """(load, kind of fault or none, seed) of every window, loads and kinds evenly, in random order."""
    kinds = [faults.KINDS[i // len(used) % len(faults.KINDS)] for i in range(planted)]
    every: list[str | None] = [*kinds, *[None] * quiet, *[faults.HOG] * hogged]
    found = [(load, kind) for kind, load in zip(every, itertools.cycle(used))]
    random.Random(seed).shuffle(found)
    return [(load, kind, seed + number) for number, (load, kind) in enumerate(found)]


def _measure(asked: argparse.Namespace) -> None:
    """The windows, kept after each, so that an interrupt loses none."""
    planned = order(asked.planted, asked.quiet, asked.hogged, asked.seed, asked.load or loads.LOADS)
    about = {"machine": machine.fingerprint(), "at": f"{datetime.now(UTC):%Y-%m-%d}", "seed": asked.seed,
             "nodes": NODES, "window": WINDOW, "link": faults.HEALTHY}  # fmt: skip
    windows: list[dict[str, Any]] = []
    with made() as lab, ExitStack() as stack:
        folder = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for number, (load, kind, seed) in enumerate(planned):
            began = time.monotonic()
            windows.append(window(lab, load, kind, seed, folder / f"{number:03}"))
            asked.file.write_text(_text({**about, "windows": windows}))
            print(f"{number + 1} of {len(planned)}, {time.monotonic() - began:.0f} s: {windows[-1]}", flush=True)


def _text(kept: dict[str, Any]) -> str:
    """A line a window, so that a difference can be read."""
    windows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept["windows"])
    head = json.dumps({name: value for name, value in kept.items() if name != "windows"}, ensure_ascii=False)
    return f'{head[:-1]}, "windows": [\n{windows}\n]}}\n'


@contextmanager
def made() -> Iterator[labs.Lab]:
    """The lab, up; BenchError where its nodes can't have networks of their own."""
    with labs.up(nodes=NODES, link=faults.HEALTHY, keep=False) as lab:
        if lab.backend != "netns":
            raise BenchError(f"the lab's nodes share this machine's network ({lab.backend}): it takes namespaces")
        for node in lab.nodes:
            faults.on(lab, node.name, f"sysctl -qw net.ipv4.tcp_congestion_control={CONTROL}")
        yield lab


def window(lab: labs.Lab, load: str, kind: str | None, seed: int, out: Path) -> dict[str, Any]:
    """One window: what was planted, what was found, and how late the hosts were."""
    pairs = loads.pairs(lab, load, seed)
    fault = faults.drawn(kind, pairs, random.Random(seed)) if kind else None
    with faults.planted(lab, fault), loads.running(lab, load, seed, LONGEST_S):
        time.sleep(SETTLE_S)
        run = _looked(lab, out)
    found = faults.accused(run.findings)
    return {
        "load": load, "fault": fault.to_json() if fault else None, "outcome": faults.outcome(fault, found),
        "accused": found, "pressure": _pressure(run), "seed": seed,
    }  # fmt: skip


def _looked(lab: labs.Lab, out: Path) -> Run:
    """What the command itself makes of it; in this process, which has its modules already."""
    os.environ["WULF_LAB"] = lab.name
    with redirect_stdout(StringIO()) as said, redirect_stderr(said):
        code = links.command.main(
            ["--lab", "--for", WINDOW, "--out", str(out)], prog_name="wulf links", standalone_mode=False
        )
    if code not in (OK, FOUND):
        raise BenchError(f"wulf links ended with {code}: {said.getvalue()[-500:]}")
    return read_run(out)


def _pressure(run: Run) -> float | None:
    """The median over nodes of the share of the time in which a task waited for a CPU."""
    found = sorted(one.value for one in run.records if one.metric == PRESSURE and one.value is not None)
    return round(found[len(found) // 2], 3) if found else None


if __name__ == "__main__":
    sys.exit(main())
