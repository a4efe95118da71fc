"""`python -m bench.foresight [PROGRAM …]`: run times foretold in a lab, beside those that came; docs/foresight.md.

Five programs (bench/loops/foresight.cpp) and one of Debian's, phyml-mpi, are traced once at one setting of the lab's
links; LogGP is measured there, too. Their times at three other settings are predicted from that alone: a link's delay
and rate are known figures, so that a prediction changes L by the difference of the delays and G by that of the times a
byte. Then the programs are run at all settings, in turn: the five without the tracer, since they say themselves how
long they took; phyml-mpi does not, and is timed by another trace.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.calm import Calm
from bench.context import say
from bench.docs import rewritten
from bench.errors import BenchError
from bench.mpi_farm import compiled
from bench.node import LOOPS
from bench.session import Session
from wulf import lab as labs
from wulf.apps import phyml
from wulf.cluster.mpi.commands import RankHost, Site, command
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.spec import WorldSpec
from wulf.cluster.programs import find_program
from wulf.core.errors import USAGE, WulfError
from wulf.model.network.figures import Network, network_object, nominal
from wulf.model.network.measured import from_loggp
from wulf.store.run import read_run
from wulf.workflow.foresight.traced import read_traced
from wulf.workflow.model.loggp import measured_of

PAGE = Path(__file__).parent.parent / "docs" / "foresight.md"

PROGRAMS = ("ping-pong", "halo", "allreduce", "farm", "lu", phyml.NAME)

MOST_RANKS = 4
"""Each on a node of its own; fewer where there are fewer CPUs, since a rank that waits asks all the time."""

CONNECT = "connect"
"""A program that is the beginning of the five: Open MPI connects two ranks at their first message, by some 17 round
trips that no trace tells of. They are timed from there on, and what is predicted of it is taken off.
"""

PHYML = {"taxa": 5, "sites": 60, "bootstraps": 16, "seed": 7}
"""What phyml-mpi has to do: trees that take little computing, of which each is sent as a text of 1.9 MiB. With 4 of
them TCP's slow start, at the first, is a quarter of the run where the latency is long."""

TCP = ("net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_no_metrics_save=1")
"""On the lab's nodes, whatever this host has. bbr paces, which LogGP has no parameter for; cubic is often not allowed
to a network namespace, and does the same where nothing is lost. And what the kernel keeps of a connection that another
program had at another setting is none of this one's: after a time-out of FT's (its queue of 1 MiB at 20 Mbit/s takes
420 ms), MG's windows at 2.5 ms of delay stayed so small that it waited for delayed acknowledgements, 3.4 s in all in
place of 2.2."""

REPEATS = 5
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


TRACED = Setting("as traced", 500e-6, 100e6)
SETTINGS = (
    TRACED,
    dataclasses.replace(TRACED, name="latency × 10", delay=TRACED.delay * 10),
    dataclasses.replace(TRACED, name="latency ÷ 5", delay=TRACED.delay / 5),
    dataclasses.replace(TRACED, name="bandwidth ÷ 10", rate=TRACED.rate / 10),
)


@dataclass(frozen=True)
class Row:
    """One program at one setting: seconds as predicted, and of each run."""

    program: str
    setting: str
    predicted: float
    runs: tuple[float, ...]
    coverage: float

    @property
    def measured(self) -> float:
        return statistics.median(self.runs)

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


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


def predict(session: Session, trace: Path, measured: Mapping[str, float]) -> tuple[list[float], float]:
    """Seconds at each setting, and the share of the trace that the model covers."""
    loaded = session.request("load", trace=str(trace))
    networks = [network_object(setting.name, setting.changed(measured, TRACED)) for setting in SETTINGS]
    answer = session.request("replay", PATIENCE, program=loaded["program"], networks=networks, engine="a")
    return [float(run["seconds"]) for run in answer["runs"]], float(loaded["coverage"]["share"])


