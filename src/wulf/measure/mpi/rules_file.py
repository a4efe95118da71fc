"""Files that tell an MPI which algorithms its collectives are to use. Pure.

Open MPI's (coll/tuned, version 1) is a list of numbers: collectives; of each its number and its numbers of ranks; of
each of these its sizes; of each size algorithm, fan-out and segment. A rule holds from its number of ranks and its size
upwards, until the next one, and algorithm 0 leaves the choice to the MPI; the first size must be 0. So each rule is
fenced in: below its size and its ranks, and above them, the MPI chooses. MPICH has one variable a collective.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isqrt

from wulf.core.errors import UsageError
from wulf.measure.mpi.algorithms import RULES, Choice


@dataclass(frozen=True, order=True)
class Rule:
    """From `first` to below `end` bytes, as wulf counts a collective's size, on so many ranks: that algorithm.

    MPICH's hold for all sizes and ranks: `first` is 0, `end` None.
    """

    op: str
    ranks: int
    first: int
    end: int | None
    algorithm: str


def ranges(chosen: Mapping[int, str], measured: Iterable[int]) -> list[tuple[int, int, str]]:
    """Sizes that were measured as ranges: each speaks for those up to half way to its neighbours, on a log scale.

    The smallest and the largest speak as far beyond themselves as to the other side; one alone for half to twice its
    size. Neighbours with one algorithm become one range.

    Parameters
    ----------
    chosen
        Size → the algorithm that was adopted there.
    measured
        All sizes of that collective.
    """
    ladder = sorted(set(measured) | set(chosen))
    middles = [isqrt(a * b) for a, b in pairwise(ladder)]
    low = ladder[0] ** 2 // middles[0] if middles else ladder[0] // 2
    high = ceil(ladder[-1] ** 2 / middles[-1]) if middles else ladder[0] * 2
    edges = [low, *(middle + 1 for middle in middles), high]
    found: list[tuple[int, int, str]] = []
    for number, size in enumerate(ladder):
        if size not in chosen:
            continue
        first, end, name = edges[number], edges[number + 1], chosen[size]
        if found and found[-1][1:] == (first, name):
            found[-1] = (found[-1][0], end, name)
        else:
            found.append((first, end, name))
    return found


def write_rules(rules: Sequence[Rule], choice: Choice, about: Sequence[str] = ()) -> str:
    """The file's text; `about` are lines of comment."""
    head = [f"# {line}" for line in about]
    lines = _dynamic(rules, choice) if choice.file == RULES else _variables(rules, choice)
    return "\n".join([*head, *lines]) + "\n"


def _variables(rules: Sequence[Rule], choice: Choice) -> list[str]:
    return [f"{name}={value}" for rule in rules for name, value in choice.forced(rule.op, rule.algorithm).items()]


def _dynamic(rules: Sequence[Rule], choice: Choice) -> list[str]:
    ops = list(dict.fromkeys(rule.op for rule in sorted(rules)))
    lines = [f"{len(ops)} # collectives"]
    for op in ops:
        mine = sorted(rule for rule in rules if rule.op == op)
        counts = sorted({rule.ranks for rule in mine})
        fenced = (0, *sorted({*counts, *(ranks + 1 for ranks in counts)}))
        groups = [(ranks, _sizes([rule for rule in mine if rule.ranks == ranks], choice)) for ranks in fenced]
        lines += [f"{choice.collectives[op].id} # {op}", f"{len(groups)} # numbers of ranks"]
        for ranks, sizes in groups:
            lines += [f"{ranks} # ranks", f"{len(sizes)} # sizes", *sizes]
    return lines


def _sizes(rules: Sequence[Rule], choice: Choice) -> list[str]:
    """`size algorithm fan-out segment`, from 0 on; the MPI's own choice wherever no rule is."""
    at: dict[int, tuple[int, int, int, str]] = {0: (0, 0, 0, "its own choice")}
    for rule in rules:
        known = choice.collectives[rule.op]
        one = known.find(rule.algorithm)
        at[known.size(rule.first, rule.ranks)] = (one.number, one.fanout, one.segment, one.name)
        if rule.end is not None:
            at.setdefault(known.size(rule.end, rule.ranks), (0, 0, 0, "its own choice"))
    return [f"{size} {a} {fan} {segment} # {name}" for size, (a, fan, segment, name) in sorted(at.items())]


def read_variables(text: str) -> dict[str, str]:
    """The environment that a file of NAME=VALUE stands for. Raises UsageError."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        name, equals, value = words.partition("=")
        if words and not (name and equals and value):
            raise UsageError(f"line {number} is {words!r}, not NAME=VALUE", "write the file anew with --tune")
        if words:
            found[name] = value
    return found
