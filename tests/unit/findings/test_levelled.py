"""Records become figures that can be compared: by the passes that measured them, whatever is missing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.measure.node_records import record
from wulf.core.records import passes_of
from wulf.findings.levelled import figures_of

ROW = "os.syscall.null"


def test_a_record_that_lacks_passes_is_levelled_by_those_it_has() -> None:
    drift = np.exp(np.linspace(0, 0.4, 8))
    records = [record(f"n{node}", ROW, 1e-7, samples=(1e-7 * drift).tolist()) for node in range(7)]
    late = record("n7", ROW, 1.4e-7, samples=(1e-7 * drift[4:]).tolist(), blocks=[4, 5, 6, 7])
    assert (list(passes_of(records[0])), list(passes_of(late))) == (list(range(8)), [4, 5, 6, 7])
    found = figures_of([*records, late])
    assert np.allclose(found.values, found.values[0])


def test_a_derived_record_counts_with_its_interval() -> None:
    found = figures_of([record("n1", "cpu.clock", 3e9, width=0.02), record("n2", "cpu.clock", 3e9, low=None)])
    assert found.values.tolist() == [3e9, 3e9]
    assert found.errors[0] == pytest.approx(0.01 / 1.96, rel=0.01)
    assert np.isnan(found.errors[1])
    assert np.isinf(found.freedom).all()


def test_what_has_no_ratio_is_left_out() -> None:
    nothing = [
        None,
        record("n2", ROW, None),
        record("n3", ROW, 0.0),
        record("n4", ROW, 1.0, verdict="failed", reason="x"),
    ]
    assert np.isnan(figures_of(nothing).values).all()
