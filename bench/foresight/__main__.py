"""`python -m bench.foresight [PROGRAM …]`: run times foretold in a lab, beside those that came.

The page: docs/explanation/foresight.md.

Five programs (bench/loops/foresight.cpp) and one of Debian's, phyml-mpi, are traced once at one setting of the lab's
links; LogGP is measured there, too. Their times at three other settings are predicted from that alone: a link's delay
and rate are known figures, so that a prediction changes L by the difference of the delays and G by that of the times a
byte. Then the programs are run at all settings, in turn: the five without the tracer, since they say themselves how
long they took; phyml-mpi does not, and is timed by another trace.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.engine.calm import Calm
from bench.engine.context import say
from bench.engine.errors import told
from bench.engine.places import DOCS
from bench.engine.session import Session
from bench.foresight.lab import PATIENCE, Lab, Setting
from bench.foresight.rows import Row, ordered
from bench.report.docs import rewrite
from wulf import lab as labs
from wulf.apps import phyml
from wulf.cluster.programs import find_program
from wulf.model.network.figures import network_object

PAGE = DOCS / "explanation" / "foresight.md"

PROGRAMS = ("ping-pong", "halo", "allreduce", "farm", "lu", phyml.NAME)

MOST_RANKS = 4
"""Each on a node of its own; fewer where there are fewer CPUs, since a rank that waits asks all the time."""

CONNECT = "connect"
"""A program that is the beginning of the five: Open MPI connects two ranks at their first message, by some 17 round
trips that no trace tells of. They are timed from there on, and what is predicted of it is taken off.
"""

REPEATS = 5

TRACED = Setting("as traced", 500e-6, 100e6)
SETTINGS = (
    TRACED,
    dataclasses.replace(TRACED, name="latency × 10", delay=TRACED.delay * 10),
    dataclasses.replace(TRACED, name="latency ÷ 5", delay=TRACED.delay / 5),
    dataclasses.replace(TRACED, name="bandwidth ÷ 10", rate=TRACED.rate / 10),
)


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


@told
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
        rewrite(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
