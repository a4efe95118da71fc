"""The areas measure through the product: its looks, its blocks, its histories."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.selftest import cells, comparisons, histories
from wulf.selftest.simulated.noise import CV
from wulf.stats.claims import Size
from wulf.stats.comparison import versus_rule
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, TICKS, drifting, quantised
from wulf.stats.stopping import LOOKS
from wulf.workflow.engine.effort import QUICK_LOOKS
from wulf.workflow.node.survey import LOOKS as NODE_LOOKS


@pytest.mark.parametrize(
    ("way", "looks"), [(cells.SURVEY, LOOKS), (cells.NODE, NODE_LOOKS), (cells.QUICK, QUICK_LOOKS)]
)
def test_cells_end_at_the_looks_of_the_command(way: cells.Way, looks: tuple[int, ...]) -> None:
    records = cells.campaigns(np.random.default_rng(1), SYNTHETIC[0], way, 12)
    assert len(records) == 12
    assert {record.replicates for record in records} <= set(looks)


def test_with_a_budget_cells_go_on_beyond_the_last_look() -> None:
    records = cells.campaigns(np.random.default_rng(1), SYNTHETIC[0], cells.BUDGET, 6)
    assert max(record.replicates for record in records) > LOOKS[-1]


def test_the_quantised_clock_reads_whole_ticks_and_its_step_is_told() -> None:
    drawn = np.exp(CV * quantised(CV).draw(np.random.default_rng(1), 50)) * TICKS
    assert np.allclose(drawn, np.round(drawn))
    (record,) = cells.campaigns(np.random.default_rng(3), quantised(CV), cells.NODE, 1)
    assert record.low is not None and record.high is not None
    assert record.low < 1 < record.high


@pytest.mark.full
def test_a_run_of_dependent_cells_is_told_of() -> None:
    claims = [
        cells.told(np.random.default_rng(1), Size(1, 100), stream=stream, way=cells.SURVEY)[0]
        for stream in (SYNTHETIC[0], DEPENDENT[2])
    ]
    assert [claim.share for claim in claims] == [0.0, 1.0]


def test_switching_modes_have_the_median_that_is_claimed() -> None:
    stream = DEPENDENT[-1]
    draws = stream.draw(np.random.default_rng(1), 40_000)
    assert float(np.median(draws)) == pytest.approx(stream.median, abs=0.03)


def test_versus_and_compare_go_through_the_runner() -> None:
    found = comparisons.versus(np.random.default_rng(1), SYNTHETIC[0], 0.05, rule=versus_rule())
    assert (found.judgement, found.paired) == ("slower", True)
    run = comparisons.one_run(np.random.default_rng(1), SYNTHETIC[0], {"n3": 0.1})
    assert len(run.records) == comparisons.CELLS
    assert max(run.records, key=lambda record: record.value or 0).subject == "n3>m3"


def test_histories_say_what_is_a_candidate() -> None:
    values = np.exp(CV * drifting(10.0).draw(np.random.default_rng(1), 60))
    told = histories.told_of(values, 1)
    assert told.steps
    assert told.doubt is not None
