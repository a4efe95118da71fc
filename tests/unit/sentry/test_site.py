"""A cluster over months: levels, what stands out, which rows there are, what measuring cost, who was left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tests.unit.sentry.making import (
    COMMON,
    DAY,
    DRIFT,
    DRIFTED,
    FLAPPING,
    GONE,
    HOLDER,
    MENDED,
    NOW,
    STEP,
    STEPPED,
    UNREACHED,
    made,
)  # fmt: skip
from wulf.sentry.incident import Kind
from wulf.sentry.site import (
    LEAST_DAYS,
    LEVEL_DAYS,
    MOST_GROUPS,
    MOST_ROWS,
    NOT_TRIED,
    UNMEASURED,
    Site,
    brief_rows,
    deviations,
    read_site,
    rows_of,
    stand_out,
)  # fmt: skip
from wulf.sentry.state import MetricInfo, SentryState

NAN = float("nan")
UNKNOWN = np.array([NAN])


@cache
def site(nodes: int = 200, days: int = 90) -> Site:
    with TemporaryDirectory() as folder, SentryState(made(Path(folder) / "sentry.db", nodes=nodes, days=days)) as state:
        return read_site(state, NOW, days)


def row(found: Site, node: str) -> int:
    return list(found.grid.nodes).index(node)


def test_a_level_is_the_median_of_the_first_days_with_a_figure() -> None:
    values = np.array([[NAN, 10.0, 11.0, NAN, 9.0, 10.0, 10.0, 10.0, 10.0, 12.0]])
    assert LEVEL_DAYS == 7
    lower = deviations(values, "lower", UNKNOWN)[0]
    assert np.isnan(lower[[0, 3]]).all()
    assert lower[[1, 2, 4, 9]] == pytest.approx([0.0, 0.1, -0.1, 0.2])
    assert deviations(values, "higher", UNKNOWN)[0][9] == pytest.approx(-0.2)


def test_an_incident_knows_the_level_better() -> None:
    values = np.array([[12.0, 12.0, 12.0]])
    assert deviations(values, "lower", np.array([10.0]))[0] == pytest.approx([0.2, 0.2, 0.2])


def test_too_few_days_and_figures_without_logarithm_have_no_level() -> None:
    assert LEAST_DAYS == 3
    assert deviations(np.array([[10.0, 20.0, NAN]]), "lower", UNKNOWN)[0][:2].tolist() == [0.0, 0.0]
    assert np.isnan(deviations(np.array([[0.0, -1.0]]), "lower", UNKNOWN)).all()


def test_of_several_metrics_the_one_is_shown_that_stands_out_most_for_its_noise() -> None:
    shape = 1, 101
    worse, odd, of = np.full(shape, NAN), np.zeros(shape), np.full(shape, -1, dtype=np.int16)
    quiet, loud = np.zeros(shape), np.tile([0.05, -0.05], 51)[None, :101].copy()
    quiet[0, 7], loud[0, 7] = 0.1, 0.2
    quiet[0, 8], loud[0, 8] = 0.02, 0.9
    quiet[0, 9] = NAN
    stand_out(worse, odd, of, 0, quiet)
    stand_out(worse, odd, of, 1, loud)
    assert (worse[0, 7], of[0, 7]) == (0.1, 0), "20 % of what scatters by 5 % is less than 10 % of what doesn't"
    assert (worse[0, 8], of[0, 8]) == (0.9, 1)
    assert (worse[0, 9], of[0, 9]) == (0.0, -1), "measured by one of them, and within its spread"
    stand_out(worse, odd, of, 2, np.full(shape, NAN))
    assert (of != 2).all()


def test_what_befell_nodes_stands_out_when_it_did_and_nothing_else() -> None:
    found = site()
    grid, last = found.grid, found.grid.days - 1
    names = [metric.name for metric in grid.metrics]
    step = row(found, STEP)
    assert np.flatnonzero(grid.of[step] >= 0).tolist() == list(range(last + 1 - STEPPED, last + 1))
    assert grid.worse[step, -1] == pytest.approx(0.3, abs=0.03)
    assert {names[i] for i in grid.of[step, -STEPPED:]} == {"mem.triad"}
    drift = grid.worse[row(found, DRIFT)]
    assert drift[-1] == pytest.approx(0.004 * (DRIFTED - 1), abs=0.04)
    assert (drift[: last + 1 - DRIFTED] == 0).all()
    assert (grid.worse[row(found, MENDED), -5:] == 0).all()
    assert np.isnan(grid.worse[row(found, GONE), -UNREACHED:]).all()
    newer = [i for i, node in enumerate(found.nodes) if node.hardware == "epyc-9654" and node.name not in (DRIFT, GONE)]
    common = grid.worse[newer, -COMMON:]
    assert np.median(common) == pytest.approx(0.08, abs=0.01)
    well = [i for i in range(len(found.nodes)) if found.nodes[i].hardware == "epyc-7763"]
    well = [i for i in well if grid.nodes[i] not in (STEP, DRIFT, FLAPPING, MENDED, GONE)]
    assert (grid.worse[well] != 0).mean() < 0.001


def test_what_is_open_and_what_was_closed() -> None:
    found = site()
    assert [one.what.node for one in found.open] == [GONE, DRIFT, STEP, "@epyc-9654"]
    assert [one.what.node for one in found.closed] == [FLAPPING, MENDED]
    assert found.affected == {GONE, DRIFT, STEP}
    assert found.well == 197
    assert found.running == 1


def test_few_nodes_have_a_row_each() -> None:
    found = site(80)
    rows = rows_of(found)
    assert sorted(len(one.nodes) for one in rows) == [1] * 80
    assert [one.nodes[0] for one in rows[:3]] == [STEP, DRIFT, MENDED]


def test_of_many_those_that_matter_have_one_and_the_others_are_grouped_by_class() -> None:
    found = site()
    rows = rows_of(found)
    alone = [one.nodes[0] for one in rows if len(one.nodes) == 1]
    assert len(alone) <= MOST_ROWS
    assert alone[:5] == [STEP, DRIFT, GONE, MENDED, FLAPPING]
    assert MOST_GROUPS - 2 <= len(rows) - len(alone) <= MOST_GROUPS + 2
    assert sorted(node for one in rows for node in one.nodes) == sorted(found.grid.nodes)
    classes = {one.name: one.hardware for one in found.nodes}
    assert all({classes[node] for node in one.nodes} == {one.hardware} for one in rows)
    newer = [one for one in rows if one.hardware == "epyc-9654" and len(one.nodes) > 1]
    assert all(one.worse[-1] == pytest.approx(0.08, abs=0.025) for one in newer), "a class's change is in all of them"


def test_a_terminal_has_those_with_incidents_and_a_row_for_each_class() -> None:
    rows = brief_rows(site(), 20)
    assert [(one.nodes[0], len(one.nodes)) for one in rows[:5]] == [
        (STEP, 1), (DRIFT, 1), (GONE, 1), (MENDED, 1), (FLAPPING, 1),
    ]  # fmt: skip
    assert [(one.hardware, len(one.nodes)) for one in rows[5:]] == [("epyc-7763", 97), ("epyc-9654", 98)]


def test_what_measuring_cost() -> None:
    (node,) = site().costs
    assert (node.measure, node.nodes) == ("node", 200)
    assert node.outcomes == {"done": 90, "preempted": 1, "failed": 1}
    assert float(node.by_day.sum()) == 60.0 * (90 * 200 - UNREACHED) + 60.0
    assert node.by_day[-2] == 60.0 * 199


def test_who_was_not_measured_and_why(tmp_path: Path) -> None:
    with SentryState(made(tmp_path / "sentry.db", nodes=160, days=30)) as state:
        old = NOW - UNMEASURED - DAY
        state.write("UPDATE measured SET at = ? WHERE node IN ('n3', 'n4', 'n5')", [(old,)])
        number = state.claim("node", ["n3"], "due", NOW - 3600, HOLDER)
        assert number is not None
        state.finish(number, "failed", NOW - 3500, 100.0, reason="ssh: no route")
        told = read_site(state, NOW, 30)
    found = {one.reason: one for one in told.unmeasured}
    assert told.well == 160 - 4, "n3, n4, n5, and the one that can't be reached"
    assert {reason: list(one.nodes) for reason, one in found.items()} == {
        NOT_TRIED: ["n4", "n5"], "failed: ssh: no route": ["n3"], "can't be reached": [GONE],
    }  # fmt: skip
    assert found[NOT_TRIED].last == old


def test_metrics_without_a_better_way_and_nodes_that_are_gone_are_left_out(tmp_path: Path) -> None:
    with SentryState(made(tmp_path / "sentry.db", nodes=20, days=10)) as state:
        state.metric(MetricInfo("mem.triad", "B/s", ""))
        state.watch({f"n{i}": "a" for i in range(1, 11)}, NOW, 0.1)
        found = read_site(state, NOW, 10)
    assert "mem.triad" not in [metric.name for metric in found.grid.metrics]
    assert found.grid.worse.shape == (10, 10)


def test_an_empty_state_is_a_site_without_nodes(tmp_path: Path) -> None:
    with SentryState(tmp_path / "sentry.db") as state:
        found = read_site(state, NOW, 30)
    assert (rows_of(found), list(found.costs), list(found.unmeasured), found.affected) == ([], [], [], set())


def test_a_class_change_is_no_nodes_own() -> None:
    found = site()
    kinds = {one.what.kind for one in found.open}
    assert Kind.COMMON in kinds
    alone = replace(found, open=[one for one in found.open if one.what.kind is Kind.COMMON])
    assert alone.affected == set()
