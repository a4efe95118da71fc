"""Clocks that move and time that is stolen are told; rest is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wording import Wording, lacking
from wulf.measure.engine.disturbance import clock_rates, disturbances, stolen_share


def replicate(before: float = 3e9, after: float = 3e9, steal: float = 0.0, user: float = 0.02) -> dict[str, Any]:
    return {
        "info": {"cpu": 3, "clock_rate": {"unit": "Hz", "before": before, "after": after}},
        "counters": {"client": {"cpu": {"all": {"steal": 9.0}, "3": {"user": user, "steal": steal, "guest": 5.0}}}},
    }


def test_a_quiet_cell_has_no_flags() -> None:
    assert disturbances([replicate() for _ in range(8)]) == {}
    assert disturbances([{"info": None, "counters": None}, {}]) == {}


@pytest.mark.parametrize(("moved", "told"), [(2, False), (3, True), (8, True)])
def test_a_clock_that_moves_in_more_than_a_quarter_is_told(moved: int, told: bool) -> None:
    cell = [replicate(after=2.7e9) for _ in range(moved)] + [replicate(after=2.95e9) for _ in range(8 - moved)]
    flags = disturbances(cell)
    assert ("clock" in flags) == told
    if told:
        assert lacking(flags["clock"], "clock rate", f" {moved} of 8 ", "-10%") == []


def test_stolen_time_is_of_the_cpu_that_measured_all_replicates_together(wording: Wording) -> None:
    cell = [replicate(user=0.09, steal=0.01), *(replicate(user=0.1) for _ in range(3))]
    assert stolen_share(cell) == pytest.approx(0.025)
    flags = disturbances(cell)
    assert list(flags) == ["steal"]
    assert "2.5%" in flags["steal"]
    wording(flags["steal"])
    assert stolen_share([{}]) is None
    assert disturbances([replicate(user=1.0, steal=0.009)]) == {}


def test_a_rate_that_was_not_measured_is_none() -> None:
    assert clock_rates(replicate(before=0.0)) is None
    assert clock_rates(replicate(3e9, 3.1e9)) == (3e9, 3.1e9)
