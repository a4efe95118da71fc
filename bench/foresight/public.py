"""`python -m bench.foresight.public PROGRAMS.toml [PROGRAM …]`: public programs foretold in a lab, beside their runs.

Or `python -m bench.foresight.public ladder [KERNEL …]`: kernels of bench/loops/ladder.cpp, for the cause of an error.

PROGRAMS.toml has a table `programs.NAME` for each, with `argv` and perhaps `cwd`; programs are built elsewhere. Each is
traced several times, on two nodes of a lab, and predicted by `wulf predict` for three other settings of the lab's links
from what `wulf model loggp` measured there, with the difference that the links make. All are run at all settings, too,
in a random order, and timed by a trace of that run: from MPI_Init to the last call's end. Traces and runs take turns:
how fast a machine computes differs by more over half an hour than from one run to the next.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.engine.calm import ATTEMPTS, Calm
from bench.engine.context import say
from bench.engine.errors import BenchError, told
from bench.engine.places import LOOPS
from bench.engine.programs import listed, picked
from bench.foresight.lab import BITS, HEADERS, LINKS, Lab, Setting
from bench.foresight.rows import Row, ordered
from bench.mpi.building import compiled
from wulf import lab as labs
from wulf.workflow.foresight.traced import read_traced

TRACED = Setting("as traced", 500e-6, 100e6)
SETTINGS = (
    TRACED,
    Setting("latency × 5", 2500e-6, 100e6),
    Setting("latency ÷ 5", 100e-6, 100e6),
    Setting("bandwidth ÷ 5", 500e-6, 20e6),
)
RANKS = 2

ALONE = (
    *("sh", "-c", 'export OMPI_MCA_mpi_event_tick_rate=1; exec taskset -c "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"'),
    "sh",
)
"""Each rank on a CPU of its own, as on two machines: two that poll on one have it by turns of 10 ms where the kernel's
clock ticks 100 times a second, and stay there, since the other CPU is never idle for long. And Open MPI looks at TCP in
every round: else one run in 24, whatever the program, has a rank that looks every 10 ms (wulf.trace.ticks)."""

LADDER = "ladder"
KERNELS = (
    "ping-pong", "both-ways", "both-ways-medium", "both-ways-large", "sendrecv", "chain", "itself", "waitall",
    "late-eager", "late-large", "busy", "allreduce", "gradients",
)  # fmt: skip
"""From a round trip to what conjugate gradients exchange: the first that errs names what the model lacks."""

LARGE = 0.15
"""An error that misleads."""


@dataclass(frozen=True)
class Foretold:
    """A program's run time at a setting [s], and its 95 % interval."""

    seconds: float
    low: float
    high: float


@dataclass(frozen=True)
class Spread(Row):
    """A row whose prediction has an interval."""

    low: float
    high: float

    @property
    def held(self) -> bool:
        """Whether the interval holds the median run."""
        return self.low <= self.measured <= self.high


def ladder(mpi: str) -> dict[str, Mapping[str, Any]]:
    """The kernels as programs."""
    program = compiled(mpi, LOOPS / "ladder.cpp")
    return {kernel: {"argv": [str(program), kernel]} for kernel in KERNELS}


def expression(setting: Setting, latency: float) -> str:
    """What `wulf predict` is to change of the measured network for that setting.

    Parameters
    ----------
    latency
        As measured at the setting of the traces [s].
    """
    parts = ""
    if setting.rate != TRACED.rate:
        parts += f"*bandwidth={setting.rate / TRACED.rate:g}"
    headers = HEADERS * BITS * (1 / setting.rate - 1 / TRACED.rate)  # of each packet, and so of each small message
    longer = LINKS * (setting.delay - TRACED.delay) + headers
    if longer > 0:
        return f"{parts}+latency={longer * 1e6:.6g}us" + (f"+gap={headers * 1e6:.6g}us" if headers else "")
    return f"{parts}*latency={max(0.0, 1 + longer / latency):.6g}" if longer else parts


def seconds_of(run: Path) -> float:
    """That a traced program took."""
    seconds = read_traced(run / "trace").seconds
    if seconds is None:
        raise BenchError(f"{run}: its trace does not say how long the program took")
    return seconds


class Programs:
    """The programs, in a lab."""

    def __init__(self, lab: Lab, programs: Mapping[str, Mapping[str, Any]]) -> None:
        self._lab, self._programs = lab, programs

    def trace(self, program: str) -> Path:
        """The run of a trace of it, without the network: that is measured once for all."""
        own = self._programs[program]
        command = ["env", "-C", str(own["cwd"]), *own["argv"]] if own.get("cwd") else list(own["argv"])
        return self._lab.wulf("trace", "n[1-2]", "--ranks", str(RANKS), "--no-network", "--", *ALONE, *command)

    def predicted(self, traces: Sequence[Path], network: Path, latency: float) -> dict[str, Any]:
        """`wulf predict`'s answer for all settings, from traces of one program."""
        candidates = [f"this{expression(setting, latency)}" for setting in SETTINGS[1:]]
        options = [word for one in candidates for word in ("--network", one)]
        answer: dict[str, Any] = json.loads(
            self._lab.printed("predict", *map(str, traces), "--baseline", str(network), *options, "--json")
        )
        return answer


