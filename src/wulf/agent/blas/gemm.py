"""Times one BLAS library's dgemm, in processes of its own: `python -m wulf.agent.blas.gemm PATH SHAPE CPUS SECONDS`.

SHAPE is "M,N,K,UPDATE"; CPUS are lists of CPUs, one list a process: "0,1" is one of two threads, "0:1" are two
processes of one thread each, which measure at the same time, as the ranks of a program do.

Of its own, because a library reads its number of threads when it is loaded, two libraries bring two runtimes of OpenMP,
and one that was built for another CPU ends its process by SIGILL.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import sys
import time
from array import array
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Names of a function in the builds of a library: plain, with 64-bit integers, and both as the wheels of NumPy and SciPy
# carry OpenBLAS.
_FORMS = ("{}", "{}64_", "{}_64_", "scipy_{}", "scipy_{}64_", "scipy_{}_64_")
_FEWEST = 3
_PATTERN = 4099
"""A prime, so that rows of a matrix differ."""


class NoSuch(Exception):  # noqa: N818 - knowledge of a library, not a fault
    """The library does not offer what was looked for."""


class Blas:
    """The functions of a loaded library.

    Parameters
    ----------
    library
        As ctypes.CDLL gives it: functions are attributes, AttributeError where there is none.

    Attributes
    ----------
    plain
        Whether dgemm has the name that programs are linked with; wheels give theirs names of their own.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._dgemm = self._function("dgemm_")
        self.plain = getattr(library, "dgemm_", None) is not None
        if self._dgemm is None:
            raise NoSuch("it has no dgemm_ of Fortran's interface under any name known")

    def _function(self, *names: str) -> Any:
        """The first function there is, in any of its forms, or None."""
        for name in names:
            for form in _FORMS:
                # dgemm_ becomes dgemm_64_, not dgemm_64_64_
                candidate = form.format(name.rstrip("_") if "64_" in form and name.endswith("_") else name)
                function = getattr(self._library, candidate, None)
                if function is not None:
                    return function
        return None

    def identity(self) -> tuple[str | None, str | None]:
        """Name and version as the library itself says; None for what it does not say."""
        config = self._text("openblas_get_config")
        if config is not None:
            words = config.split()
            return "OpenBLAS", words[1] if len(words) > 1 and words[0] == "OpenBLAS" else config
        mkl = self._function("mkl_get_version_string", "MKL_Get_Version_String")
        if mkl is not None:
            buffer = ctypes.create_string_buffer(200)
            mkl(buffer, ctypes.c_int(len(buffer)))
            return "MKL", buffer.value.decode(errors="replace").strip()
        blis = self._text("bli_info_get_version_str")
        if blis is not None:
            return "BLIS", blis
        return ("ATLAS", None) if self._function("ATL_buildinfo") is not None else (None, None)

    def _text(self, name: str) -> str | None:
        function = self._function(name)
        if function is None:
            return None
        function.restype = ctypes.c_char_p
        said = function()
        return said.decode(errors="replace").strip() if said else None

    def use_threads(self, threads: int) -> int | None:
        """Ask for so many threads; how many the library then says it uses, or None where it does not say."""
        for setter, getter in (
            ("openblas_set_num_threads", "openblas_get_num_threads"),
            ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
            ("bli_thread_set_num_threads", "bli_thread_get_num_threads"),
        ):
            ask = self._function(setter)
            if ask is not None:
                ask(ctypes.c_int(threads))
                said = self._function(getter)
                return None if said is None else int(said())
        return None

    def multiply(self, shape: Shape, a: Any, b: Any, c: Any, *, update: bool = False) -> None:
        """c = a·b, or c = c - a·b, of doubles by columns: BLAS level 3's DGEMM (Dongarra and others, 1990)."""
        # 64 bits serve libraries that read 32, too: the lower half comes first on both architectures of ours
        m, n, k = (ctypes.byref(ctypes.c_int64(size)) for size in (shape.m, shape.n, shape.k))
        alpha, beta = (ctypes.byref(ctypes.c_double(value)) for value in ((-1.0, 1.0) if update else (1.0, 0.0)))
        plain = ctypes.c_char_p(b"N")
        lengths = (ctypes.c_size_t(1), ctypes.c_size_t(1))  # of the texts, as gfortran passes them
        self._dgemm(plain, plain, m, n, k, alpha, a, m, b, k, beta, c, m, *lengths)


class Shape(NamedTuple):
    """c is m x n, a is m x k, b is k x n; `update`: c = c - a·b, as LU's trailing matrix, rather than c = a·b."""

    m: int
    n: int
    k: int
    update: bool = False

    @property
    def operations(self) -> float:
        """Floating-point operations of a product."""
        return 2.0 * self.m * self.n * self.k

    @classmethod
    def of(cls, text: str) -> Shape:
        """From "M,N,K,UPDATE"."""
        m, n, k, update = (int(part) for part in text.split(","))
        return cls(m, n, k, bool(update))


