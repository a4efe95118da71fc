"""STREAM (McCalpin): memory bandwidth of one node, all its threads together."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Figure, Job, OutputReading
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "stream"
HELP = "STREAM on each node: triad, add, scale, copy; best of its own repetitions."
DOMAIN = "memory bandwidth"
PROGRAMS = ("stream_c.exe", "stream_c", "stream_omp", "stream.exe", "stream")
FIGURE = "triad"
PARAMS = (ParamSpec("threads", "int", "1", "OMP_NUM_THREADS; left out: as many as OpenMP takes.", None, 1, 4096),)

MEGABYTE = 1e6
"""stream.c prints 1.0E-06 · bytes / time."""

_RATE = re.compile(r"^(Copy|Scale|Add|Triad):\s+(\d+\.?\d*)", re.MULTILINE)
_ELEMENTS = re.compile(r"Array size = (\d+)")
_THREADS = re.compile(r"Number of Threads (?:counted|requested) = (\d+)")
_VALID = re.compile(r"Solution Validates")
_INVALID = re.compile(r"Failed Validation on array (\w)")


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """One run on one node."""
    threads = params["threads"]
    return Job((program,), environment={} if threads is None else {"OMP_NUM_THREADS": str(threads)})


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The table of best rates, and whether the arrays hold what they should."""
    rates = {name.lower(): float(rate) * MEGABYTE for name, rate in _RATE.findall(stdout)}
    why = "its output has no line for it"
    figures = tuple(
        Figure(name, "B/s", rates.get(name), "higher", "" if name in rates else why)
        for name in ("triad", "add", "scale", "copy")
    )
    wrong = _INVALID.findall(stdout)
    valid = bool(_VALID.search(stdout)) and not wrong
    said = f"arrays {', '.join(wrong)} differ" if wrong else "solution validates" if valid else "no word of validation"
    # without a table this is another program: then the figure is missing, rather than the answer wrong
    checks = (Check("arrays", valid, said),) if rates else ()
    facts: dict[str, str | float] = {}
    for name, pattern in (("elements", _ELEMENTS), ("threads", _THREADS)):
        found = pattern.findall(stdout)
        if found:
            facts[name] = float(found[-1])
    return OutputReading(figures, checks, facts)
