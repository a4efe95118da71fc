"""Clusters whose truth is known: their records are the runner's, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.selftest.simulated.clusters import records, samples, surveyed
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, Stream
from wulf.workflow.node.survey import LOOKS

NODES = 24


@pytest.mark.parametrize("stream", [*SYNTHETIC[:3], *DEPENDENT], ids=lambda stream: stream.name)
def test_records_are_those_of_the_runner(stream: Stream) -> None:
    values = samples(np.random.default_rng(1), np.zeros(NODES), stream)
    by_runner = {one.subject: (one.value, one.replicates, one.samples) for one in surveyed(values)}
    assert {one.subject: (one.value, one.replicates, one.samples) for one in records(values)} == by_runner
    assert {replicates for _, replicates, _ in by_runner.values()} == set(LOOKS)


def test_a_nodes_own_replicates_depend_on_those_before() -> None:
    values = np.log(samples(np.random.default_rng(1), np.zeros(2000), DEPENDENT[2]))
    assert np.mean(values[:, 1:] * values[:, :-1]) / np.var(values) == pytest.approx(0.8, abs=0.05)