def matrix(size: int, start: int) -> array[float]:
    """So many whole numbers from -8 to 8: sums of their products are exact in doubles far beyond any size."""
    pattern = array("d", [float((start + (i * i) % _PATTERN) % 17 - 8) for i in range(_PATTERN)])
    return (pattern * (size // _PATTERN + 1))[:size]


def wrong(shape: Shape, a: array[float], b: array[float], c: array[float], times: float = 1.0) -> str | None:
    """Which of some elements of c is not `times` that of a·b, in words; None: all are right, to the last bit."""
    for row in _places(shape.m):
        for column in _places(shape.n):
            exact = times * sum(a[row + i * shape.m] * b[i + column * shape.k] for i in range(shape.k))
            if c[row + column * shape.m] != exact:
                size = f"{shape.m} x {shape.n}"
                return f"row {row}, column {column} of {size} is {c[row + column * shape.m]}, not {exact}"
    return None


def _places(n: int) -> Iterable[int]:
    return range(n) if n <= 16 else (0, 1, n // 3, n // 2, n - 2, n - 1)


def measure(
    blas: Blas,
    shape: Shape,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
    ready: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Time products for `seconds`, after one that warms up: {"rate": metric, "seconds"}.

    The value is the median of 2·m·n·k over the time of a call; null with the reason where a product is wrong.

    Parameters
    ----------
    ready
        Called after the first product: returns when it is time to begin.
    """
    a, b = matrix(shape.m * shape.k, 1), matrix(shape.k * shape.n, 5)
    c = array("d", bytes(8 * shape.m * shape.n))
    pointers = [(ctypes.c_double * len(each)).from_buffer(each) for each in (a, b, c)]
    blas.multiply(shape, *pointers)
    mistake = wrong(shape, a, b, c)
    ready()
    if mistake is not None:
        return _without(f"its product is wrong: {mistake}")
    times: list[float] = []
    while len(times) < _FEWEST or sum(times) < seconds:
        start = clock()
        blas.multiply(shape, *pointers, update=shape.update)
        times.append(clock() - start)
    mistake = wrong(shape, a, b, c, 1.0 - len(times) if shape.update else 1.0)
    if mistake is not None:
        return _without(f"its product is wrong after {len(times)} more: {mistake}")
    rates = [shape.operations / each for each in times]
    rate = {
        "unit": "flop/s",
        "value": statistics.median(rates),
        "n": len(rates),
        "min": min(rates),
        "max": max(rates),
    }
    return {"rate": rate, "seconds": sum(times)}


def _without(reason: str) -> dict[str, Any]:
    return {"rate": {"unit": "flop/s", "value": None, "reason": reason}, "seconds": 0.0}


def describe(
    path: str,
    shape: Shape,
    threads: int,
    seconds: float,
    *,
    load: Callable[[str], Any] = ctypes.CDLL,
    ready: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Everything about the library at `path`: name, version, threads, rate; or the reason why it has none."""
    try:
        blas = Blas(load(path))
    except (OSError, NoSuch) as error:
        return _without(f"{path} can't be used: {error}")
    name, version = blas.identity()
    found = {"name": name, "version": version, "plain": blas.plain, "threads": blas.use_threads(threads)}
    return {**found, **measure(blas, shape, seconds, ready=ready)}


def summed(each: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer of processes that measured at the same time: their rates' sum; none where one has none."""
    lost = next((one for one in each if one["rate"]["value"] is None), None)
    if lost is not None:
        return lost
    rates = [one["rate"] for one in each]
    totals = {name: sum(rate[name] for rate in rates) for name in ("value", "n", "min", "max")}
    return {**each[0], "rate": {"unit": "flop/s", **totals}, "seconds": max(one["seconds"] for one in each)}


def together(parts: list[list[int]], work: Callable[[list[int], Callable[[], None]], dict[str, Any]]) -> dict[str, Any]:
    """`work` in a process for each part, all of which begin to measure when the last one is ready.

    Parameters
    ----------
    work
        Given its part's CPUs, and what to call when it is ready.
    """
    if len(parts) == 1:
        return work(parts[0], lambda: None)
    wait, begin = os.pipe()
    children = [_fork(part, work, wait, begin) for part in parts]
    for _, lines in children:
        lines.readline()
    os.close(begin)
    said = [lines.readline() for _, lines in children]
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _ in children]
    bad = next((end for end in ends if end != 0), None)
    if bad is not None or not all(said):
        how = f"by signal {-bad}" if bad is not None and bad < 0 else f"with status {bad}"
        return _without(f"one of {len(parts)} processes that called it ended {how}")
    return summed([json.loads(line) for line in said])


def _fork(
    part: list[int], work: Callable[[list[int], Callable[[], None]], dict[str, Any]], wait: int, begin: int
) -> tuple[int, IO[str]]:
    """A process that does one part: its number, and what it says: a line when it is ready, one when it is done."""
    inner, outer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(outer)
        return pid, os.fdopen(inner)
    os.close(begin)  # or the wait would never end

    told: list[bool] = []

    def ready() -> None:
        told.append(True)
        os.write(outer, b"\n")
        os.read(wait, 1)

    said = json.dumps(work(part, ready))
    os.write(outer, f"{'' if told else chr(10)}{said}\n".encode())
    os._exit(0)


def _bound(path: str, shape: Shape, seconds: float, cpus: list[int], ready: Callable[[], None]) -> dict[str, Any]:
    os.sched_setaffinity(0, cpus)  # before the library is loaded: it counts the CPUs that it may use
    return describe(path, shape, len(cpus), seconds, ready=ready)


if __name__ == "__main__":
    _, _path, _shape, _cpus, _seconds = sys.argv
    _parts = [[int(cpu) for cpu in part.split(",")] for part in _cpus.split(":")]
    _found = together(_parts, lambda cpus, go: _bound(_path, Shape.of(_shape), float(_seconds), cpus, go))
    sys.stdout.write(json.dumps(_found) + "\n")
