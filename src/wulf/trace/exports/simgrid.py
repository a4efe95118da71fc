"""SimGrid's time-independent traces: a file a rank, and the list that `smpirun -replay` takes.

Collectives of MPI_COMM_WORLD stay collectives; those of other communicators, which the replay would run on the world,
are messages, as those for which it has no action that a root and two sizes tell all of. One nanosecond of computing is
one flop: the platform's hosts must have a speed of 1 Gf.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from wulf.trace.errors import TraceError, writing
from wulf.trace.exports import Lower, notes_of
from wulf.trace.reader import Trace

HELP = "SimGrid's time-independent traces, for smpirun -replay: a folder."
FOLDER = True

LIST = "trace.txt"


def write(_trace: Trace, place: Path, lower: Lower) -> list[str]:
    """Write the folder."""
    with lower({"reduction": 0, "world": "calls"}) as lowered:
        names = _written(place, lowered.write)
        program = lowered.program
    with writing(place / LIST) as out:
        out.write("".join(f"{(place / name).resolve()}\n" for name in names))
    replay = f"smpirun -no-privatize -np {program.ranks} -platform P.xml -hostfile H -replay {place / LIST}"
    live = f"left out: {program.live} × receives of ranks that take messages from anybody, whom no action names"
    needs = ['the platform\'s hosts must have speed="1Gf"', replay]
    return [*needs, *notes_of(program), *([live] if program.live else [])]


def _written(place: Path, write: Callable[[str, Path], None]) -> list[str]:
    """The names of the ranks' files, each of which is whole or not there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=place) as new:
            write("simgrid", Path(new))
            names = sorted(one.name for one in Path(new).iterdir())
            for name in names:
                Path(new, name).replace(place / name)
    except OSError as error:
        raise TraceError(f"can't write to {place}: {error.strerror}", "name another place") from error
    return names
