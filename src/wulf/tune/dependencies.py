"""How settings hang together: which is written first, which is without effect, what else a change sets anew.

Pure functions of a catalogue: settings by name. Names that it does not hold are left out of what is said of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from wulf.core.errors import UsageError
from wulf.tune.setting import Value
from wulf.tune.values import Catalogue, same


def needs(catalogue: Catalogue, names: Iterable[str]) -> set[str]:
    """All that `names` need, directly or by way of others; without `names` themselves, unless they need each other."""
    return _closure(names, lambda name: catalogue[name].needs if name in catalogue else ())


def resets(catalogue: Catalogue, names: Iterable[str]) -> set[str]:
    """All that a change of `names` may set anew, directly or because that sets others anew in turn."""
    return _closure(names, lambda name: catalogue[name].resets if name in catalogue else ())


def _closure(names: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(names)
    while ahead:
        for name in following(ahead.pop()):
            if name not in found:
                found.add(name)
                ahead.append(name)
    return found


def order(catalogue: Catalogue, names: Sequence[str]) -> list[str]:
    """`names` in the order of writing: each after what it needs, what may mask it, and what would set it anew.

    Undoing goes the other way round. Names that nothing binds keep their order. Needs count before masks, and
    masks before resets: where two contradict each other, the lesser is left out.

    Raises
    ------
    UsageError
        Settings need each other in a circle.
    """
    chosen = set(names)
    before = {name: needs(catalogue, [name]) & chosen for name in names}
    masks = {name: _masks(catalogue, name) & chosen for name in before}
    anew = {name: {other for other in before if name in resets(catalogue, [other])} for name in before}
    for lesser in (masks, anew):
        for name, others in lesser.items():
            for other in (each for each in names if each in others - {name}):
                if not _reaches(before, other, name):
                    before[name].add(other)
    return list(_sorted(before))


def _masks(catalogue: Catalogue, name: str) -> set[str]:
    return {*catalogue[name].masked_by} if name in catalogue else set()


def _reaches(before: Mapping[str, Collection[str]], start: str, end: str) -> bool:
    """Whether `end` has to be written before `start` already."""
    return end in _closure([start], lambda name: before.get(name, ()))


def _sorted(before: Mapping[str, Collection[str]]) -> Iterator[str]:
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        raise UsageError(
            f"settings of the catalogue need each other in a circle: {' → '.join(error.args[1])}",
            "one of their `needs` has to go",
        ) from error
    place = {name: at for at, name in enumerate(before)}
    ready: list[str] = []
    while sorter.is_active() or ready:
        ready = sorted([*ready, *sorter.get_ready()], key=place.__getitem__)
        yield ready[0]
        sorter.done(ready.pop(0))


def masked(catalogue: Catalogue, values: Mapping[str, Any]) -> dict[str, dict[str, Value]]:
    """Of the settings in `values`, those that are without effect now, each with what masks it, and at which value.

    A setting that is masked masks nothing itself.
    """
    found: dict[str, dict[str, Value]] = {}
    for name in _masks_first(catalogue, values):
        hits = {
            mask: value
            for mask, value in (catalogue[name].masked_by.items() if name in catalogue else ())
            if mask in values and mask not in found and same(values[mask], value)
        }
        if hits:
            found[name] = hits
    return {name: found[name] for name in values if name in found}


def _masks_first(catalogue: Catalogue, names: Iterable[str]) -> list[str]:
    chosen = set(names)
    return list(_sorted({name: _masks(catalogue, name) & chosen for name in names}))


def conflicts(catalogue: Catalogue, names: Collection[str]) -> list[tuple[str, str]]:
    """Pairs of `names` of which one undoes or contradicts the other, each pair once, sorted."""
    pairs = {
        (min(name, other), max(name, other))
        for name in names
        if name in catalogue
        for other in catalogue[name].conflicts
        if other in names
    }
    return sorted(pairs)


def together(catalogue: Catalogue, names: Sequence[str]) -> list[list[str]]:
    """`names` in groups to be searched together: one needs, masks or undoes another. Each group in writing order."""
    left, groups = list(names), []
    while left:
        group = _linked(catalogue, left[0], left)
        groups.append(order(catalogue, [name for name in left if name in group]))
        left = [name for name in left if name not in group]
    return groups


def _linked(catalogue: Catalogue, first: str, names: Collection[str]) -> set[str]:
    def neighbours(name: str) -> list[str]:
        return [other for other in names if _touch(catalogue, name, other) or _touch(catalogue, other, name)]

    return _closure([first], neighbours) | {first}


def _touch(catalogue: Catalogue, name: str, other: str) -> bool:
    """Whether `name` says that the two belong together."""
    if name not in catalogue:
        return False
    setting = catalogue[name]
    return other in setting.masked_by or other in setting.needs or other in setting.conflicts
