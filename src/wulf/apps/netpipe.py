"""NetPIPE over MPI: half round trips between two ranks, over message sizes."""

from __future__ import annotations

from collections.abc import Mapping

from wulf.apps.driver import Figure, Job, OutputReading
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "netpipe"
HELP = "NetPIPE between two ranks: latency of the smallest message, best throughput."
DOMAIN = "message passing"
PROGRAMS = ("NPmpi", "NPopenmpi", "NPmpich2", "NPmpich")
FIGURE = "latency"
PARAMS = (
    ParamSpec("least", "int", "B", "Smallest message.", 1, 1, 2**31 - 1),
    ParamSpec("most", "int", "B", "Largest message.", 65536, 1, 2**31 - 1),
    ParamSpec("repeats", "int", "1", "Of each size [as many as it takes for half a second].", None, 1, 10**9),
)

OUTPUT = "np.out"
RANKS = 2


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """All sizes between the least and the most."""
    least, most = int(params["least"] or 1), int(params["most"] or 1)
    if ranks != RANKS:
        raise UsageError(f"NetPIPE measures between 2 ranks, and got {ranks}", "name two nodes, or give --ranks 2")
    if least > most:
        raise UsageError(f"least = {least} B is above most = {most} B", "give --least no more than --most")
    words = [program, "-l", str(least), "-u", str(most), "-o", OUTPUT]
    words += [] if params["repeats"] is None else ["-n", str(params["repeats"])]
    return Job(tuple(words), mpi=True, outputs=(OUTPUT,))


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """Lines of bytes, Mbit/s and seconds; rates are computed from bytes and time, for its Mbit is 2^20 bits."""
    rows = [row for row in map(_row, files.get(OUTPUT, "").splitlines()) if row]
    if not rows:
        why = f"{OUTPUT} has no line of bytes, rate and time"
        return OutputReading(
            (Figure("latency", "s", None, "lower", why), Figure("throughput", "B/s", None, "higher", why))
        )
    least, seconds = min(rows)
    latency = Figure("latency", "s", seconds, "lower")
    best = max(size / time for size, time in rows)
    return OutputReading(
        (latency, Figure("throughput", "B/s", best, "higher")), (), {"sizes": len(rows), "least": least}
    )


def _row(line: str) -> tuple[int, float] | None:
    words = line.split()
    try:
        size, seconds = int(words[0]), float(words[2])
    except (ValueError, IndexError):
        return None
    return (size, seconds) if size > 0 and seconds > 0 else None
