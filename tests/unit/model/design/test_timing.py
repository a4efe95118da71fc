"""Time over nodes: parts that are known, forms that were fitted, other nodes and networks, and ratios that cancel."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.cost import from_interval
from wulf.model.design.timing import message_cost, of_one, of_parts, of_study, spanned
from wulf.model.draws import known
from wulf.model.network.figures import Network, scaled
from wulf.model.network.file import shipped_network
from wulf.model.speedup.study import study

RANDOM = np.random.default_rng(3)


def over(*nodes: float) -> np.ndarray:
    return np.array(nodes, dtype=float)


def test_browns_parts_by_hand() -> None:
    timing = of_parts(1000.0, 10.0, 1.0, 2.0)
    assert timing.at(over(1, 10, 20)).tolist() == [1013.0, 131.0, 101.0]
    assert of_parts(1000.0, communication=2.0, growth=2).at(over(10)).tolist() == [300.0]
    assert timing.time(10).low == timing.time(10).high == 131.0


def test_nodes_scale_computing_and_networks_communication() -> None:
    timing = of_parts(1000.0, 10.0, 0.0, 2.0).scaled(known(0.5), known(3.0), 4)
    assert timing.at(over(5))[0] == pytest.approx(0.5 * (1000 / 20 + 10) + 3 * 2 * 20)


def test_a_form_without_communication_does_not_know_the_network() -> None:
    timing = of_parts(1000.0, 10.0)
    assert timing.scaled(known(1.0), known(9.0), 1).at(over(4))[0] == timing.at(over(4))[0]


def measured() -> dict[float, list[float]]:
    return {n: list((100 / n + 5) * np.exp(0.01 * RANDOM.normal(size=5))) for n in (1.0, 2.0, 4.0, 8.0, 16.0)}


def test_a_study_keeps_its_interval_and_how_far_it_reaches() -> None:
    found = study(measured())
    timing = of_study(found)
    for n in (3.0, 16.0, 32.0):
        mine, theirs = timing.time(n), found.predict(n)
        assert (mine.value, mine.low, mine.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
    assert timing.supported(over(1, 32, 33)).tolist() == [True, True, False]


def test_what_is_not_known_of_both_cancels() -> None:
    """The same program on nodes that are twice as fast: the ratio is known far better than either time."""
    timing = of_study(study(measured()))
    fast = timing.scaled(known(0.5), known(0.5), 1)
    ratio, time = fast.ratio(8, timing, 8), timing.time(8)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((0.5, 0.5, 0.5))
    assert time.high / time.low > 1.005


def test_an_uncertain_node_makes_an_uncertain_ratio() -> None:
    timing = of_parts(1000.0)
    doubtful = timing.scaled(from_interval(0.9, 0.8, 1.05, RANDOM), known(1.0), 1)
    ratio = doubtful.ratio(4, timing, 4)
    assert ratio.value == pytest.approx(0.9)
    assert (ratio.low, ratio.high) == pytest.approx((0.8, 1.05), abs=0.02)


def test_one_number_of_workers_says_nothing_of_others() -> None:
    timing = of_one(8, known(3.0))
    assert timing.at(over(8)).tolist() == [3.0]
    assert timing.supported(over(7, 8, 9)).tolist() == [False, True, False]


def test_a_message_by_loggp() -> None:
    """L + both o + bytes·G of what is sent at once; beyond the eager limit two latencies more."""
    gbe = Network(shipped_network("gbe"))
    assert message_cost(gbe, 1000.0, 0).value == pytest.approx(29e-6 + 1000 / 117.7e6)
    latency = 29e-6 - 4e-6 - 6e-6
    assert message_cost(gbe, 1e6, 0).value == pytest.approx(29e-6 + 2 * latency + 1e6 / 117.7e6)
    faster = message_cost(scaled(gbe, bandwidth=2.0), 1e6, 0)
    assert faster.value < message_cost(gbe, 1e6, 0).value
    assert (faster.draws < message_cost(gbe, 1e6, 0).draws).all()


def test_rounding_is_no_interval() -> None:
    one = spanned(3.0, [np.array([3.0, 3.0 + 1e-12, 3.0 - 1e-12])])
    assert (one.low, one.high) == (3.0, 3.0)
