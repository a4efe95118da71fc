"""Reads files of algorithms back, as the MPIs do: what `write_rules` has written comes out as its rules."""

from __future__ import annotations

from collections.abc import Iterator

from wulf.measure.mpi.algorithms import RULES, Choice
from wulf.measure.mpi.rules_file import Rule, read_variables


def read_rules(text: str, choice: Choice) -> list[Rule]:
    """The rules of a file; AssertionError, KeyError or StopIteration where it is none for that MPI."""
    return sorted(_of_numbers(text, choice) if choice.file == RULES else _of_variables(text, choice))


def _of_variables(text: str, choice: Choice) -> Iterator[Rule]:
    known = {
        item: Rule(op, 0, 0, None, one.name)
        for op, collective in choice.collectives.items()
        for one in collective.algorithms
        for item in choice.forced(op, one.name).items()
    }
    for item in read_variables(text).items():
        yield known[item]


def _of_numbers(text: str, choice: Choice) -> list[Rule]:
    """Collectives; of each its number and its numbers of ranks; of each its sizes; of each of these four numbers."""
    numbers = iter([int(word) for line in text.splitlines() for word in line.partition("#")[0].split()])
    by_id = {one.id: one for one in choice.collectives.values()}
    rules: list[Rule] = []
    for _ in range(next(numbers)):
        collective = by_id[next(numbers)]
        names = {one.number: one.name for one in collective.algorithms}
        for _ in range(next(numbers)):
            ranks, count = next(numbers), next(numbers)
            unit = collective.size(1, ranks) or 1
            rows = [[next(numbers) for _ in range(4)] for _ in range(count)]
            assert not rows or rows[0][0] == 0, "the first size must be 0"
            for (size, algorithm, *_), following in zip(rows, [*rows[1:], None], strict=True):
                if algorithm:
                    end = None if following is None else following[0] // unit
                    rules.append(Rule(collective.op, ranks, size // unit, end, names[algorithm]))
    assert next(numbers, None) is None, "more numbers than the file says"
    return rules
