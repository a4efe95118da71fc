"""wulf-mpi's graphs of tasks: the messages that a pattern needs are sent, and what arrives is what was needed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.process.native.mpi_session import MpiSession, each_mpi

MESSAGES = {
    3: {"none": [0], "stencil": [4], "fft": [2, 2], "tree": [1, 1, 1, 1], "all": [6]},
    4: {"none": [0], "stencil": [6], "fft": [4, 4], "tree": [2, 1, 1, 2], "all": [12]},
}
"""Ranks → dependence → messages of all ranks after each step, until it begins again; counted by hand."""


def graph(session: MpiSession, **params: Any) -> dict[str, Any]:
    answer = session.ask("run", probe="graph", params=params)
    assert answer["ok"], answer
    return answer


@each_mpi
@pytest.mark.parametrize("ranks", [3, 4])
def test_each_step_sends_what_the_next_one_needs(kind: str, ranks: int) -> None:
    with MpiSession(kind, ranks) as session:
        for dependence, each in MESSAGES[ranks].items():
            for steps, size in ((4 * len(each), 16), (1, 8), (8, 100_000)):
                info = graph(session, dependence=dependence, steps=steps, bytes=size, task_seconds=0)["info"]
                assert info["steps"] == steps and info["tasks"] == steps * ranks
                assert info["messages"] == sum(each[step % len(each)] for step in range(steps)), (dependence, steps)


@each_mpi
def test_a_step_is_its_task_and_what_it_waits_for(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        answer = graph(session, task_seconds=2e-4, steps=50)
        step, overhead, efficiency = (answer["metrics"][name]["value"] for name in ("step", "overhead", "efficiency"))
        assert step - overhead == pytest.approx(2e-4)
        assert efficiency == pytest.approx(2e-4 / step)
        assert graph(session, task_seconds=1e-4, seconds=0)["info"]["steps"] == 32


@each_mpi
def test_what_is_no_graph_is_refused_and_the_session_goes_on(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        for wrong in ({"dependence": "ring"}, {"bytes": 7}, {"steps": 0}):
            refused = session.ask("run", probe="graph", params=wrong)
            assert refused["error"]["field"] == next(iter(wrong))
        assert graph(session, steps=3)["info"]["messages"] == 6
