"""wulf-mpi's linpack: the solution is that of the matrix, whatever the grid, the blocks and the MPI."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.process.native.mpi_session import MpiSession, each_mpi, installed

GRIDS = {1: ("1x1",), 2: ("1x2", "2x1"), 3: ("1x3",), 4: ("2x2",), 6: ("3x2",)}
"""Ranks → grids."""

SIZES = ((1, 1), (1, 8), (5, 8), (16, 8), (37, 5), (70, 32))
"""n and nb: one block, none whole, whole blocks alone, and a last one that is not."""

HANGS = 300.0
"""Seconds: on a busy machine, ranks wait for each other's turn at every pivot."""

Words = npt.NDArray[np.uint64]


def mixed(z: Words) -> Words:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


@functools.cache
def solution(n: int, seed: int) -> npt.NDArray[np.float64]:
    """Of the system that native/mpi/lu/solution.cpp describes, written anew, by numpy."""
    i, j = np.arange(n, dtype=np.uint64)[:, None], np.arange(n + 1, dtype=np.uint64)[None, :]
    start = np.array([(seed + 0x9E3779B97F4A7C15) % 2**64], dtype=np.uint64)
    key = mixed(start) ^ (j << np.uint64(32))
    whole = (mixed(key ^ i) >> np.uint64(11)).astype(float) * 2.0**-53 - 0.5
    return np.asarray(np.linalg.solve(whole[:, :n], whole[:, n]), dtype=np.float64)


def ask(session: MpiSession, **params: Any) -> dict[str, Any]:
    number = session.send("run", probe="linpack", params={"seconds": 0, "blas": "own", **params})
    return session.wait(number, timeout=HANGS)


def solve(session: MpiSession, **params: Any) -> dict[str, Any]:
    answer = ask(session, **params)
    assert answer["ok"], (params, answer)
    return answer


@each_mpi
@pytest.mark.parametrize("ranks", GRIDS)
def test_solutions_are_those_of_numpy(kind: str, ranks: int) -> None:
    with MpiSession(kind, ranks) as session:
        for grid in GRIDS[ranks]:
            p, q = map(int, grid.split("x"))
            for n, nb in SIZES:
                for lookahead, order in ((0, "row"), (1, "column")):
                    given = {"n": n, "nb": nb, "p": p, "q": q, "lookahead": lookahead, "order": order, "seed": 7}
                    info = solve(session, **given)["info"]
                    x = solution(n, 7)
                    weights = np.arange(1, n + 1) / n
                    scale = float(np.abs(x).sum())
                    assert info["x"]["sum"] == pytest.approx(x.sum(), abs=1e-10 * scale), given
                    assert info["x"]["weighted"] == pytest.approx(x @ weights, abs=1e-10 * scale), given
                    assert 0 <= info["residual"] < 1
                    assert info["passed"] is True
                    assert info["grid"] == grid


@each_mpi
def test_what_is_said_of_a_run(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        answer = solve(session, n=300, nb=32, p=1, blas=None)
        info, metrics = answer["info"], answer["metrics"]
        assert info["label"] == "wulf linpack; not HPL"
        assert info["blas"]
        assert info["memory_per_rank"] > 8 * 300 * 300 / 2
        flops = 2 / 3 * 300**3 + 3 / 2 * 300**2
        assert metrics["rate"]["value"] * metrics["time"]["value"] == pytest.approx(flops)
        assert list(metrics) == ["rate", "time"]


@pytest.mark.parametrize("package", ["numpy", "scipy"])
def test_it_computes_with_the_libraries_that_wheels_carry(package: str) -> None:
    """NumPy's has integers of 64 bits, SciPy's of 32: their C and Fortran functions differ in a suffix alone."""
    carried = sorted(Path(np.__file__).parents[1].glob(f"{package}.libs/libscipy_openblas*.so"))
    if not carried:
        pytest.skip(f"{package} here is no wheel with a BLAS of its own")
    with MpiSession(installed()[0], 2) as session:
        info = solve(session, n=70, nb=32, p=1, q=2, blas=str(carried[0]), threads=1)["info"]
        assert info["blas"] == str(carried[0])
        assert info["threads"] == 1
        assert "OpenBLAS" in info["blas_version"]
        expected = solution(70, 1)
        assert info["x"]["sum"] == pytest.approx(expected.sum())


@each_mpi
def test_every_seed_has_its_own_matrix(kind: str) -> None:
    with MpiSession(kind, 1) as session:
        sums = {solve(session, n=20, seed=seed)["info"]["x"]["sum"] for seed in (0, 1, 2)}
        assert len(sums) == 3


@each_mpi
@pytest.mark.parametrize("grid", [(1, 2), (2, 1)])
def test_a_singular_matrix_and_a_wrong_solution_have_no_figure(kind: str, grid: tuple[int, int]) -> None:
    with MpiSession(kind, 2) as session:
        given = {"n": 50, "nb": 8, "p": grid[0], "q": grid[1]}
        singular = ask(session, plant="singular", **given)["error"]
        assert singular["code"] == "wrong-result"
        assert "singular: column 25 has no pivot" in singular["message"]
        wrong = ask(session, plant="wrong", **given)["error"]
        assert wrong["code"] == "wrong-result"
        assert "residual" in wrong["message"]
        solve(session, **given)  # and the ranks go on


@each_mpi
def test_what_can_not_be_is_refused_beforehand(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        for params, code, words in (
            ({"p": 2, "q": 2}, "bad-parameter", "2 x 2 has not the 2 ranks"),
            ({"p": 3}, "bad-parameter", "3 x 0"),
            ({"blas": "/no/such/libblas.so"}, "bad-parameter", "can't be loaded"),
            ({"blas": "libc.so.6"}, "bad-parameter", "no dgemm_"),
            ({"n": 1 << 20}, "limit", "MiB"),
        ):
            error = ask(session, **params)["error"]
            assert error["code"] == code, params
            assert words in error["message"], params
        solve(session, n=10)