def contest(
    lab: Lab, session: Session, programs: Sequence[str], repeats: int, calm: Calm, say: Callable[[str], None]
) -> list[Row]:
    """Trace, predict, then run: settings in turn, each with all programs, so often as asked."""
    lab.set(TRACED)
    say("measuring what a message costs at the setting where programs are traced")
    measured = calm.measure(lab.loggp)
    say("  " + ", ".join(f"{part} {value:.3g}" for part, value in measured.items()))
    foretold = {}
    for program in (CONNECT, *programs):
        say(f"tracing {program}")
        foretold[program] = predict(session, calm.measure(partial(lab.trace, program)), measured)
    for program in programs:
        if program != phyml.NAME:
            seconds, covered = foretold[program]
            foretold[program] = [a - b for a, b in zip(seconds, foretold[CONNECT][0], strict=True)], covered
    times: dict[tuple[str, str], list[float]] = {}
    for turn in range(repeats):
        for setting in SETTINGS:
            lab.set(setting)
            for program in programs:
                say(f"running {program}, {setting.name}, {turn + 1} of {repeats}")
                times.setdefault((program, setting.name), []).append(calm.measure(partial(lab.run, program)))
    return [
        Row(program, setting.name, seconds, tuple(times[program, setting.name]), foretold[program][1])
        for program in programs
        for setting, seconds in zip(SETTINGS, foretold[program][0], strict=True)
    ]


def table(rows: Sequence[Row], ranks: int) -> str:
    """All predictions with their errors, and what they come to."""
    lines = [
        "| program | setting | predicted [s] | median of runs [s] | runs [s] | error |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        spread = f"{min(row.runs):.4g} – {max(row.runs):.4g}"
        cells = (row.program, row.setting, f"{row.predicted:.4g}", f"{row.measured:.4g}", spread, f"{row.error:+.1%}")
        lines.append(f"| {' | '.join(cells)} |")
    others = [row for row in rows if row.setting != TRACED.name]
    errors = [abs(row.error) for row in others]
    wrong = [program for program in dict.fromkeys(row.program for row in rows) if not ordered(rows, program)]
    order = f"wrong for {', '.join(wrong)}" if wrong else "right for every program"
    least = min(row.coverage for row in rows)
    lines += [
        "",
        f"{ranks} ranks. At the {len(SETTINGS) - 1} other settings: median |error| {statistics.median(errors):.1%}, "
        f"greatest {max(errors):.1%}; the order of the settings is {order}. The model covers {least:.1%} of every "
        "trace's time at least.",
    ]
    return "\n".join(lines)


def ordered(rows: Sequence[Row], program: str) -> bool:
    """Whether settings whose runs are all shorter than another's are also predicted to be."""
    own = [row for row in rows if row.program == program]
    return all(one.predicted < other.predicted for one in own for other in own if max(one.runs) < min(other.runs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all was run; 2 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.foresight", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", choices=[*PROGRAMS, []], help=", ".join(PROGRAMS))
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    most = max(2, min(MOST_RANKS, len(os.sched_getaffinity(0))))
    parser.add_argument("--ranks", type=int, default=most, help="each on a node of its own; ping-pong has 2")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of each program at each setting")
    parser.add_argument("--docs", action="store_true", help=f"put the table into docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="wulf-foresight-") as folder,
            labs.up(options.ranks, keep=False, link=TRACED.both) as up,
            Session([str(find_program("wulf-replay").path)]) as session,
        ):
            lab = Lab(up, options.mpi, Path(folder))
            chosen = options.programs or list(PROGRAMS)
            calm = Calm()
            rows = contest(lab, session, chosen, options.repeats, calm, say)
        text = f"{table(rows, options.ranks)} {calm.words}"
        print(text)
        if options.docs:
            PAGE.write_text(rewritten(PAGE.read_text(), text))
    except (BenchError, WulfError) as error:
        print(f"foresight: {error}", file=sys.stderr)
        return USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
