"""Lists of a value for each rank, by the runs that a trace tells them by: nine bytes can name four million entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import overload

Run = tuple[int, int, int]
"""The first value, how many there are, and the step from each to the next."""


class Runs(Sequence[int]):
    """The list that runs say, equal to any other of the same values.

    It takes the memory and the time of its runs, so of what the file has, until somebody walks it.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._length = sum(times for _, times, _ in runs)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        for first, times, step in self.runs:
            yield from range(first, first + step * times, step) if step else repeat(first, times)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(self._length))]
        left = range(self._length)[at]
        for first, times, step in self.runs:
            if left < times:
                return first + step * left
            left -= times
        raise IndexError(at)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Runs) and self.runs == other.runs:
            return True
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return f"Runs({list(self.runs)})"
