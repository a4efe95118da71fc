"""The solver's workflow: which BLAS is taken, what is said of a solution, and how long it may take."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.wording import Wording, lacking
from wulf.cluster.inventory import Inventory
from wulf.measure.mpi.probes import LEAST_RATE, LINPACK, mpi_probe, work_seconds
from wulf.workflow.app import linpack as app_linpack
from wulf.workflow.app.linpack import OWN, Choice, fastest_common, solved_finding
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions
from wulf.workflow.mpi.launching import Launch


def said(**rates: float | None) -> dict[str, Any]:
    """What the agent's dgemm says of these libraries."""
    told = [{"path": f"/lib/{name}", "rate": {"value": rate}, "seconds": 0.05} for name, rate in rates.items()]
    return {"info": {"libraries": told}}


def test_the_library_is_taken_that_is_fastest_where_it_is_slowest(wording: Wording) -> None:
    answers = {"n1": said(a=9e9, b=5e9, c=7e9), "n2": said(a=1e9, b=4e9)}
    found = fastest_common(answers)
    assert found.path == "/lib/b"
    assert lacking(found.why, "fastest of 2 ", "512 rows", "4 GFLOP/s") == []
    wording(found.why)


def test_a_library_that_computes_wrongly_somewhere_is_not_taken() -> None:
    assert fastest_common({"n1": said(a=9e9, b=1e9), "n2": said(a=None, b=1e9)}).path == "/lib/b"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"n1": said(a=1e9), "n2": said(b=1e9)}, "none of /lib/a, /lib/b works on every node"),
        ({"n1": said()}, "no BLAS was found"),
        ({}, "no BLAS was found"),
    ],
)
def test_without_a_common_library_the_own_code_is_used(answers: dict[str, Any], words: str) -> None:
    found = fastest_common(answers)
    assert found.path == OWN
    assert words in found.why


INFO = {
    "label": "wulf linpack; not HPL", "n": 4000, "nb": 128, "grid": "1x2", "order": "row", "lookahead": 1,
    "memory_per_rank": 64 << 20, "residual": 0.003, "threshold": 16.0, "blas": "/lib/b", "blas_version": "",
    "rank_0_seconds": {"panel": 0.1, "exchange": 0.1, "update": 0.8, "wait": 0.0, "solve": 0.0},
}  # fmt: skip


def test_a_solution_is_labelled_and_its_worst_residual_said(wording: Wording) -> None:
    finding = solved_finding([{**INFO, "residual": 0.5}, INFO], "as it was named")
    assert finding.text.startswith("wulf linpack; not HPL: ")
    parameters = ("n 4000", "blocks of 128", "grid 1x2 by row", "look-ahead 1", "64 MiB a rank")
    assert lacking(finding.text, *parameters, "BLAS /lib/b (as it was named)") == []
    assert (
        lacking(finding.text, "residual at most 0.5, below 16: right", "panel 10%", "exchange 10%", "update 80%") == []
    )
    wording(finding.text)


class _Ranks:
    """Ranks that are never started; a cell is its parameters."""

    def __call__(self, *_: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def cell(self, _number: int, _probe: Any, _name: str, params: Any) -> Any:
        return params


@pytest.mark.parametrize(
    ("wanted", "path"), [(None, "/lib/best"), ("mine", "/lib/mine"), (OWN, OWN), ("libblas.so.3", "libblas.so.3")]
)
def test_the_best_library_is_taken_unless_one_is_named(
    wanted: str | None, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(_: Any) -> Choice:
        assert wanted is None
        return Choice("/lib/best", "the only one that all nodes have")

    def answers(*_: Any, **__: Any) -> dict[str, Any]:
        library = {"path": "/lib/mine", "label": "mine"}
        return {node: {"libraries": [library], "also": []} for node in ("n1", "n2")}

    monkeypatch.setattr(app_linpack, "choose", choose)
    monkeypatch.setattr(app_linpack, "_answers", answers)
    params = {"n": 10, **({"blas": wanted} if wanted else {})}
    writer: Any = None
    study = app_linpack.Linpack(Conditions(Inventory.from_nodeset("n[1-2]"), Effort(), writer, 1), Launch(), params)
    ranks: Any = _Ranks()
    nodes: Any = None
    study.ranks = ranks
    with study.attach(Connected({}, {}), nodes):
        assert study.shared(mpi_probe()) == [{"n": 10, "blas": path}]


def test_a_large_matrix_is_waited_for() -> None:
    assert work_seconds("pingpong", {"n": 10_000}, 2) == 0
    assert work_seconds(LINPACK, {"n": 30_000}, 2) == pytest.approx(2 / 3 * 2.7e13 / (2 * LEAST_RATE))
    assert work_seconds(LINPACK, {}, 1) == work_seconds(LINPACK, {"n": 2000}, 1) > 0
