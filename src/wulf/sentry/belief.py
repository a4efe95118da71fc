"""Which nodes have likely changed since they were last measured, by their history and by passive signs. Pure.

A node changes now and then, at a rate that its own history says something about: with a Gamma prior on the rate, whose
mean is that of all nodes together, so that one that broke twice is looked at oftener (Gelman et al., "Bayesian Data
Analysis", section 2.6: rates of many units). Between tests the chance that it has changed grows; a sign multiplies its
odds; a test that shows nothing lowers them, one that stands out raises them by its evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wulf.core.durations import DAY
from wulf.stats.samples import Floats

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

STRENGTH = 0.5
"""Changes that the prior counts as: nodes differ widely in how often they break."""

FIRST_RATE = 1 / (400 * DAY)
"""Changes a second and node before anything is known: somewhat less than one a year."""

SENSITIVITY = 0.9
"""Chance that a test of a changed node shows something."""

LEAST, MOST = 1e-6, 0.999
"""A chance stays within: what is certain could never be told otherwise."""

AFTER_A_FAULT = 1e-3
"""Chance that a node has changed once more, just after a change was told."""

STANDS_OUT = 2.0
"""Evidence from which on a test raises the chance, and lowers it below."""


@dataclass
class Beliefs:
    """Arrays over nodes.

    Attributes
    ----------
    chance
        That it has changed, as of `as_of` (Unix seconds).
    faults
        Changes that it has had.
    since
        Unix seconds: watched since then.
    """

    chance: Floats
    faults: Floats
    since: Floats
    as_of: Floats

    def rates(self, now: float) -> Floats:
        """Changes a second: each node's own, drawn towards that of all."""
        watched = np.maximum(now - self.since, 0.0)
        common = (self.faults.sum() + STRENGTH) / (watched.sum() + STRENGTH / FIRST_RATE)
        return np.asarray((self.faults + STRENGTH) / (watched + STRENGTH / common))

    def at(self, now: float) -> Floats:
        """The chances now."""
        passed = np.maximum(now - self.as_of, 0.0)
        return _within(1.0 - (1.0 - self.chance) * np.exp(-self.rates(now) * passed))

    def test(self, nodes: Ints, evidence: Floats, changed: Bools, now: float) -> None:
        """Some nodes were tested.

        Parameters
        ----------
        evidence
            Of each, as a factor: `of_all`.
        changed
            Where a change for the worse is told by it: that one is known now, and the next one is looked for.
        """
        after = weighed(self.at(now)[nodes], told_by(evidence))
        self.chance[nodes] = np.where(changed, AFTER_A_FAULT, after)
        self.faults[nodes] += changed
        self.as_of[nodes] = now


def _within(chance: Floats) -> Floats:
    return np.asarray(np.clip(chance, LEAST, MOST))


def weighed(chance: Floats, odds: Floats) -> Floats:
    """Chances after something that is so many times likelier where the node has changed."""
    raised = chance / (1.0 - chance) * odds
    return _within(raised / (1.0 + raised))


def told_by(evidence: Floats) -> Floats:
    """By which factors the odds change after a test of that evidence (not its logarithm)."""
    return np.where(evidence >= STANDS_OUT, evidence, 1.0 - SENSITIVITY)


def of_all(evidence: Sequence[float]) -> float:
    """The evidence of several metrics together: their mean, which is evidence itself whatever they share."""
    return float(np.mean(evidence)) if len(evidence) else 1.0
