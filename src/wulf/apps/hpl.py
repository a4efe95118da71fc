"""HPL, the High-Performance Linpack: one configuration a process, by xhpl, or by HPCC, which holds it.

HPL's own loops run a file's configurations in a fixed order, so that a drift of the machine looks like an effect of
the last of them; a job here is one configuration, and their order is whoever starts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from wulf.apps.driver import Figure, Job, OutputReading
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack import output as hpl_output
from wulf.apps.linpack.dat import HplDat, parse
from wulf.apps.linpack.size import grids_of
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "hpl"
HELP = "High-Performance Linpack: solves N equations; xhpl, or hpcc, which holds it"
DOMAIN = "dense linear algebra"
PROGRAMS = ("xhpl", "xhpl_intel64_dynamic", "xhpl_intel64_static", "hpcc")
FIGURE = "rate"
INPUT = "HPL.dat"

TIMEOUT = 7200.0
"""Seconds: a matrix that fills a node's memory takes an hour and more."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")

PARAMS = (
    ParamSpec("n", "int", "1", "Rows of the matrix; by default most of the nodes' memory.", None, 1),
    ParamSpec("nb", "int", "1", "Rows of a block.", 192, 1),
    ParamSpec("p", "int", "1", "Rows of the grid of ranks; by default as square as can be.", None, 1),
    ParamSpec("q", "int", "1", "Columns of the grid of ranks; by default as square as can be.", None, 1),
    ParamSpec("pmap", "int", "1", "Ranks laid into the grid by rows (0) or columns (1).", 0, 0, 1),
    ParamSpec("pfact", "int", "1", "Panel factorisation: left-looking (0), Crout (1), right-looking (2).", 2, 0, 2),
    ParamSpec("nbmin", "int", "1", "Columns at which recursion stops.", 4, 1),
    ParamSpec("ndiv", "int", "1", "Parts that recursion divides a panel into.", 2, 2),
    ParamSpec("rfact", "int", "1", "Recursive panel factorisation, as pfact.", 1, 0, 2),
    ParamSpec("bcast", "int", "1", "Broadcast of a panel: 1ring, 1ring modified, 2ring, …, long modified.", 1, 0, 5),
    ParamSpec("depth", "int", "1", "Panels looked ahead.", 1, 0),
    ParamSpec("swap", "int", "1", "Row exchange: binary (0), long (1), mixed (2).", 2, 0, 2),
    ParamSpec("swap_threshold", "int", "1", "Columns up to which mixed exchange is binary.", 64, 0),
    ParamSpec("l1", "int", "1", "L1 stored transposed (0) or not (1).", 0, 0, 1),
    ParamSpec("u", "int", "1", "U stored transposed (0) or not (1).", 0, 0, 1),
    ParamSpec("equil", "int", "1", "Equilibration (1) or none (0).", 1, 0, 1),
    ParamSpec("align", "int", "1", "Alignment of memory, in doubles.", 8, 1),
    ParamSpec("threads", "int", "1", "Threads of the BLAS in each rank.", 1, 1),
    ParamSpec("blas", "str", "1", "Path of the BLAS to use, on all nodes; by default the program's own."),
)

_LISTS = {
    "pfacts": "pfact", "nbmins": "nbmin", "ndivs": "ndiv", "rfacts": "rfact", "bcasts": "bcast", "depths": "depth",
}  # fmt: skip
_PLAIN = ("pmap", "swap", "swap_threshold", "l1", "u", "equil", "align")


def dat_of(params: Mapping[str, Param], ranks: int) -> HplDat:
    """The HPL.dat of one configuration; without P or Q the grid as square as can be.

    Raises
    ------
    UsageError
        N is missing; P x Q is not the number of ranks; HPL does not take a value.
    """
    whole = {name: _whole(params, name) for name in ("n", "p", "q")}
    if whole["n"] is None:
        step = "name it: --n 10000, or --param n=10000 where the application is an option"
        raise UsageError("n is missing: HPL needs the number of rows", step)
    p, q = _grid(whole["p"], whole["q"], ranks)
    lists = {field: (int(str(params[name])),) for field, name in _LISTS.items()}
    plain = {name: int(str(params[name])) for name in _PLAIN}
    return HplDat((whole["n"],), (int(str(params["nb"])),), ((p, q),), **lists, **plain)  # type: ignore[arg-type]


