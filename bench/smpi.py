"""`python -m bench.smpi [PROGRAM …]`: SimGrid's SMPI as the other cluster; docs/smpi.md.

Small programs (bench/loops/smpi.c) run under SMPI on platform A, which writes time-independent traces. These are
imported, and replayed on platform A and on others. Then SMPI runs the same programs there. Both are models: how far
they are apart is no matter of noise, and each difference has a cause that can be named.

`--public PROGRAMS.toml` has programs that nobody here wrote, built with smpicc elsewhere, in the place of ours: a table
`programs.NAME` for each, with `argv` (a list, or a table of lists by ranks) and `ranks`. Their computing takes no time
there, so that all of a run time is messages.
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
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import smpi_cluster
from bench.context import say
from bench.docs import rewritten
from bench.errors import BenchError
from bench.foresight import PATIENCE
from bench.node import LOOPS
from bench.session import Session
from wulf.cluster.programs import find_program
from wulf.core.errors import USAGE, WulfError
from wulf.model.network.figures import Network, Values, nominal, scaled
from wulf.model.network.file import parse_network
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
    """SimGrid's commands, and a folder for what they need.

    Parameters
    ----------
    public
        Programs that are built already, by name; without any, ours are built.
    """

    def __init__(self, folder: Path, public: Mapping[str, Mapping[str, Any]]) -> None:
        self._runner, self._public = tool("smpirun"), public
        self._folder = folder
        self._program = folder / "program"
        if not public:
            output([tool("smpicc"), "-O2", str(LOOPS / "smpi.c"), "-o", str(self._program)], folder)

    def _words(self, program: str, ranks: int) -> list[str]:
        return argv(self._public[program], ranks) if self._public else [str(self._program), program]

    def run(self, program: str, ranks: int, values: Values, trace: str = "") -> float:
        """Simulated seconds on a star of this network; the trace is written if it has a name."""
        traced = ["-trace-ti", "-trace-file", trace] if trace else []
        said = output(
            [
                self._runner, *smpi_cluster.write(self._folder, ranks, values), *traced,
                *smpi_cluster.words(smpi_cluster.options(values)), *self._words(program, ranks),
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


def argv(program: Mapping[str, Any], ranks: int) -> list[str]:
    """A public program's words for so many ranks. BenchError where there are none for that number."""
    own = program["argv"]
    words = own.get(str(ranks)) if isinstance(own, Mapping) else own
    if words is None:
        raise BenchError(f"argv has no words for {ranks} ranks: it has {', '.join(own)}")
    return list(words)


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


def contest(smpi: Smpi, session: Session, jobs: Iterable[tuple[str, int]], say: Callable[[str], None]) -> list[Row]:
    """Trace each program, of so many ranks, on A; predict all platforms; run on all."""
    base = base_network()
    platforms = {name: nominal(scaled(base, **factors))[0] for name, factors in PLATFORMS.items()}
    rows = []
    for program, ranks in jobs:
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


def jobs_of(
    names: Sequence[str], sizes: Sequence[int], public: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, int]]:
    """Programs and numbers of ranks: those asked for, else all, or of a public program those that it says."""
    known = list(public) or list(PROGRAMS)
    if unknown := [name for name in names if name not in known]:
        raise BenchError(f"there is no program {', '.join(unknown)}: there are {', '.join(known)}")
    own = {name: sizes or public.get(name, {}).get("ranks", SIZES) for name in names or known}
    return [(name, ranks) for name, some in own.items() for ranks in some]


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
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--public", type=Path, help="TOML of programs that are built already, in the place of these")
    parser.add_argument("--ranks", type=int, action="append", help=f"so many [{', '.join(map(str, SIZES))}]")
    parser.add_argument("--docs", action="store_true", help=f"put the table into docs/{PAGE.name}")
    chosen = parser.parse_args(arguments)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="wulf-smpi-") as folder,
            Session([str(find_program("wulf-replay").path)]) as session,
        ):
            public = tomllib.loads(chosen.public.read_text())["programs"] if chosen.public else {}
            jobs = jobs_of(chosen.programs, chosen.ranks or (), public)
            rows = contest(Smpi(Path(folder), public), session, jobs, say)
        text = table(rows)
        print(text)
        if chosen.docs:
            PAGE.write_text(rewritten(PAGE.read_text(), text))
    except (BenchError, WulfError, OSError, KeyError, tomllib.TOMLDecodeError) as error:
        print(f"smpi: {error}", file=sys.stderr)
        return USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
