"""The table of BLAS libraries, from records."""

from __future__ import annotations

from rich.console import Console

from wulf.core.records import Record, Verdict
from wulf.measure.blas import table_of
from wulf.report.app.blas import blas_sections
from wulf.report.kit.terminal import print_all

OPEN, ATLAS, BROKEN = "/l/openblas-pthread/libblas.so.3", "/l/atlas/libblas.so.3.10.3", "/l/libatlas.so.3"
FOUND = {"n1": {OPEN: {"LD_LIBRARY_PATH": "/l/openblas-pthread"}, ATLAS: {}, BROKEN: {}}}


def record(path: str, k: int, value: float | None, *, plain: bool = True) -> Record:
    good = value is not None
    return Record(
        run="r", subject="n1", probe="agent", metric="rate", unit="flop/s", at="now", replicates=6, value=value,
        low=0.9 * value if value is not None else None, high=1.1 * value if value is not None else None,
        params={"pattern": "dgemm", "library": path, "k": k}, verdict=Verdict.OK if good else Verdict.UNRESOLVED,
        reason=None if good else "it has no dgemm_", info={"libraries": [{"plain": plain}]},
    )  # type: ignore[call-arg]  # fmt: skip


RECORDS = [
    record(ATLAS, 64, 1e9), record(OPEN, 64, 50e9), record(OPEN, 192, 60e9), record(BROKEN, 64, None),
    record(ATLAS, 192, 2e9), record(BROKEN, 192, None),
    Record(run="r", subject="n1", probe="node", metric="rate", unit="flop/s", at="now", value=80e9,
           params={"pattern": "fma"}, verdict=Verdict.OK),
]  # fmt: skip


def test_the_fastest_library_comes_first_with_its_best_nb() -> None:
    rows = table_of(RECORDS, FOUND).rows
    assert [row.label for row in rows] == ["openblas-pthread", "atlas", "libatlas.so.3"]
    assert rows[0].best is not None
    assert rows[0].best.params["k"] == 192
    assert rows[2].best is None


def test_the_table_has_shares_of_the_peak_reasons_and_the_way_to_choose_and_fits_80_columns() -> None:
    console = Console(width=80, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        print_all(blas_sections(table_of(RECORDS, FOUND)), console)
    text = captured.get()
    assert "75%" in text
    assert "54–66 Gflop/s" in text
    assert "peak 80 Gflop/s" in text
    assert "libatlas.so.3: it has no dgemm_" in text
    assert "openblas-pthread with NB 192" in text
    assert "LD_LIBRARY_PATH=/l/openblas-pthread" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_wheels_library_is_shown_and_never_advised() -> None:
    records = [*RECORDS, record("/v/libscipy_openblas-1.so", 64, 70e9, plain=False)]
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        print_all(blas_sections(table_of(records, FOUND)), console)
    assert "libscipy_openblas-1.so *" in captured.get()
    assert "fastest: openblas-pthread" in captured.get()


def test_where_no_library_has_a_rate_there_is_no_table() -> None:
    (section,) = blas_sections(table_of([record(BROKEN, 64, None)], FOUND))
    assert section.body == ["libatlas.so.3: it has no dgemm_"]
