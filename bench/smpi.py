"""`python -m bench.smpi [PROGRAM …]`: SimGrid's SMPI as the other cluster; docs/smpi.md.

Small programs (bench/loops/smpi.c) run under SMPI on platform A, which writes time-independent traces. These are
imported, and replayed on platform A and on others. Then SMPI runs the same programs there. Both are models: how far
they are apart is no matter of noise, and each difference has a cause that can be named.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import smpi_cluster
from bench.context import say
from bench.docs import rewritten
from bench.errors import BenchError
from bench.foresight import PATIENCE
from bench.node import LOOPS
from bench.session import Session
from wulf.cluster.programs import find_program
from wulf.core.errors import USAGE, WulfError
from wulf.model.network import Network, Values, nominal, scaled
from wulf.model.network_file import parse_network
from wulf.trace.imports import import_named

SIMGRID = "WULF_SIMGRID"
"""Names the folder of SimGrid's `smpicc` and `smpirun`; without it they are taken from PATH."""

ROOT = Path(__file__).parent
PAGE = ROOT.parent / "docs" / "smpi.md"
CLUSTER = ROOT / "data" / "smpi.toml"

PROGRAMS = ("ping-pong", "halo", "allreduce", "farm", "lu", "transpose")
SIZES = (8, 16, 64)

PLATFORMS: dict[str, dict[str, float]] = {
    "A, as traced": {},
    "latency × 10": {"latency": 10},
    "latency ÷ 5": {"latency": 1 / 5},
    "bandwidth ÷ 10": {"bandwidth": 1 / 10},
    "eager limit ÷ 16": {"eager": 1 / 16},
}
"""What of platform A is multiplied by how much; the first is A itself."""

TOLD = 0.05
"""An error above this has a cause that is named."""

_TIME = re.compile(r"Simulated time: ([\d.e+-]+) seconds")


@dataclass(frozen=True)
class Row:
    """One program on one platform: seconds by SMPI, and by each engine; None where an engine can't replay it."""

    program: str
    ranks: int
    platform: str
    smpi: float
    a: float | None
    b: float | None

    def error(self, engine: str) -> float | None:
        """Of engine "a" or "b", as a share of SMPI's time."""
        seconds = self.a if engine == "a" else self.b
        return None if seconds is None else seconds / self.smpi - 1


class Smpi:
    """SimGrid's commands, and a folder for what they need."""

    def __init__(self, folder: Path) -> None:
        self._compiler, self._runner = (tool(name) for name in ("smpicc", "smpirun"))
        self._folder = folder
        self._program = folder / "program"
        output([self._compiler, "-O2", str(LOOPS / "smpi.c"), "-o", str(self._program)], folder)

    def run(self, program: str, ranks: int, values: Values, trace: str = "") -> float:
        """Simulated seconds on a star of this network; the trace is written if it has a name."""
        traced = ["-trace-ti", "-trace-file", trace] if trace else []
        said = output(
            [
                self._runner, *smpi_cluster.write(self._folder, ranks, values), *traced,
                *smpi_cluster.words(smpi_cluster.options(values)), str(self._program), program,
            ],
            self._folder,
        )  # fmt: skip
        return simulated(said)

    def trace(self, program: str, ranks: int, values: Values) -> tuple[Path, float]:
        """The imported trace of one run, and the seconds that it took."""
        name = f"{program}-{ranks}"
        seconds = self.run(program, ranks, values, f"{name}.txt")
        folder = self._folder / name
        folder.mkdir()
        import_named("simgrid").bring([self._folder / f"{name}.txt"], folder, flops=smpi_cluster.FLOPS)
        return folder, seconds


def tool(name: str) -> str:
    """A command of SimGrid's. BenchError where it is not there."""
    found = shutil.which(name, path=os.environ.get(SIMGRID))
    if found is None:
        raise BenchError(
            f"there is no {name}: install SimGrid (Debian: libsimgrid-dev), or name its folder by {SIMGRID}"
        )
    return found


def simulated(said: str) -> float:
    """The seconds in what smpirun prints. BenchError where it prints none."""
    match = _TIME.search(said)
    if match is None:
        raise BenchError(f"smpirun tells no simulated time: {said[-500:]}")
    return float(match[1])


