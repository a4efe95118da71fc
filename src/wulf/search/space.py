"""What may be chosen: knobs with their values, and the conditions that a choice must meet."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from random import Random

from wulf.core.errors import UsageError
from wulf.core.records import Param
from wulf.search.expression import Expression

Config = tuple[Param, ...]
"""One value of each knob, in the space's order."""

DRAWS = 200
"""Attempts at a random configuration that meets the conditions, before all of them are looked through."""

MOST_LISTED = 3000
"""Configurations of a space that are listed; of a larger one so many are drawn."""


@dataclass(frozen=True)
class Knob:
    """One thing to choose.

    Attributes
    ----------
    values
        At least one; numbers in ascending order are taken to be alike where they are close, words are not.
    default
        What it is without a search.
    setting
        The catalogue's setting that it is; empty: a parameter of the program.
    """

    name: str
    values: tuple[Param, ...]
    default: Param
    setting: str = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise UsageError(f"{self.name} has no values", "give one at least")
        if len(set(map(repr, self.values))) < len(self.values):
            raise UsageError(f"{self.name}: a value is given twice among {said(self.values)}", "give each once")
        if self.default not in self.values:
            raise UsageError(
                f"{self.name}: the default {self.default!r} is none of its values", f"values: {said(self.values)}"
            )

    @property
    def places(self) -> tuple[float, ...] | None:
        """Where its values lie between 0 and 1, on a log scale where they span much; None: words, all apart alike."""
        numbers = [v for v in self.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < len(self.values) or len(numbers) < 3:
            return None
        scaled = [math.log(v) for v in numbers] if min(numbers) > 0 and max(numbers) / min(numbers) > 3 else numbers
        low, high = min(scaled), max(scaled)
        return tuple((v - low) / (high - low) for v in scaled)


def written(value: Param) -> str:
    """A value as programs and `--settings` take it: 1000, not 1000.0; true, not True."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def configuration_text(values: Mapping[str, Param]) -> str:
    """Knobs and their values for a person: `nb=128 grid=1x2`."""
    return " ".join(f"{name}={written(value)}" for name, value in values.items())


def said(values: Sequence[Param]) -> str:
    """Values for a person, the first few."""
    shown = ", ".join(map(written, values[:12]))
    return f"{shown}, …" if len(values) > 12 else shown


@dataclass(frozen=True)
class Space:
    """Knobs and conditions.

    Attributes
    ----------
    given
        What conditions may speak of besides: ranks, memory.
    """

    knobs: tuple[Knob, ...]
    conditions: tuple[str, ...] = ()
    given: Mapping[str, Param] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not any(len(knob.values) > 1 for knob in self.knobs):
            raise UsageError("there is nothing to search: no parameter has two values", "give one two values or more")
        names = [knob.name for knob in self.knobs]
        twice = [name for i, name in enumerate(names) if name in names[:i] or name in self.given]
        if twice:
            raise UsageError(f"parameter {twice[0]!r} is there twice", "names must differ")
        known = frozenset([*names, *self.given])
        object.__setattr__(self, "_checks", tuple(Expression(text, known) for text in self.conditions))
        if not self.fits(self.default):
            raise UsageError(f"the default {self.text(self.default)} breaks {self.broken(self.default)!r}",
                             "give defaults that meet all conditions")  # fmt: skip

    @property
    def settings(self) -> dict[str, tuple[Param, ...]]:
        """Of its knobs those that are settings of nodes: name → values, what is there first."""
        return {knob.name: knob.values for knob in self.knobs if knob.setting}

    @property
    def default(self) -> Config:
        """Every knob as it is without a search."""
        return tuple(knob.default for knob in self.knobs)

    @property
    def size(self) -> int:
        """Configurations, whether they meet the conditions or not."""
        return math.prod(len(knob.values) for knob in self.knobs)

    def named(self, config: Config) -> dict[str, Param]:
        """A configuration by name."""
        return {knob.name: value for knob, value in zip(self.knobs, config, strict=True)}

    def config(self, named: Mapping[str, Param]) -> Config:
        """A configuration from names; what is not named is at its default.

        Raises
        ------
        UsageError
            There is no such knob, or the value is none of its values.
        """
        known = {knob.name: knob for knob in self.knobs}
        for name, value in named.items():
            if name not in known:
                raise UsageError(f"there is no parameter {name!r}", f"there are {', '.join(known)}")
            if value not in known[name].values:
                raise UsageError(f"{name} = {value!r} is not offered", f"values: {said(known[name].values)}")
        return tuple(named.get(knob.name, knob.default) for knob in self.knobs)

    def without(self, refused: Collection[tuple[str, Param]]) -> Space:
        """Less these values of knobs, by name; a default stays, whatever is said of it.

        Raises
        ------
        UsageError
            No knob has two values left.
        """
        gone = {(name, repr(value)) for name, value in refused}  # 1 is not True
        left = [
            tuple(v for v in knob.values if v == knob.default or (knob.name, repr(v)) not in gone)
            for knob in self.knobs
        ]  # fmt: skip
        knobs = tuple(replace(knob, values=values) for knob, values in zip(self.knobs, left, strict=True))
        return replace(self, knobs=knobs)

    def broken(self, config: Config) -> str:
        """The first condition that it does not meet; empty where it meets all."""
        values = {**self.given, **self.named(config)}
        checks: tuple[Expression, ...] = self._checks  # type: ignore[attr-defined]
        return next((check.text for check in checks if not check.holds(values)), "")

    def fits(self, config: Config) -> bool:
        """Whether it meets every condition."""
        return not self.broken(config)

    def all(self) -> Iterator[Config]:
        """Every configuration that meets the conditions, the last knob changing fastest."""
        return (one for one in product(*(knob.values for knob in self.knobs)) if self.fits(one))

    def some(self, random: Random) -> list[Config]:
        """All that meet the conditions; of too many a random choice with no two alike."""
        if self.size <= MOST_LISTED:
            return list(self.all())
        drawn = (tuple(random.choice(knob.values) for knob in self.knobs) for _ in range(MOST_LISTED))
        return list(dict.fromkeys(one for one in drawn if self.fits(one)))

    def spread(self, count: int, random: Random) -> list[Config]:
        """Configurations in which each value of each knob occurs about as often: a Latin hypercube over choices.

        Fewer where the conditions leave fewer.
        """
        found: dict[Config, None] = {}
        for _ in range(DRAWS):
            columns = [_dealt(knob.values, count, random) for knob in self.knobs]
            for one in zip(*columns, strict=True):
                if len(found) < count and self.fits(one):
                    found[one] = None
            if len(found) == count:
                break
        return list(found) or list(islice(self.all(), count))

    def neighbours(self, config: Config) -> Iterator[Config]:
        """All that differ in one knob alone, and meet the conditions."""
        for at, knob in enumerate(self.knobs):
            for value in knob.values:
                one = (*config[:at], value, *config[at + 1 :])
                if value != config[at] and self.fits(one):
                    yield one

    def text(self, config: Config) -> str:
        """For a person: name=value, those that differ from the default first of all knobs that can vary."""
        pairs = [(k.name, v, v != k.default) for k, v in zip(self.knobs, config, strict=True) if len(k.values) > 1]
        return configuration_text({name: value for name, value, _ in sorted(pairs, key=lambda pair: not pair[2])})


def _dealt(values: Sequence[Param], count: int, random: Random) -> list[Param]:
    """So many values, each about as often, in random order."""
    rounds = -(-count // len(values))
    dealt = [value for _ in range(rounds) for value in random.sample(values, len(values))][:count]
    return random.sample(dealt, count)
