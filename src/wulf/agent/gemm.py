"""Times one BLAS library's dgemm, in a process of its own: `python -m wulf.agent.gemm PATH N CPUS SECONDS`.

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._dgemm = self._function("dgemm_")
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

    def multiply(self, n: int, a: Any, b: Any, c: Any) -> None:
        """c = a·b of n x n doubles by columns: BLAS level 3's DGEMM (Dongarra and others, 1990)."""
        # 64 bits serve libraries that read 32, too: the lower half comes first on both architectures of ours
        size = ctypes.byref(ctypes.c_int64(n))
        one, zero = ctypes.byref(ctypes.c_double(1.0)), ctypes.byref(ctypes.c_double(0.0))
        plain = ctypes.c_char_p(b"N")
        lengths = (ctypes.c_size_t(1), ctypes.c_size_t(1))  # of the texts, as gfortran passes them
        self._dgemm(plain, plain, size, size, size, one, a, size, b, size, zero, c, size, *lengths)


def matrix(n: int, start: int) -> array[float]:
    """n x n whole numbers from -8 to 8: their products' sums are exact in doubles up to n = 2^46."""
    pattern = array("d", [float((start + (i * i) % _PATTERN) % 17 - 8) for i in range(_PATTERN)])
    return (pattern * (n * n // _PATTERN + 1))[: n * n]


def wrong(n: int, a: array[float], b: array[float], c: array[float]) -> str | None:
    """Which of some elements of c is not that of a·b, in words; None: all are right, to the last bit."""
    places = range(n) if n <= 16 else (0, 1, n // 3, n // 2, n - 2, n - 1)
    for row in places:
        for column in places:
            exact = sum(a[row + k * n] * b[k + column * n] for k in range(n))
            if c[row + column * n] != exact:
                return f"row {row}, column {column} of {n} x {n} is {c[row + column * n]}, not {exact}"
    return None


def measure(blas: Blas, n: int, seconds: float, clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """Time products for `seconds`, after one that warms up: {"rate": metric, "seconds"}.

    The value is the median of 2·n³ over the time of a call; null with the reason where a product is wrong.
    """
    a, b, c = matrix(n, 1), matrix(n, 5), array("d", bytes(8 * n * n))
    pointers = [(ctypes.c_double * (n * n)).from_buffer(each) for each in (a, b, c)]
    blas.multiply(n, *pointers)
    mistake = wrong(n, a, b, c)
    if mistake is not None:
        return {"rate": {"unit": "flop/s", "value": None, "reason": f"its product is wrong: {mistake}"}, "seconds": 0.0}
    times: list[float] = []
    while len(times) < _FEWEST or sum(times) < seconds:
        start = clock()
        blas.multiply(n, *pointers)
        times.append(clock() - start)
    rates = [2.0 * n**3 / each for each in times]
    rate = {
        "unit": "flop/s",
        "value": statistics.median(rates),
        "n": len(rates),
        "min": min(rates),
        "max": max(rates),
    }
    return {"rate": rate, "seconds": sum(times)}


def describe(
    path: str, n: int, threads: int, seconds: float, load: Callable[[str], Any] = ctypes.CDLL
) -> dict[str, Any]:
    """Everything about the library at `path`: name, version, threads, rate; or the reason why it has none."""
    try:
        blas = Blas(load(path))
    except (OSError, NoSuch) as error:
        return {"rate": {"unit": "flop/s", "value": None, "reason": f"{path} can't be used: {error}"}, "seconds": 0.0}
    name, version = blas.identity()
    return {"name": name, "version": version, "threads": blas.use_threads(threads), **measure(blas, n, seconds)}


if __name__ == "__main__":
    _, _path, _n, _cpus, _seconds = sys.argv
    _numbers = [int(cpu) for cpu in _cpus.split(",")]
    os.sched_setaffinity(0, _numbers)  # before the library is loaded: it counts the CPUs that it may use
    sys.stdout.write(json.dumps(describe(_path, int(_n), len(_numbers), float(_seconds))) + "\n")