def output(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=folder)
    if done.returncode != 0:
        raise BenchError(f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout + done.stderr


def predict(session: Session, trace: Path, platforms: Sequence[Values]) -> list[tuple[float | None, float | None]]:
    """Seconds on each platform by engine A and by engine B; A can't replay wildcards of which nothing is known."""
    loaded = session.request("load", PATIENCE, trace=str(trace), collectives=smpi_cluster.ours())
    networks = {
        "a": [smpi_cluster.network("this", values) for values in platforms],
        "b": [smpi_cluster.star("this", values) for values in platforms],
    }
    found: dict[str, list[float | None]] = {}
    for engine, some in networks.items():
        if engine == "a" and loaded["live"]:
            found[engine] = [None] * len(some)
            continue
        answer = session.request("replay", PATIENCE, program=loaded["program"], networks=some, engine=engine)
        found[engine] = [float(run["seconds"]) for run in answer["runs"]]
    return list(zip(found["a"], found["b"], strict=True))


def base_network() -> Network:
    """Platform A, of bench/data/smpi.toml."""
    return Network(parse_network(CLUSTER.read_text(), str(CLUSTER)))


def contest(
    smpi: Smpi, session: Session, programs: Sequence[str], sizes: Sequence[int], say: Callable[[str], None]
) -> list[Row]:
    """Trace on A, predict all platforms, run on all."""
    base = base_network()
    platforms = {name: nominal(scaled(base, **factors))[0] for name, factors in PLATFORMS.items()}
    rows = []
    for program in programs:
        for ranks in sizes:
            say(f"{program} on {ranks} ranks")
            first, *others = platforms.values()
            trace, seconds = smpi.trace(program, ranks, first)
            foretold = predict(session, trace, list(platforms.values()))
            ran = [seconds, *(smpi.run(program, ranks, values) for values in others)]
            rows += [
                Row(program, ranks, name, by_smpi, a, b)
                for name, by_smpi, (a, b) in zip(platforms, ran, foretold, strict=True)
            ]
    return rows


def _cell(seconds: float | None, error: float | None) -> list[str]:
    return ["—", "—"] if seconds is None or error is None else [f"{seconds * 1e3:.4g}", f"{error:+.2%}"]


def table(rows: Sequence[Row]) -> str:
    """All predictions beside SMPI's times, and what their errors come to by engine."""
    lines = [
        "| program | ranks | platform | SMPI [ms] | A [ms] | error | B [ms] | error |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        cells = [row.program, str(row.ranks), row.platform, f"{row.smpi * 1e3:.4g}"]
        lines.append(f"| {' | '.join([*cells, *_cell(row.a, row.error('a')), *_cell(row.b, row.error('b'))])} |")
    return "\n".join([*lines, "", *(summary(rows, engine) for engine in ("a", "b"))])


def summary(rows: Sequence[Row], engine: str) -> str:
    """Median and worst of an engine's errors, platform A's own left out."""
    errors = [
        (abs(error), row)
        for row in rows
        if (error := row.error(engine)) is not None and row.platform != next(iter(PLATFORMS))
    ]
    if not errors:
        return f"- engine {engine.upper()}: nothing to compare."
    worst, where = max(errors, key=lambda one: one[0])
    above = sum(error > TOLD for error, _ in errors)
    return (
        f"- engine {engine.upper()}: {len(errors)} predictions for other platforms than A; median |error| "
        f"{statistics.median(error for error, _ in errors):.2%}, greatest {worst:.2%} ({where.program}, {where.ranks} "
        f"ranks, {where.platform}); above {TOLD:.0%}: {above}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all was run; 2 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.smpi", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", choices=[*PROGRAMS, []], help=", ".join(PROGRAMS))
    parser.add_argument("--ranks", type=int, action="append", help=f"so many [{', '.join(map(str, SIZES))}]")
    parser.add_argument("--docs", action="store_true", help=f"put the table into docs/{PAGE.name}")
    chosen = parser.parse_args(arguments)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="wulf-smpi-") as folder,
            Session([str(find_program("wulf-replay").path)]) as session,
        ):
            smpi = Smpi(Path(folder))
            programs, sizes = chosen.programs or PROGRAMS, chosen.ranks or SIZES
            rows = contest(smpi, session, programs, sizes, say)
        text = table(rows)
        print(text)
        if chosen.docs:
            PAGE.write_text(rewritten(PAGE.read_text(), text))
    except (BenchError, WulfError) as error:
        print(f"smpi: {error}", file=sys.stderr)
        return USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
