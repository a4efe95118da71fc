"""Runs of a program that has a figure for several contests at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


@dataclass
class Runs(Generic[Name]):
    """Runs, each made when all figures of a name have been used.

    Parameters
    ----------
    make
        One run: its figures by name.
    """

    make: Callable[[], Mapping[Name, float]]
    waiting: dict[Name, deque[float]] = field(default_factory=dict)

    def figure(self, name: Name) -> float:
        """The next run's figure of that name. KeyError: a run has none."""
        if not self.waiting.get(name):
            for each, value in self.make().items():
                self.waiting.setdefault(each, deque()).append(value)
        return self.waiting[name].popleft()
