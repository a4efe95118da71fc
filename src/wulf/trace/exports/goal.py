"""GOAL, the text that LogGOPSim and its relatives simulate: a schedule of dependencies instead of times.

MPI's own time is not in it, nor that of its reductions: what a call costs is the simulator's business. Computing is in
nanoseconds.
"""

from __future__ import annotations

import os
from pathlib import Path

from wulf.trace.errors import writing
from wulf.trace.exports import Lower, notes_of
from wulf.trace.reader import Trace

HELP = "GOAL's text, for LogGOPSim and `wulf predict`: one file."
FOLDER = False


def write(_trace: Trace, place: Path, lower: Lower) -> list[str]:
    """Write the schedule of all ranks."""
    with lower({"reduction": 0}) as lowered:
        with writing(place) as out:  # which has no name yet
            lowered.write("goal", Path(f"/proc/{os.getpid()}/fd/{out.fileno()}"))
        program = lowered.program
    live = f"receives whose message the trace does not tell are `recv 0b`, of any size: {program.live}"
    return [*notes_of(program), *([live] if program.live else [])]
