"""What of a run's time was measuring."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Metric
from wulf.measure.engine.watcher import UNWATCHED
from wulf.workflow.engine.baseline import IDLE_SECONDS, LEAST_IDLE_SECONDS, idle_seconds
from wulf.workflow.engine.time_spent import TimeSpent


def cell(client: str, server: str, seconds: float = 0.1) -> Cell:
    return Cell(0, client, server, "tcp", "stream", {"seconds": seconds}, (Metric("throughput", "B/s"),))


def spent(hosts: dict[str, str], *replicates: tuple[Cell, Any]) -> dict[str, float]:
    times = iter([10.0, 12.5])
    found = TimeSpent(UNWATCHED, lambda: next(times), hosts)
    for one, seconds in replicates:
        found.on_replicate(one, {"ok": seconds is not None, "seconds": seconds})
    return found.told()


def test_what_was_measured_is_what_the_probes_say_of_the_busiest_machine() -> None:
    a, b, c = cell("n1", "n2"), cell("n3", "n4"), cell("n1", "n3")
    assert spent({}, (a, 0.1), (b, 0.1), (c, 0.2)) == {"whole": 2.5, "measured": pytest.approx(0.3)}


def test_nodes_of_one_machine_are_measured_one_after_the_other() -> None:
    a, b = cell("n1", "n2"), cell("n3", "n4")
    hosts = dict.fromkeys(("n1", "n2", "n3", "n4"), "one")
    assert spent(hosts, (a, 0.1), (b, 0.1))["measured"] == pytest.approx(0.2)


def test_a_replicate_that_failed_was_no_measuring() -> None:
    assert spent({}, (cell("n1", "n2"), None))["measured"] == 0.0


@pytest.mark.parametrize(
    ("cells", "idle"), [(0, 0.0), (1, LEAST_IDLE_SECONDS), (8, pytest.approx(0.64)), (100, IDLE_SECONDS)]
)
def test_the_idle_time_is_a_tenth_of_the_measuring_within_bounds(cells: int, idle: float) -> None:
    assert idle_seconds(Plan((cell("n1", "n2"),) * cells, 0, looks=(8, 24))) == idle
