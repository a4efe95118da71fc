"""Measurements on a machine that shares its CPUs: made again while the hypervisor gives too much of them to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wulf.agent.counting import difference, snapshot

MOST_STOLEN = 0.01
"""Of all CPUs' time, what others may have during a measurement that counts."""

ATTEMPTS = 5
"""Unless told: steal comes in bursts, and a short measurement falls between two of them."""

Value = TypeVar("Value")


def stolen_share(before: dict[str, Any], after: dict[str, Any]) -> float:
    """What the hypervisor gave to others, of all CPUs' time between two snapshots."""
    spent = difference(before, after)["cpu"]["all"]
    return float(spent.get("steal", 0.0) / sum(spent.values()))


class Calm:
    """Takes measurements, each up to `attempts` times, and keeps the one that was disturbed least.

    Only what was stolen decides, never the figure.

    Parameters
    ----------
    attempts
        For each measurement, at most.
    counted
        A snapshot of the machine's counters; injected so that tests are exact.
    """

    def __init__(self, attempts: int = ATTEMPTS, counted: Callable[[], dict[str, Any]] = snapshot) -> None:
        self._attempts, self._counted = attempts, counted
        self.kept: list[float] = []
        self.repeated = 0

    def measure(self, take: Callable[[], Value]) -> Value:
        """One measurement."""
        found: list[tuple[float, Value]] = []
        while not found or (found[-1][0] > MOST_STOLEN and len(found) < self._attempts):
            before = self._counted()
            value = take()
            found.append((stolen_share(before, self._counted()), value))
        share, best = min(found, key=lambda one: one[0])
        self.kept.append(share)
        self.repeated += len(found) - 1
        return best

    @property
    def words(self) -> str:
        """What was made again, and how calm the rest was."""
        over = sum(share > MOST_STOLEN for share in self.kept)
        left = f"; {over} never were calmer than that, the worst with {max(self.kept):.1%}" if over else ""
        return (
            f"Of {len(self.kept) + self.repeated} measurements {self.repeated} were made again, since the hypervisor "
            f"took more than {MOST_STOLEN:.0%} of the CPUs' time meanwhile{left}."
        )
