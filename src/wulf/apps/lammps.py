"""LAMMPS: a melt of Lennard-Jones atoms, made for the run; its energy must be conserved."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Figure, Job, OutputReading
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "lammps"
HELP = "LAMMPS over MPI: steps a second of a Lennard-Jones melt; energy checked."
DOMAIN = "molecular dynamics"
PROGRAMS = ("lmp_mpi", "lmp", "lmp_stable", "lammps", "lmp_serial")
FIGURE = "rate"
PARAMS = (
    ParamSpec("cells", "int", "1", "Edge of the box in cells of four atoms: 20 are 32,000 atoms.", 20, 2, 4000),
    ParamSpec("steps", "int", "1", "Steps of time.", 200, 10, 10**9),
    ParamSpec("threads", "int", "1", "OMP_NUM_THREADS of each rank.", 1, 1, 4096),
)

INPUT, LOG = "melt.lammps", "log.lammps"

DRIFT = 0.01
"""Most that the total energy of an atom may change, in units of its kinetic energy; the step's error is less."""

MELT = """\
# solid argon that melts: reduced units, density 0.8442, cut-off 2.5, constant energy
units         lj
atom_style    atomic
lattice       fcc 0.8442
region        box block 0 {cells} 0 {cells} 0 {cells}
create_box    1 box
create_atoms  1 box
mass          1 1.0
velocity      all create 1.44 {seed} loop geom
pair_style    lj/cut 2.5
pair_coeff    1 1 1.0 1.0 2.5
neighbor      0.3 bin
neigh_modify  every 1 delay 0 check yes
fix           1 all nve
timestep      0.002
thermo        {thermo}
run           {steps}
"""

SEED = 20261
"""Of the velocities: the same atoms for any number of ranks (loop geom)."""

_LOOP = re.compile(r"^Loop time of (\S+) on (\d+) procs for (\d+) steps with (\d+) atoms", re.MULTILINE)
_HEAD = re.compile(r"^\s*Step\s+.*TotEng.*$", re.MULTILINE)
_VERSION = re.compile(r"^LAMMPS \((.*?)\)", re.MULTILINE)
_WARM = 0.2
"""The first steps from a perfect lattice, in which half the kinetic energy becomes potential, are not looked at."""


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """The melt of so many cells, for so many steps; its log tells the energy ten times."""
    steps = int(params["steps"] or 0)
    text = MELT.format(cells=params["cells"], steps=steps, thermo=max(1, steps // 10), seed=SEED)
    words = (program, "-in", INPUT, "-log", LOG)
    return Job(words, {INPUT: text}, {"OMP_NUM_THREADS": str(params["threads"])}, mpi=True, outputs=(LOG,))


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """Steps and time of the loop, and the energy's course."""
    text = files.get(LOG) or stdout
    loop, version = _LOOP.search(text), _VERSION.search(text)
    facts: dict[str, str | float] = {"version": version[1]} if version else {}
    if loop is None:
        why = "its log has no line of the loop's time"
        return OutputReading((Figure("rate", "Hz", None, "higher", why),), (), facts)
    seconds, steps = float(loop[1]), int(loop[3])
    figures = (
        Figure("rate", "Hz", steps / seconds if seconds > 0 else None, "higher", "" if seconds > 0 else "no time"),
        Figure("loop", "s", seconds, "lower"),
    )
    return OutputReading(figures, (_conserved(text),), facts | {"atoms": float(loop[4]), "procs": float(loop[2])})


def _conserved(text: str) -> Check:
    """The total energy after the first steps against the last one's, in units of the kinetic energy (3/2·T)."""
    rows = _rows(text)
    known = [row for row in rows if "TotEng" in row and "Temp" in row][int(_WARM * len(rows)) :]
    if len(known) < 2 or known[-1]["Temp"] <= 0:
        return Check("energy", False, "the log does not tell energy and temperature at two steps")
    drift = abs(known[-1]["TotEng"] - known[0]["TotEng"]) / (1.5 * known[-1]["Temp"])
    return Check("energy", drift <= DRIFT, f"total energy changed by {drift:.2g} of the kinetic, at most {DRIFT:g}")


def _rows(text: str) -> list[dict[str, float]]:
    head = _HEAD.search(text)
    rows: list[dict[str, float]] = []
    for line in text[head.end() :].splitlines()[1:] if head else []:
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            break
        rows.append(dict(zip(head[0].split() if head else [], numbers, strict=False)))
    return rows