def _whole(params: Mapping[str, Param], name: str) -> int | None:
    value = params.get(name)
    return None if value is None else int(value)


def _grid(p: int | None, q: int | None, ranks: int) -> tuple[int, int]:
    """The missing side of a grid; UsageError where it would be no whole number is left to HplDat.check."""
    if p is None and q is None:
        return grids_of(ranks)[0]
    if p is None:
        return max(1, ranks // (q or 1)), q or 1
    return p, q if q is not None else max(1, ranks // p)


def params_of(dat: HplDat) -> list[dict[str, Param]]:
    """A file's configurations as parameters of this driver, each for a job of its own, in the file's order."""
    found: list[dict[str, Param]] = []
    for one in dat.configurations():
        single = dat.single(one)
        found.append(
            {"n": one.n, "nb": one.nb, "p": one.p, "q": one.q}
            | {name: getattr(single, field)[0] for field, name in _LISTS.items()}
            | {name: getattr(single, name) for name in _PLAIN}
        )
    return found


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """One start of xhpl or hpcc with these parameters over all ranks.

    Raises
    ------
    UsageError
        P x Q is not the number of ranks, or HPL takes no such value.
    """
    dat = dat_of(params, ranks)
    dat.check(ranks)
    if is_hpcc(program):
        return hpcc_files.job(program, dat, environment_of(params), TIMEOUT)
    return Job((program,), {INPUT: dat.text()}, environment_of(params), mpi=True, outputs=(INPUT,), timeout=TIMEOUT)


def environment_of(params: Mapping[str, Param]) -> dict[str, str]:
    """The variables that set the BLAS and its threads.

    A library can't know that an MPI has started a rank on every CPU, and would start a thread on each in all of them.
    The BLAS is loaded before the program's own, rather than found by LD_LIBRARY_PATH, which a module may have set for
    the MPI.
    """
    environment = dict.fromkeys(THREADS, str(params["threads"]))
    blas = params.get("blas")
    if blas is None:
        return environment
    if "mkl_rt" in PurePath(str(blas)).name:
        layer = "SEQUENTIAL" if params["threads"] == 1 else "GNU"
        environment |= {"MKL_INTERFACE_LAYER": "LP64", "MKL_THREADING_LAYER": layer}
    return environment | {"LD_PRELOAD": str(blas)}


def is_hpcc(program: str) -> bool:
    """Whether a program is HPCC, rather than HPL itself."""
    return PurePath(program).name.startswith("hpcc")


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """Rate and time of the configuration, by xhpl's standard output or hpcc's file."""
    if hpcc_files.OUTPUT in files or hpcc_files.INPUT in files:
        return _of_hpcc(files)
    return hpl_output.reading(hpl_output.parse(stdout), _asked(files.get(INPUT)))


def _asked(text: str | None) -> dict[str, int] | None:
    """N, NB, P and Q of an input with one configuration."""
    if text is None:
        return None
    try:
        all_of_it = parse(text).configurations()
    except UsageError:  # not a file of ours: nothing to compare with
        return None
    return {name: getattr(all_of_it[0], name) for name in ("n", "nb", "p", "q")} if len(all_of_it) == 1 else None


def _of_hpcc(files: Mapping[str, str]) -> OutputReading:
    """The HPL section; rate and time in the summary's digits where it is there and about the same run."""
    text = files.get(hpcc_files.OUTPUT, "")
    section = hpcc_files.section(text, "HPL")
    output = hpl_output.parse(section)
    found = hpl_output.reading(output, _asked(files.get(hpcc_files.INPUT)))
    summary = hpcc_files.summary(text)
    facts = {**found.facts, "program": "hpcc"}
    if found.figures[0].value is None:
        known = bool(output.rows or output.errors or output.skipped)
        figures = found.figures if known else hpl_output.without(hpcc_files.cut_short(text))
        return OutputReading(figures, found.checks, facts)
    rate, time = summary.get("HPL_Tflops"), summary.get("HPL_time")
    if rate is None or time is None or abs(rate * 1e12 / found.figures[0].value - 1) > _SAME:
        return OutputReading(found.figures, found.checks, facts)
    figures = (Figure("rate", "flop/s", rate * 1e12, "higher"), Figure("time", "s", time, "lower"))
    return OutputReading(figures, found.checks, facts)


_SAME = 1e-3
"""HPL prints a rate with four digits."""
