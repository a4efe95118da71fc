"""The forms that time over workers may have, as a table: each is a sum of non-negative parts, linear in its parameters.

All say T(N) = Σ θᵢ·gᵢ(N) with θ >= 0, so that one solver fits them all, and what each part costs can be told:

- Amdahl: a + c/N (Amdahl 1967): a serial part, and work that divides.
- Brown: a + b·N + c/N, and a + b·N² + c/N (Brown, Maximizing Beowulf Performance, 2000): S(N) = (Ts + Tp) /
  (Ts + N·Tis + Tp/N + Tip) with a = Ts + Tip, b = Tis, c = Tp. N² where every worker talks with every other, in turn.
- USL: S(N) = N / (1 + σ(N-1) + κN(N-1)) (Gunther, Guerrilla Capacity Planning, 2007), that is
  T = T₁/N + σT₁·(N-1)/N + κT₁·(N-1).

USL and Brown's form with N span the same curves: b = κT₁, a = (σ-κ)T₁, c = (1-σ)T₁. They differ in what must not be
negative only: USL allows σ < κ, for which Brown's a would be negative. Wherever σ >= κ no times can tell one from the
other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wulf.stats.samples import Floats

Part = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Form:
    """One form.

    Attributes
    ----------
    name, title
        For programs, and for people.
    formula
        T(N), for people.
    parts
        The functions of N that are summed.
    parameters
        Their factors, in seconds.
    costs
        What each part is, for people; the first is the work that divides.
    divided
        How much of each parameter is divided by N: c of c/N is their sum.
    growth
        The power of N with which communication, the last part, grows; 0 where the form has none, and so no peak.
    """

    name: str
    title: str
    formula: str
    parts: tuple[Part, ...]
    parameters: tuple[str, ...]
    costs: tuple[str, ...]
    divided: tuple[float, ...]
    growth: int

    def columns(self, workers: Floats) -> Floats:
        """Every part at so many workers, shape (workers, parts)."""
        return np.stack([part(workers) for part in self.parts], axis=1)

    def peak(self, theta: Floats) -> Floats:
        """N at which T is least, for parameters of shape (…, parts); infinite where no part grows.

        dT/dN = 0: N* = √(c/b); with N², 2bN = c/N² and so N* = (c/2b)^⅓. At least 1.
        """
        if self.growth == 0:
            return np.full(theta.shape[:-1], np.inf)
        falling, rising = theta @ np.array(self.divided), theta[..., -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(rising > 0, np.maximum(falling, 0.0) / (self.growth * rising), np.inf)
        result: Floats = np.maximum(1.0, ratio ** (1 / (self.growth + 1)))
        return result


def _shared(n: Floats) -> Floats:
    return 1 / n


def _constant(n: Floats) -> Floats:
    return np.ones_like(n)


def _linear(n: Floats) -> Floats:
    return n


def _squared(n: Floats) -> Floats:
    return n**2


def _contention(n: Floats) -> Floats:
    return (n - 1) / n


def _coherency(n: Floats) -> Floats:
    return n - 1


AMDAHL = Form(
    "amdahl", "Amdahl", "a + c/N", (_shared, _constant), ("c", "a"), ("work that divides", "serial part"), (1, 0), 0,
)  # fmt: skip
BROWN = Form(
    "brown", "Brown, N·Tis", "a + b·N + c/N", (_shared, _constant, _linear), ("c", "a", "b"),
    ("work that divides", "serial part", "communication"), (1, 0, 0), 1,
)  # fmt: skip
BROWN_SQUARED = Form(
    "brown2", "Brown, N²·Tis", "a + b·N² + c/N", (_shared, _constant, _squared), ("c", "a", "b"),
    ("work that divides", "serial part", "communication"), (1, 0, 0), 2,
)  # fmt: skip
USL = Form(
    "usl", "USL", "T₁/N·(1+σ(N-1)+κN(N-1))", (_shared, _contention, _coherency), ("t1", "sigma_t1", "kappa_t1"),
    ("work that divides", "contention", "coherency"), (1, -1, 0), 1,
)  # fmt: skip

FORMS = (AMDAHL, BROWN, BROWN_SQUARED, USL)
"""In the order in which they are shown."""
