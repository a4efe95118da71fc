"""Links as arrays: higher is worse, whatever the unit."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.cluster.link_table import table_of
from wulf.stats.estimates import Estimate


@pytest.mark.parametrize("lower_is_better", [True, False])
def test_worse_is_more_and_figures_come_back(lower_is_better: bool) -> None:
    links = {("a", "b"): Estimate(2.0, 1.0, 4.0, 0.95, 6), ("b", "c"): Estimate(8.0, 7.0, 9.0, 0.95, 6)}
    table = table_of(links, lower_is_better=lower_is_better)
    assert (table.bad[1] > table.bad[0]) == lower_is_better
    assert (table.best <= table.bad).all()
    assert (table.bad <= table.worst).all()
    assert table.figures(table.bad[0], table.best[0], table.worst[0]) == pytest.approx((2.0, 1.0, 4.0))
    assert table.names == ["a", "b", "c"]


def test_only_links_between_two_nodes_with_an_interval() -> None:
    links = {
        ("a", "a"): Estimate(1.0, 1.0, 1.0, 0.95, 6),
        ("a", "b"): Estimate(None, None, None, None, 0, "lost"),
        ("b", "a"): Estimate(1.0, None, None, None, 1, "too few"),
    }
    assert len(table_of(links, lower_is_better=True).bad) == 0


def test_a_rate_of_zero_is_worse_than_any() -> None:
    links = {("a", "b"): Estimate(0.0, 0.0, 0.0, 0.95, 6), ("b", "c"): Estimate(1e-9, 1e-9, 1e-9, 0.95, 6)}
    table = table_of(links, lower_is_better=False)
    assert np.isfinite(table.bad).all()
    assert table.bad[0] > table.bad[1]
