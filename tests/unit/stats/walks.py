"""What a list of bounds really errs, by the density that the levels are made from."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.stats.sequential import _Walk


def crossing_probabilities(looks: Sequence[int], bounds: Sequence[float]) -> list[float]:
    """The chance to cross ±bounds first at each look, where nothing is to be found; 1.96 everywhere: naive peeking."""
    walk = _Walk()
    return [walk.step(n, bound) for n, bound in zip(looks, bounds, strict=True)]
