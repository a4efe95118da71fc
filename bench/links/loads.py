"""Loads that run over a lab's nodes while `wulf links` looks on."""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.engine.errors import BenchError
from bench.engine.places import LOOPS
from bench.links import talker
from bench.mpi.building import compiled
from wulf import lab as labs
from wulf.cluster.mpi.commands import RankHost, Site, command
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.spec import WorldSpec

MPI = "openmpi"
LOADS = ("mpi", "bulk", "requests")

BORDER = (16_000, 40_000)
"""Bytes that a rank sends to each neighbour in a step."""

SEEN_EPOCHS, LEAST_EPOCHS = range(4, 24), 4
"""Patterns of streams that lie within the window for sure, and in how many of them a pair is to have one."""

Pairs = list[tuple[str, str]]


@contextmanager
def running(lab: labs.Lab, load: str, seed: int, seconds: float) -> Iterator[None]:
    """The load runs as long as the block lasts, `seconds` at most."""
    started = _mpi(lab, seed, seconds) if load == "mpi" else _talkers(lab, load, seed)
    try:
        for one in started:
            _wait_for(one)
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def pairs(lab: labs.Lab, load: str, seed: int) -> Pairs:
    """(sender, receiver) of all that exchange much while `wulf links` looks on."""
    names = [node.name for node in lab.nodes]
    if load == "mpi":
        ring = _ring(lab, seed)
        ways = list(zip(ring, [*ring[1:], ring[0]], strict=True))
        return [*ways, *(way[::-1] for way in ways)]
    every = [(a, b) for a in names for b in names if a != b]
    if load == "requests":
        known = talker.servers(seed, names)
        return [pair for pair in every if (pair[0] in known) != (pair[1] in known)]
    sent = Counter((a, b) for a in names for epoch in SEEN_EPOCHS for b in talker.streams(seed, epoch, a, names))
    return [pair for pair in every if sent[pair] >= LEAST_EPOCHS]


def _ring(lab: labs.Lab, seed: int) -> list[str]:
    """The ranks' nodes, in order."""
    names = [node.name for node in lab.nodes]
    random.Random(seed).shuffle(names)
    return names


def _talkers(lab: labs.Lab, load: str, seed: int) -> list[subprocess.Popen[str]]:
    nodes = [f"{node.name}={node.address}" for node in lab.nodes]
    words = [sys.executable, str(Path(talker.__file__)), load, str(seed)]
    return [_started(lab, node.name, [*words, node.name, *nodes]) for node in lab.nodes]


def _mpi(lab: labs.Lab, seed: int, seconds: float) -> list[subprocess.Popen[str]]:
    """The halo exchange, a rank a node."""
    names = _ring(lab, seed)
    site = Site(tuple(RankHost(name, 1, 1, "this") for name in names), root=True)
    mpi = Installed(MPI, "4", "/usr", None, f"mpirun.{MPI}", "", "system")
    size = random.Random(seed).randint(*BORDER)
    program = [str(compiled(MPI, LOOPS / "halo.cpp")), str(size), f"{seconds:g}"]
    return [_started(lab, names[0], list(command(mpi, site, WorldSpec(), *program).argv))]


def _started(lab: labs.Lab, node: str, words: Sequence[str]) -> subprocess.Popen[str]:
    """With a terminal, so that all ends when it hangs up."""
    ssh = ["ssh", "-tt", "-F", str(lab.ssh_config), node, f"exec {shlex.join(words)}"]
    return subprocess.Popen(
        ssh, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    )


def _wait_for(one: subprocess.Popen[str]) -> None:
    assert one.stdout is not None
    said = []
    for line in one.stdout:
        if line.strip() == "talking":
            return
        said.append(line.strip())
    raise BenchError(f"a load ended before it began: {' '.join(said)[-300:]}")