def foretold(answer: Mapping[str, Any]) -> dict[str, Foretold]:
    """Setting → what an answer of `wulf predict` says of it."""
    seconds = [answer["baseline"]["seconds"], *(one["seconds"] for one in answer["candidates"])]
    return {
        setting.name: Foretold(one["value"], one["low"], one["high"])
        for setting, one in zip(SETTINGS, seconds, strict=True)
    }


def contest(
    lab: Lab, programs: Programs, names: Sequence[str], traces: int, repeats: int, calm: Calm, seed: int, kept: Path
) -> list[Spread]:
    """Measure the network; trace all, and run all at all settings, in a random order each time; then predict."""
    lab.set(TRACED)
    say("measuring what a message costs at the setting where programs are traced")
    network = calm.measure(partial(lab.wulf, "model", "loggp", "n1", "n2", "--quick"))
    latency = lab.costs(network)["latency"]
    draw = random.Random(seed)
    found: dict[str, list[Path]] = {name: [] for name in names}
    times: dict[tuple[str, str], list[float]] = {}
    turns = max(traces, repeats)
    for turn in range(turns):
        wanted = [*(SETTINGS if turn < repeats else ()), *([None] if turn < traces else [])]  # None: to be traced
        for setting in draw.sample(wanted, len(wanted)):
            lab.set(setting or TRACED)
            for name in draw.sample(list(names), len(names)):
                say(f"{turn + 1} of {turns}: {name}, {setting.name if setting else 'a trace'}")
                run = calm.measure(partial(programs.trace, name))
                if setting is None:
                    found[name].append(run)
                else:
                    times.setdefault((name, setting.name), []).append(seconds_of(run))
    expected, covered = {}, {}
    for name in names:
        answer = programs.predicted(found[name], network, latency)
        (kept / f"{name}.json").write_text(json.dumps(answer))
        expected[name], covered[name] = foretold(answer), answer["coverage"]["share"]
        off = answer["calibration"]["error"]
        say(f"{name}: {answer['calibration']['measured']:.3g} s, replayed {off:+.1%}, engine {answer['engine']}")
    return [
        Spread(name, setting.name, one.seconds, tuple(times[name, setting.name]), covered[name], one.low, one.high)
        for name in names
        for setting in SETTINGS
        for one in [expected[name][setting.name]]
    ]


def table(rows: Sequence[Spread]) -> str:
    """All predictions with their errors, and what they come to."""
    lines = [
        "| program | setting | predicted [s] | 95 % interval | median of runs [s] | runs [s] | error | held |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        cells = (
            row.program, row.setting, f"{row.predicted:.4g}", f"{row.low:.4g} – {row.high:.4g}", f"{row.measured:.4g}",
            f"{min(row.runs):.4g} – {max(row.runs):.4g}", f"{row.error:+.1%}", "yes" if row.held else "no",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", summary(rows)])


def summary(rows: Sequence[Spread]) -> str:
    """What the errors come to: those of the settings that were not traced at, and of the traced one apart."""
    others = [row for row in rows if row.setting != TRACED.name]
    errors, own = ([abs(row.error) for row in some] for some in (others, [r for r in rows if r not in others]))
    held, bad = sum(row.held for row in others), sum(error > LARGE for error in errors)
    wrong = [program for program in dict.fromkeys(row.program for row in rows) if not ordered(rows, program)]
    order = f"wrong for {', '.join(wrong)}" if wrong else "right for every program"
    return (
        f"{len(own)} programs, {RANKS} ranks. At the {len(SETTINGS) - 1} other settings: median |error| "
        f"{statistics.median(errors):.1%}, greatest {max(errors):.1%}, {bad} of {len(errors)} above {LARGE:.0%}; "
        f"intervals hold {held} of {len(others)} runs; the order of the settings is {order}. At the traced setting: "
        f"median |error| {statistics.median(own):.1%}, greatest {max(own):.1%}."
    )


@contextmanager
def _kept(folder: Path | None) -> Iterator[Path]:
    """A folder for predictions and runs: the one given, which stays, or one that goes."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="wulf-public-") as scratch:
        yield Path(scratch)


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all was run; 2 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.foresight.public", description=__doc__)
    parser.add_argument("file", help=f"TOML of programs; or {LADDER}: kernels of bench/loops/ladder.cpp")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="of the file [all]")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--traces", type=int, default=3, help="of each program")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each program at each setting")
    parser.add_argument("--attempts", type=int, default=ATTEMPTS, help="at a measurement, while others take the CPUs")
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--keep", type=Path, help="folder for predictions, traces and the table")
    options = parser.parse_args(arguments)
    known = ladder(options.mpi) if options.file == LADDER else listed(Path(options.file))
    names = picked(options.programs, known)
    with _kept(options.keep) as kept, labs.up(RANKS, keep=False, link=TRACED.both) as up:
        calm = Calm(options.attempts)
        lab = Lab(up, options.mpi, kept)
        programs = Programs(lab, known)
        rows = contest(lab, programs, names, options.traces, options.repeats, calm, options.seed, kept)
        text = f"{table(rows)} {calm.words}"
        (kept / "table.md").write_text(text)
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
