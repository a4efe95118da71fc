"""What runs of some configurations tell of others, and how far a run is believed."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pytest

from wulf.search.kernel import Scales, correlation, covariance, itself, sums
from wulf.search.space import Config, Knob, Space
from wulf.search.surrogate import Surrogate

SPACE = Space((Knob("block", (32, 64, 128), 32), Knob("way", ("a", "b", "c"), "a"), Knob("deep", (0, 1), 0)))
SIZES = (512.0, 1024.0, 2048.0)


def cost(config: Config, size: float) -> float:
    """At the full size alone blocks of 64 and way b are fast, each for itself."""
    block, way, deep = config
    full = size == SIZES[-1]
    level = 0.1 * (way == "c") + 0.03 * float(deep) - (0.25 * (block == 64) + 0.15 * (way == "b") if full else 0)
    return (size / 1000) ** 3 * exp(level)


@pytest.mark.parametrize("knobs", [1, 2, 6])
def test_what_a_run_has_in_common_with_itself(knobs: int) -> None:
    alike = correlation(Knob("k", (1, 2, 4), 1))
    main, pair = sums([alike] * knobs)
    z = np.array([0.0, 1 / 3, 1.0])
    whole = itself(z, knobs)._replace(main=main, pair=pair, own=np.eye(3), here=np.eye(3), z=np.outer(z, z))
    np.testing.assert_allclose(np.diag(covariance(whole, Scales())), covariance(itself(z, knobs), Scales()))
    assert np.linalg.eigvalsh(covariance(whole, Scales())).min() > 0


def test_what_knobs_do_at_the_full_size_alone_is_learnt_there() -> None:
    """From full runs in which no two have both of what is fast, the one that has both is known to be the fastest."""
    every = list(product(*(knob.values for knob in SPACE.knobs)))
    full = [(32, "a", 0), (64, "a", 1), (64, "c", 0), (32, "b", 0), (128, "b", 1), (128, "c", 0)]
    runs = [(one, size) for one in every for size in SIZES[:2]] + [(one, SIZES[2]) for one in full]
    surrogate = Surrogate(SPACE, SIZES, 3.0)
    surrogate.learn([one for one, _ in runs], [size for _, size in runs], [cost(*run) for run in runs])
    mean, deviation = surrogate.predict(every, SIZES[2])
    assert every[int(np.argmin(mean))][:2] == (64, "b")
    at = every.index((64, "b", 0))
    assert abs(mean[at] - log(cost((64, "b", 0), SIZES[2]))) < 3 * deviation[at] < 0.3


def test_a_straggler_is_believed_less() -> None:
    """Of five runs one took half as long again: the others have it."""
    surrogate = Surrogate(SPACE, SIZES[2:], 0.0)
    configs = [one for one in product(*(knob.values for knob in SPACE.knobs)) for _ in range(5)]
    costs = [1.0 + 0.002 * (i % 5) for i in range(len(configs))]
    costs[2] = 1.5
    surrogate.learn(configs, SIZES[2:] * len(configs), costs)
    mean, _ = surrogate.predict(configs[:1], SIZES[2])
    assert abs(mean[0]) < 0.02
