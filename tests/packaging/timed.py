"""How long installing and the first answers take: `python -m tests.packaging.timed [--times 6] [--only uv …]`.

Each way of installing on a bare Debian of its own, in random order, as often as asked; what a new user does next, after
the first way. Rewrites the table of docs/how-to/install.md. It takes what `make wheel`, `make packages ONLY=debian-12`
and `make bundle ONLY=3.11` left in dist/, root, and a machine with nothing else to do: the load is beside each figure.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.report.docs import rewrite
from bench.report.machine import fingerprint

from tests.packaging.bare import Bare, bare, tool
from wulf.core.names import plural

REPO = Path(__file__).resolve().parents[2]
PAGE, DIST = REPO / "docs/how-to/install.md", REPO / "dist"
TIMES = 6
"""From six on, the least and the most are a 95 % interval of the median."""


@dataclass(frozen=True)
class Step:
    """One line of the table: what, its limit in seconds, and what is run and timed."""

    what: str
    limit_s: float | None
    run: Callable[[Bare], object]


@dataclass(frozen=True)
class Way:
    """A way to install: what must be there before, untimed; and what is timed, one after the other."""

    name: str
    prepare: Callable[[Bare], object]
    steps: Sequence[Step]


def made(pattern: str) -> Path:
    """What make left in dist/."""
    found = sorted(DIST.glob(pattern))
    if not found:
        raise SystemExit(f"dist/ has no {pattern}: run make wheel, make packages ONLY=debian-12, make bundle ONLY=3.11")
    return found[-1]


def put(pattern: str) -> Callable[[Bare], str]:
    """Copies a file of dist/ there."""
    return lambda machine: machine.put(made(pattern))


def must(*words: str, network: bool = False) -> Callable[[Bare], str]:
    """A command that has to succeed."""
    return lambda machine: machine.must(*words, network=network)


def answer(*words: str) -> Callable[[Bare], None]:
    """A command of wulf, whose exit status says whether it found something."""

    def run(machine: Bare) -> None:
        done = machine.run("sh", "-c", f"cd /root && wulf {' '.join(words)}")
        if done.returncode not in (0, 1):
            raise SystemExit(f"wulf {' '.join(words)}: {done.returncode}\n{done.stderr}")

    return run


def put_uv(machine: Bare) -> None:
    """uv, and the wheel."""
    uv = tool("uv")
    if uv is None:
        raise SystemExit("uv is not installed")
    put("wulf-*.whl")(machine)
    machine.put(Path(uv), "usr/local/bin")


def put_pipx(machine: Bare) -> None:
    """pipx as Debian has it, and the wheel."""
    put("wulf-*.whl")(machine)
    machine.must("sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends pipx", network=True)


def rpm(machine: Bare) -> None:
    """Into the folder from outside, past dependencies."""
    machine.rpm("-i", "--nodeps", str(made("wulf-*.rpm")))


WHEEL = "/root/wulf-*.whl"
WAYS = (
    Way("uv", put_uv, [
        Step("`uv tool install wulf-*.whl`, uv there", 30,
             must("sh", "-c", f"uv tool install -q {WHEEL}", network=True)),
        Step("`wulf doctor`", None, must("wulf", "doctor")),
        Step("`wulf demo --quick`: names the slowed node", 120, answer("demo", "--quick", "--out", "demo")),
        Step("`wulf survey --lab 4 --quick`", 60, answer("survey", "--lab", "4", "--quick", "--out", "survey")),
    ]),
    Way("bundle", put("wulf-*-offline-py3.11-x86_64.tar"), [
        Step("or: the offline bundle, unpacked and installed, no network", 30,
             must("sh", "-c", "cd /root && tar -xf wulf-*.tar && wulf-*-offline-*/install")),
    ]),
    Way("deb", put("wulf_*debian12_amd64.deb"), [
        Step("or: `apt-get install ./wulf_*.deb`", 30,
             must("sh", "-c", "apt-get -qq install -y --no-install-recommends /root/wulf_*.deb")),
    ]),
    Way("rpm", lambda _: None, [Step("or: `rpm -i wulf-*.rpm` (into the same Debian, see below)", 30, rpm)]),
    Way("pipx", put_pipx, [
        Step("or: `pipx install wulf-*.whl`, pipx 1.1 there", 30,
             must("sh", "-c", f"pipx install {WHEEL}", network=True)),
    ]),
)  # fmt: skip


@dataclass(frozen=True)
class Took:
    """Seconds of one step, and the load before it."""

    seconds: float
    load: float


@contextmanager
def prepared(way: Way) -> Iterator[Bare]:
    """A bare machine on which only the installing lacks."""
    with bare("bookworm") as machine:
        way.prepare(machine)
        os.sync()  # what was copied is not to be written while something else is timed
        yield machine


def measured(ways: Sequence[Way], times: int, seed: int) -> dict[str, list[Took]]:
    """Step → what each of its runs took; every way as often as asked, in random order."""
    order = [way for way in ways for _ in range(times)]
    random.Random(seed).shuffle(order)
    took: dict[str, list[Took]] = {step.what: [] for way in ways for step in way.steps}
    for number, way in enumerate(order, 1):
        with prepared(way) as machine:
            for step in way.steps:
                load, began = os.getloadavg()[0], time.monotonic()
                step.run(machine)
                took[step.what].append(Took(time.monotonic() - began, load))
                print(f"{number} of {len(order)}: {step.what}: {took[step.what][-1]}", file=sys.stderr, flush=True)
    return took


def line(step: Step, runs: Sequence[Took]) -> str:
    """A row of the table: median and range, in bold where the limit is not met by all."""
    seconds = [one.seconds for one in runs]
    low, high = min(seconds), max(seconds)
    told = f"{median(seconds):.1f} s ({low:.1f}–{high:.1f})"
    over = step.limit_s is not None and high > step.limit_s
    limit = "–" if step.limit_s is None else f"{step.limit_s:.0f} s"
    loads = [one.load for one in runs]
    return f"| {step.what} | {limit} | {f'**{told}**' if over else told} | {min(loads):.1f}–{max(loads):.1f} |"


def table(ways: Sequence[Way], took: dict[str, list[Took]], times: int) -> str:
    """The part of the page that is made."""
    about = fingerprint()
    rows = [line(step, took[step.what]) for way in ways for step in way.steps]
    head = ["| step | limit | took: median (least–most) | load before |", "| --- | ---: | ---: | ---: |"]
    return "\n".join([
        *head, *rows, "",
        f"{datetime.now(UTC):%Y-%m-%d}, {plural(times, 'time')} each, on {about['cpus']} CPUs ({about['cpu']}).",
    ])  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.packaging.timed", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--only", choices=[way.name for way in WAYS], action="append", help="print, rewrite nothing")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    ways = [way for way in WAYS if way.name in (asked.only or [one.name for one in WAYS])]
    text = table(ways, measured(ways, asked.times, asked.seed), asked.times)
    if asked.only:
        print(text)
    else:
        rewrite(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
