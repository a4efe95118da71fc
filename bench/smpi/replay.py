"""`python -m bench.smpi.replay TRACE …`: time-independent traces replayed by SimGrid and by wulf-replay, side by side.

Each TRACE is a list of files that `smpirun -replay` takes, or one file with the actions of all ranks: SimGrid's own
examples lie in its `examples/smpi/replay*`. The platform is that of bench/data/smpi.toml without overheads, and all
messages are eager: docs/how-it-works/replay-peers.md.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engine.errors import BenchError, told
from bench.engine.session import Session
from bench.foresight.lab import PATIENCE
from bench.smpi import cluster
from bench.smpi.cluster import base_network
from bench.smpi.simgrid import output, tool
from wulf.cluster.programs import find_program
from wulf.model.network.figures import FOREVER, Values, nominal
from wulf.trace.imports import Imported, import_named

LARGEST = 10**9
"""Bytes that are eager for SimGrid, whose limits are of 32 bits."""

DIGITS = "%.12r%e%m%n"
"""How SimGrid is to print a line: with the simulated time in full."""

_TIME = re.compile(r"^([\d.]+) Simulation time", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One trace: seconds by SimGrid, by engine A where it can, and by engine B; what the import left out."""

    name: str
    ranks: int
    simgrid: float
    a: float | None
    b: float
    notes: tuple[str, ...]


def platform() -> Values:
    """The platform: no overheads, and every message eager."""
    return {**nominal(base_network())[0], "send": 0.0, "receive": 0.0, "eager": float(FOREVER)}


def by_simgrid(trace: Path, ranks: int, values: Values, folder: Path) -> float:
    """Seconds that SimGrid's replay takes. BenchError where it tells none."""
    listed = folder / "list"
    lines = trace.read_text().split("\n")
    is_list = not lines[0].split()[0].isdigit()
    names = (
        [str((trace.parent / line).resolve()) for line in lines if line.strip()] if is_list else [str(trace.resolve())]
    )
    listed.write_text("".join(f"{name}\n" for name in names))
    settings = {
        **cluster.options({**values, "eager": LARGEST}),
        "smpi/simulate-computation": "yes",
    }
    said = output(
        [
            tool("smpirun"), "-no-privatize", *cluster.write(folder, ranks, values), "-replay", str(listed),
            *cluster.words(settings), f"--log=root.fmt:{DIGITS}",
        ],
        folder,
    )  # fmt: skip
    found = _TIME.findall(said)
    if not found:
        raise BenchError(f"{trace}: SimGrid tells no time: {said[-500:]}")
    return float(found[-1])


def compared(trace: Path, session: Session) -> Row:
    """One trace."""
    values = platform()
    with tempfile.TemporaryDirectory(prefix="wulf-smpi-") as name:
        folder = Path(name)
        told: Imported = import_named("simgrid").bring([trace], folder, flops=cluster.FLOPS)
        ((a, b),) = predict(session, folder, [values])
        if b is None:
            raise BenchError(f"{trace}: engine b has no answer")
        seconds = by_simgrid(trace, told.ranks, values, folder)
    return Row(trace.stem, told.ranks, seconds, a, b, tuple(told.notes))


def _cells(seconds: float | None, simgrid: float) -> tuple[str, str]:
    if seconds is None:
        return "—", "—"
    return f"{seconds * 1e3:.6g}", f"{seconds / simgrid - 1:+.3%}" if simgrid else "0"


def table(rows: Sequence[Row]) -> str:
    """All traces."""
    lines = ["| trace | ranks | SimGrid [ms] | A [ms] | | B on the star [ms] | |", "|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        cells = [row.name, str(row.ranks), f"{row.simgrid * 1e3:.6g}"]
        lines.append(f"| {' | '.join([*cells, *_cells(row.a, row.simgrid), *_cells(row.b, row.simgrid)])} |")
    return "\n".join([*lines, *(f"\n{row.name}: {note}" for row in rows for note in row.notes)])


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all were replayed; 2 one could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.smpi.replay", description=__doc__)
    parser.add_argument("traces", nargs="+", metavar="TRACE", type=Path)
    chosen = parser.parse_args(arguments)
    with Session([str(find_program("wulf-replay").path)]) as session:
        print(table([compared(trace, session) for trace in chosen.traces]))
    return 0


if __name__ == "__main__":
    sys.exit(main())


def predict(session: Session, trace: Path, platforms: Sequence[Values]) -> list[tuple[float | None, float | None]]:
    """Seconds on each platform by engine A and by engine B; A can't replay wildcards of which nothing is known."""
    loaded = session.request("load", PATIENCE, trace=str(trace), collectives=cluster.ours())
    networks = {
        "a": [cluster.network("this", values) for values in platforms],
        "b": [cluster.star("this", values) for values in platforms],
    }
    found: dict[str, list[float | None]] = {}
    for engine, some in networks.items():
        if engine == "a" and loaded["live"]:
            found[engine] = [None] * len(some)
            continue
        answer = session.request("replay", PATIENCE, program=loaded["program"], networks=some, engine=engine)
        found[engine] = [float(run["seconds"]) for run in answer["runs"]]
    return list(zip(found["a"], found["b"], strict=True))
