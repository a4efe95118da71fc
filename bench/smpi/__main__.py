"""`python -m bench.smpi [PROGRAM …]`: SimGrid's SMPI as the other cluster; docs/how-it-works/smpi.md.

Small programs (bench/loops/smpi.c) run under SMPI on platform A, which writes time-independent traces. These are
imported, and replayed on platform A and on others. Then SMPI runs the same programs there. Both are models: how far
they are apart is no matter of noise, and each difference has a cause that can be named.

`--public PROGRAMS.toml` has programs that nobody here wrote, built with smpicc elsewhere, in the place of ours: a table
`programs.NAME` for each, with `argv` (a list, or a table of lists by ranks) and `ranks`. Their computing takes no time
there, so that all of a run time is messages.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engine.context import say
from bench.engine.errors import told
from bench.engine.places import DOCS
from bench.engine.programs import listed, picked
from bench.engine.session import Session
from bench.report.docs import rewrite
from bench.smpi.cluster import base_network
from bench.smpi.replay import predict
from bench.smpi.simgrid import Smpi
from wulf.cluster.programs import find_program
from wulf.model.network.figures import nominal, scaled

PAGE = DOCS / "how-it-works" / "smpi.md"

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
    chosen = picked(names, public or PROGRAMS)
    own = {name: sizes or public.get(name, {}).get("ranks", SIZES) for name in chosen}
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


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all was run; 2 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.smpi", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--public", type=Path, help="TOML of programs that are built already, in the place of these")
    parser.add_argument("--ranks", type=int, action="append", help=f"so many [{', '.join(map(str, SIZES))}]")
    parser.add_argument("--docs", action="store_true", help=f"put the table into docs/{PAGE.name}")
    chosen = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="wulf-smpi-") as folder,
        Session([str(find_program("wulf-replay").path)]) as session,
    ):
        public = listed(chosen.public) if chosen.public else {}
        jobs = jobs_of(chosen.programs, chosen.ranks or (), public)
        rows = contest(Smpi(Path(folder), public), session, jobs, say)
    text = table(rows)
    print(text)
    if chosen.docs:
        rewrite(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
