"""The simulation of a large cluster, on a smaller one; time and memory are `make scale`'s to hold."""

from __future__ import annotations

import pytest
from bench.scale.__main__ import LIMITS, Scale, simulate, told


@pytest.mark.full
def test_the_slow_node_and_the_slow_link_are_named_and_nobody_else() -> None:
    scale = simulate(200)
    assert scale.right, (scale.planted, scale.found)
    assert (scale.pairs, scale.records) == (400, 400 * (2 + 3 + 3))
    assert scale.lines < 120, "a large cluster is summed up"
    said: list[str] = []
    told(scale, said.append)
    assert any(line.endswith("right") for line in said)


def test_a_limit_that_is_exceeded_is_said() -> None:
    steps = dict.fromkeys(("pairs", "cells", "order", "plan.json", "findings", "terminal", "report.html"), 0.1)
    scale = Scale(2, seconds=steps, memory=1, planted=("a", "b"), found=["a", "b"])
    assert told(scale, lambda _: None)
    scale.seconds["order"] = LIMITS["planning"] + 1
    assert not told(scale, lambda _: None)
    scale.seconds["order"] = 0.1
    scale.found = ["a"]
    assert not told(scale, lambda _: None)
