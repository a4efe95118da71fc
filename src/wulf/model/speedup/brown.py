"""Brown's figures of speedup over processors, from his parameters.

R. G. Brown, Maximizing Beowulf Performance (Annual Linux Showcase 2000), and the chapter on Amdahl's law of his book
Engineering a Beowulf-style Compute Cluster: Ts = 10 sets the scale, Tp = 10 … 100000 in decades, Tip = 1, and the
figures differ in Tis = 0, 1, 10. He goes on to communication that grows with N²; that figure's parameters were not to
be had: it is drawn here with Tis = 1 and the others as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wulf.model.speedup.forms import BROWN, BROWN_SQUARED, Form
from wulf.stats.samples import Floats

SERIAL = 10.0
WORK = (10.0, 100.0, 1000.0, 10000.0, 100000.0)
GOING_PARALLEL = 1.0


@dataclass(frozen=True)
class Figure:
    """One figure: a curve for each Tp of `WORK`.

    Attributes
    ----------
    published
        Whether the parameters are his; else they are ours, for his formula.
    """

    number: int
    form: Form
    communication: float
    published: bool = True

    def theta(self, work: float) -> Floats:
        """The form's parameters: c = Tp, a = Ts + Tip, b = Tis. Shape (3,)."""
        return np.array([work, SERIAL + GOING_PARALLEL, self.communication])

    def speedup(self, work: float, workers: Sequence[float] | Floats) -> Floats:
        """S(N) = (Ts + Tp) / (Ts + N·Tis + Tp/N + Tip). Shape (workers,)."""
        result: Floats = (SERIAL + work) / (self.form.columns(np.asarray(workers, dtype=float)) @ self.theta(work))
        return result

    def peak(self, work: float) -> tuple[float, float]:
        """N* and S(N*); infinite, and the limit of S, where nothing grows."""
        place = float(self.form.peak(self.theta(work)))
        if not np.isfinite(place):
            return place, (SERIAL + work) / (SERIAL + GOING_PARALLEL)
        return place, float(self.speedup(work, [place])[0])


FIGURES = (Figure(1, BROWN, 0.0), Figure(2, BROWN, 1.0), Figure(3, BROWN, 10.0), Figure(4, BROWN_SQUARED, 1.0, False))
