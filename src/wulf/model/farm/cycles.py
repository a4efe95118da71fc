"""How long a worker takes from one message to its next: the forms that it may have, as a table.

A worker of W has C = W·T·b/U seconds for each of its messages of b units, of U units done in T. By itself it needs
Z = t·b + h: t a unit, h what a message costs it (its round trip, receiving and sending). The master needs o = a + c·b.

- free: C = Z. No worker ever waits for another.
- in turn: C = Z + W·o. Nobody works while the master serves: Amdahl's serial part, by the message.
- busy master: C = max(Z, W·o), the asymptotic bounds of a closed network with one server (Denning & Buzen, The
  operational analysis of queueing network models, Computing Surveys 10, 1978).
- queue: C = Z + R - o, where R(Z + R - W·o) = o·Z: that network with times at random, by Schweitzer's approximation
  (Bard, Some extensions to multiclass queueing network analysis, 1979), here with the master's time within Z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wulf.stats.samples import Floats

Cycle = Callable[[Floats, Floats, Floats], Floats]
"""Z, o and W → C, arrays that fit each other's shapes."""


@dataclass(frozen=True)
class CycleForm:
    """One form.

    Attributes
    ----------
    name, title
        For programs, and for people.
    formula
        C, for people.
    parameters
        Those of t, h, a, c that it has; the others are zero.
    """

    name: str
    title: str
    formula: str
    parameters: tuple[str, ...]
    cycle: Cycle

    def at(self, theta: Floats, workers: Floats, batch: Floats) -> Floats:
        """C in seconds, shape (…, cells).

        Parameters
        ----------
        theta
            t, h and, where the form has them, a and c in seconds; shape (…, parameters).
        workers, batch
            Shape (cells,).
        """
        return self.cycle(alone(theta, batch), service(theta, batch), workers)


def alone(theta: Floats, batch: Floats) -> Floats:
    """Z = t·b + h, shape (…, cells)."""
    return theta[..., 0:1] * batch + theta[..., 1:2]


def service(theta: Floats, batch: Floats) -> Floats:
    """o = a + c·b, shape (…, cells); zero of a form without a master's time."""
    if theta.shape[-1] < len(ALL):
        return np.zeros((*theta.shape[:-1], np.size(batch)))
    return theta[..., 2:3] + theta[..., 3:4] * batch


def _free(z: Floats, _o: Floats, _workers: Floats) -> Floats:
    return z


def _in_turn(z: Floats, o: Floats, workers: Floats) -> Floats:
    return z + workers * o


def _busy(z: Floats, o: Floats, workers: Floats) -> Floats:
    return np.maximum(z, workers * o)


def _queue(z: Floats, o: Floats, workers: Floats) -> Floats:
    thinking = np.maximum(z - o, 0.0)
    own = workers * o - thinking
    return thinking + (own + np.sqrt(own**2 + 4 * o * thinking)) / 2


ALL = ("t", "h", "a", "c")

FREE = CycleForm("free", "Free workers", "Z", ALL[:2], _free)
IN_TURN = CycleForm("turn", "In turn", "Z + W·o", ALL, _in_turn)
BUSY = CycleForm("busy", "Busy master", "max(Z, W·o)", ALL, _busy)
QUEUE = CycleForm("queue", "Queue", "Z, and waiting in a queue", ALL, _queue)

FORMS = (FREE, IN_TURN, BUSY, QUEUE)
"""In the order in which they are shown."""
