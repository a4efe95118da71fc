"""Brown's figures of speedup over processors, from his parameters.

R. G. Brown, Maximizing Beowulf Performance (Annual Linux Showcase 2000), and the chapter on Amdahl's law of his book
Engineering a Beowulf-style Compute Cluster. The book has Ts = 10, which sets the scale, Tp = 10 … 100000 in decades,
Tip = 1, and three figures that differ in Tis = 0, 1, 10. In the paper the figures of speedup are those from 2 to 4; the
last is of communication that grows with N², and contradicts itself: Tis is 10 in its caption, and 1 in its text. Its
other parameters, and which Tis its figures 2 and 3 have, were not to be had: the book's are drawn.
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
    communication
        Tis.
    source
        Where Tis stands: `book`, or the paper's `caption` or `text`.
    number
        The figure's number in the paper; None where it is not known.
    """

    form: Form
    communication: float
    source: str = "book"
    number: int | None = None

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


FIGURES = (
    *(Figure(BROWN, communication) for communication in (0.0, 1.0, 10.0)),
    Figure(BROWN_SQUARED, 10.0, "caption", 4),
    Figure(BROWN_SQUARED, 1.0, "text", 4),
)
