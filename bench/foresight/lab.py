"""A lab whose links are set as other networks, an MPI, and what is run there."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engine.errors import BenchError
from bench.engine.places import LOOPS
from bench.mpi.building import compiled
from wulf import lab as labs
from wulf.apps import phyml
from wulf.cluster.mpi.commands import RankHost, Site, command
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.spec import WorldSpec
from wulf.model.network.figures import Network, nominal
from wulf.model.network.measured import from_loggp
from wulf.store.run import read_run
from wulf.workflow.foresight.traced import read_traced
from wulf.workflow.model.loggp import measured_of

PHYML = {"taxa": 5, "sites": 60, "bootstraps": 16, "seed": 7}
"""What phyml-mpi has to do: trees that take little computing, of which each is sent as a text of 1.9 MiB. With 4 of
them TCP's slow start, at the first, is a quarter of the run where the latency is long."""

TCP = ("net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_no_metrics_save=1")
"""On the lab's nodes, whatever this host has. bbr paces, which LogGP has no parameter for; cubic is often not allowed
to a network namespace, and does the same where nothing is lost. And what the kernel keeps of a connection that another
program had at another setting is none of this one's: after a time-out of FT's (its queue of 1 MiB at 20 Mbit/s takes
420 ms), MG's windows at 2.5 ms of delay stayed so small that it waited for delayed acknowledgements, 3.4 s in all in
place of 2.2."""

LINKS = 2
"""Links between two nodes: out of the one, and into the other."""

QUEUE = 100_000
"""Frames that a link keeps: more than TCP has on its way."""

PATIENCE = 900.0
"""Seconds for one command; the first with an MPI builds for minutes."""

BITS = 8.0
"""A byte."""

SEGMENT, HEADERS = 1448, 66
"""Bytes of a full packet that are the message's, and those of each packet that are not: Ethernet, IP, TCP and its time
stamps, which take the link's time as well."""


@dataclass(frozen=True)
class Setting:
    """How all links of the lab are set: delay of each [s], and rate [bit/s]."""

    name: str
    delay: float
    rate: float

    @property
    def both(self) -> dict[str, str]:
        """What links do in both directions, as labs take it."""
        return {"delay": f"{self.delay * 1e6:.0f}us"}

    @property
    def out(self) -> dict[str, str]:
        """What they do out of a node alone: with a rate in both, every packet would be stored and forwarded whole, so
        that a short message takes each byte's time twice, which LogGP has no parameter for. A node's own adapter keeps
        its node waiting rather than drop what it sends.
        """
        return {"rate": f"{self.rate / 1e6:g}mbit", "queue": f"{QUEUE}"}

    def changed(self, measured: Mapping[str, float], since: Setting) -> dict[str, float]:
        """What was measured at another setting, with the links' difference added: to a message's first packet its
        headers', to each byte its share of the headers'.
        """
        longer = BITS * (1 / self.rate - 1 / since.rate)
        return {
            **measured,
            "latency": max(0.0, measured["latency"] + LINKS * (self.delay - since.delay) + HEADERS * longer),
            "byte": max(0.0, measured["byte"] + (1 + HEADERS / SEGMENT) * longer),
        }


class Lab:
    """Nodes, an MPI, and what is run on them: a rank a node."""

    def __init__(self, lab: labs.Lab, mpi: str, folder: Path) -> None:
        self._lab, self._mpi, self._folder, self._inputs = lab, mpi, folder / "runs", folder / "inputs"
        for own in (self._folder, self._inputs):
            own.mkdir()
        self._program = compiled(mpi, LOOPS / "foresight.cpp")
        for node in lab.nodes:
            _output(["ssh", "-F", str(lab.ssh_config), node.name, "sysctl", "-w", *TCP])

    def set(self, setting: Setting) -> None:
        for node in self._lab.nodes:
            self._lab.set_link(node.name, setting.both)
            self._lab.set_link(node.name, setting.out, direction="out")

    def wulf(self, *words: str) -> Path:
        """Run a command of wulf's in this lab; the folder of its run."""
        out = self._folder / f"run-{len(list(self._folder.iterdir()))}"
        end = words.index("--") if "--" in words else len(words)
        self.printed(*words[:end], "--lab", "--mpi", self._mpi, "--out", str(out), *words[end:])
        return out

    def printed(self, *words: str) -> str:
        """What a command of wulf's prints."""
        return _output([sys.executable, "-m", "wulf.cli.main", *words], {"WULF_LAB": self._lab.name})

    def loggp(self) -> dict[str, float]:
        """What a message costs between two nodes, as `wulf model loggp` measures it."""
        return self.costs(self.wulf("model", "loggp", "n1", "n2", "--quick"))

    def costs(self, run: Path) -> dict[str, float]:
        """What a run of `wulf model loggp` found."""
        base, _ = from_loggp(measured_of(read_run(run)).fitted(), "this", "the lab")
        inter, _ = nominal(Network(base))
        return dict(inter)

    def trace(self, program: str) -> Path:
        """The trace of one run."""
        ranks = self._ranks(program)
        words = [f"n[1-{ranks}]", "--ranks", str(ranks), "--", *self._command(program)]
        return self.wulf("trace", *words) / "trace"

    def _ranks(self, program: str) -> int:
        return 2 if program == "ping-pong" else len(self._lab.nodes)

    def _command(self, program: str) -> list[str]:
        if program != phyml.NAME:
            return [str(self._program), program]
        job = phyml.job(_path_of("phyml-mpi"), PHYML, self._ranks(program))
        folder = Path(tempfile.mkdtemp(dir=self._inputs))
        for name, text in job.files.items():
            (folder / name).write_text(text)
        return ["env", "-C", str(folder), *job.command]

    def run(self, program: str) -> float:
        """Seconds that the program says of itself, without the tracer; or those of another trace."""
        if program == phyml.NAME:
            return read_traced(self.trace(program)).seconds or math.nan
        nodes = self._lab.nodes[: self._ranks(program)]
        site = Site(tuple(RankHost(node.name, 1, 1, "this") for node in nodes), root=True)
        mpi = Installed(self._mpi, "4", "/usr", None, f"mpirun.{self._mpi}", "", "system")
        words = command(mpi, site, WorldSpec(), *self._command(program)).argv
        return float(_output(["ssh", "-F", str(self._lab.ssh_config), nodes[0].name, shlex.join(words)]).split()[-1])


def _path_of(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise BenchError(f"{program} is not installed: install it (Debian: phyml), or name the other programs")
    return found


def _output(words: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a command prints.

    Raises
    ------
    BenchError
        It failed.
    """
    around = {**os.environ, **(environment or {})}
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False, env=around)
    if done.returncode not in (0, 1):  # 1: wulf found something that stands out
        raise BenchError(f"{shlex.join(words)} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout
