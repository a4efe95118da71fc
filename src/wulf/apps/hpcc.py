"""HPCC, the HPC Challenge: seven parts in one run, each with its figures.

Luszczek and others, "Introduction to the HPC Challenge benchmark suite", 2005; the names of the summary are HPCC
1.5.0's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wulf.apps import hpl
from wulf.apps.driver import Check, Figure, Job, OutputReading
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack import output as hpl_output
from wulf.apps.linpack.dat import HplDat
from wulf.core.records import Param

NAME = "hpcc"
HELP = "HPC Challenge: HPL, DGEMM, PTRANS, RandomAccess, FFT, STREAM, latency and bandwidth"
DOMAIN = "dense linear algebra"
PROGRAMS = ("hpcc",)
FIGURE = "hpl.rate"
PARAMS = hpl.PARAMS

MOST_ERRORS = 0.01
"""Share of RandomAccess's updates that may be lost: HPCC's rule."""


@dataclass(frozen=True)
class SummaryFigure:
    """A figure: its name, its key in the summary, SI unit, and what HPCC's unit is in it."""

    name: str
    key: str
    unit: str
    scale: float
    title: str


PARTS: dict[str, tuple[SummaryFigure, ...]] = {
    "HPL": (
        SummaryFigure("hpl.rate", "HPL_Tflops", "flop/s", 1e12, "solving N equations, all ranks"),
        SummaryFigure("hpl.time", "HPL_time", "s", 1.0, "time of it"),
    ),
    "DGEMM": (
        SummaryFigure("dgemm.star", "StarDGEMM_Gflops", "flop/s", 1e9, "a rank, all at once"),
        SummaryFigure("dgemm.single", "SingleDGEMM_Gflops", "flop/s", 1e9, "one rank alone"),
    ),
    "PTRANS": (SummaryFigure("ptrans.rate", "PTRANS_GBs", "B/s", 1e9, "transposing, all ranks"),),
    "RandomAccess": (
        SummaryFigure("updates.mpi", "MPIRandomAccess_GUPs", "Hz", 1e9, "updates, all ranks together"),
        SummaryFigure("updates.mpi.lcg", "MPIRandomAccess_LCG_GUPs", "Hz", 1e9, "the same, linear congruential"),
        SummaryFigure("updates.star", "StarRandomAccess_GUPs", "Hz", 1e9, "a rank, all at once"),
        SummaryFigure("updates.star.lcg", "StarRandomAccess_LCG_GUPs", "Hz", 1e9, "the same, linear congruential"),
        SummaryFigure("updates.single", "SingleRandomAccess_GUPs", "Hz", 1e9, "one rank alone"),
        SummaryFigure("updates.single.lcg", "SingleRandomAccess_LCG_GUPs", "Hz", 1e9, "the same, linear congruential"),
    ),
    "STREAM": tuple(
        SummaryFigure(
            f"stream.{who.lower()}.{kernel.lower()}", f"{who}STREAM_{kernel}", "B/s", 1e9, f"{kernel.lower()}, {words}"
        )
        for who, words in (("Star", "a rank, all at once"), ("Single", "one rank alone"))
        for kernel in ("Copy", "Scale", "Add", "Triad")
    ),
    "FFT": (
        SummaryFigure("fft.mpi", "MPIFFT_Gflops", "flop/s", 1e9, "all ranks together"),
        SummaryFigure("fft.star", "StarFFT_Gflops", "flop/s", 1e9, "a rank, all at once"),
        SummaryFigure("fft.single", "SingleFFT_Gflops", "flop/s", 1e9, "one rank alone"),
    ),
    "b_eff": (
        *(
            SummaryFigure(
                f"pingpong.latency.{which.lower()}", f"{which}PingPongLatency_usec", "s", 1e-6, f"ping-pong, {words}"
            )
            for which, words in (("Min", "fastest pair"), ("Avg", "mean"), ("Max", "slowest pair"))
        ),
        *(
            SummaryFigure(
                f"pingpong.rate.{which.lower()}", f"{which}PingPongBandwidth_GBytes", "B/s", 1e9, f"ping-pong, {words}"
            )
            for which, words in (("Min", "slowest pair"), ("Avg", "mean"), ("Max", "fastest pair"))
        ),
        SummaryFigure("ring.latency.natural", "NaturallyOrderedRingLatency_usec", "s", 1e-6, "ring, natural order"),
        SummaryFigure("ring.latency.random", "RandomlyOrderedRingLatency_usec", "s", 1e-6, "ring, random order"),
        SummaryFigure(
            "ring.rate.natural", "NaturallyOrderedRingBandwidth_GBytes", "B/s", 1e9, "ring, natural order, a rank"
        ),
        SummaryFigure(
            "ring.rate.random", "RandomlyOrderedRingBandwidth_GBytes", "B/s", 1e9, "ring, random order, a rank"
        ),
    ),
}
"""Part → its figures; the parts of the suite in its own order."""

LEADING = (
    *("hpl.rate", "dgemm.star", "stream.star.triad", "ptrans.rate", "updates.mpi", "fft.mpi"),
    *("ring.latency.random", "ring.rate.random"),
)
"""The figures that the suite's published results are compared by."""

_HEADS = {("b_eff", "s"): "latency", ("b_eff", "B/s"): "bandwidth"}

TITLES = {
    row.name: f"{_HEADS.get((part, row.unit), part)}: {row.title}" for part, rows in PARTS.items() for row in rows
}

_SIZES = ("HPL_N", "HPL_NB", "DGEMM_N", "PTRANS_n", "MPIRandomAccess_N", "STREAM_VectorSize", "MPIFFT_N", "FFT_N")


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """One run of all parts; the sizes follow from HPL's N.

    Raises
    ------
    UsageError
        As of `wulf.apps.hpl.job`.
    """
    dat = hpl.dat_of(params, ranks)
    dat.check(ranks)
    return hpcc_files.job(program, dat, hpl.environment_of(params), hpl.TIMEOUT)


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """All parts' figures from the summary, and the checks of those that check their results."""
    text = files.get(hpcc_files.OUTPUT, "")
    summary = hpcc_files.summary(text)
    why = "" if summary else _why(stdout, text)
    figures = tuple(_figure(row, summary, why) for rows in PARTS.values() for row in rows)
    facts: dict[str, str | float] = {key: summary[key] for key in _SIZES if key in summary}
    version = [str(int(summary[key])) for key in ("VersionMajor", "VersionMinor", "VersionMicro") if key in summary]
    if version:
        facts["hpcc.version"] = ".".join(version)
    return OutputReading(figures, (*hpl.read(stdout, files).checks, *_checks(summary)), facts)


def _why(stdout: str, text: str) -> str:
    errors = hpl_output.parse(text + stdout).errors
    return "; ".join(errors) or hpcc_files.cut_short(text)


def _figure(row: SummaryFigure, summary: Mapping[str, float], why: str) -> Figure:
    better: Literal["higher", "lower"] = "lower" if row.unit == "s" else "higher"
    value = summary.get(row.key)
    if value is None:
        return Figure(row.name, row.unit, None, better, why or f"the summary has no {row.key}")
    if not value > 0 or not math.isfinite(value):
        reason = f"{row.key} is {value:g}: this part gave no result"
        return Figure(row.name, row.unit, None, better, reason)
    return Figure(row.name, row.unit, value * row.scale, better)


def _checks(summary: Mapping[str, float]) -> list[Check]:
    """What HPCC verified: every part by Success, and three of them with a figure of their own."""
    checks = []
    if "Success" in summary:
        right = summary["Success"] == 1
        checks.append(Check("success", right, f"HPCC says that its parts {'passed' if right else 'did not all pass'}"))
    for name, kind in (("updates", "MPIRandomAccess"), ("updates.lcg", "MPIRandomAccess_LCG")):
        lost = summary.get(f"{kind}_ErrorsFraction")
        if lost is not None and lost >= 0:
            said = f"{kind}: {lost:.3g} of the updates were lost, at most {MOST_ERRORS:g}"
            checks.append(Check(name, lost <= MOST_ERRORS, said))
    scaled = _scaled_residual(summary)
    if scaled is not None:
        said = f"PTRANS: residual {scaled:.3g}, at most {HplDat.threshold:g}"
        checks.append(Check("transpose", scaled <= HplDat.threshold, said))
    return checks


def _scaled_residual(summary: Mapping[str, float]) -> float | None:
    """The largest difference of PTRANS over eps·n, which HPCC compares with the input's threshold (pdtransdriver.c)."""
    difference, n, eps = (summary.get(key) for key in ("PTRANS_residual", "PTRANS_n", "dweps"))
    return None if difference is None or not n or n < 0 or not eps or difference < 0 else difference / (eps * n)
