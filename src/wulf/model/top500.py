"""Where a figure of HPL would have stood on the Top500 lists since June 1993.

Of each list its first and its last system are known (top500.csv), and a few places from papers (top500.toml). So it is
certain whether a system would have been on a list; its place is estimated by a power law between the known ones, with
the range that the law kept on whole lists.
"""

from __future__ import annotations

import csv
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp, log
from typing import Any, Literal

from wulf.stats.estimates import Interval

LAST_PLACE = 500
GIGA = 1e9

MONTHS = {"06": "June", "11": "November"}


@dataclass(frozen=True)
class Known:
    """A place of a list whose Rmax is known [flop/s]."""

    place: int
    rate: float
    source: str = ""


@dataclass(frozen=True)
class List:
    """One list: `199306`, and its known places, the first and the last one among them."""

    name: str
    known: tuple[Known, ...]
    first_name: str = ""
    last_name: str = ""

    @property
    def title(self) -> str:
        """`June 1993`."""
        return f"{MONTHS[self.name[4:]]} {self.name[:4]}"

    @property
    def year(self) -> float:
        """1993.5: lists are of the middle and nearly the end of a year."""
        return int(self.name[:4]) + int(self.name[4:]) / 12

    @property
    def first(self) -> float:
        """Rmax of no. 1."""
        return self.known[0].rate

    @property
    def last(self) -> float:
        """Rmax of no. 500: what it takes to be on the list."""
        return self.known[-1].rate


Where = Literal["above", "on", "off"]


@dataclass(frozen=True)
class Standing:
    """Where a system would have stood on one list.

    Attributes
    ----------
    where
        Above no. 1, on the list, or off it; of the figure itself.
    sure
        Whether the figure's whole interval stands there.
    place
        The estimate, with its range; None off the list. 1 above it.
    best, worst
        Between which places it certainly is, by the known ones.
    published
        The source of its place, where that is not estimated but published.
    by_law
        What the estimate would be without what is published of the list, where the place itself is.
    """

    list: List
    where: Where
    sure: bool
    place: Interval | None = None
    best: int = 1
    worst: int = LAST_PLACE
    published: str = ""
    by_law: Interval | None = None


@dataclass(frozen=True)
class History:
    """A system on all lists.

    Attributes
    ----------
    missed
        The first list that it would not have been on; None where it would be on the last one there is.
    on
        The last one that it would have been on, or would have led; None where it would never have been.
    led
        The last one that it would have led; None where it would never have.
    """

    standings: tuple[Standing, ...] = field(repr=False)
    missed: Standing | None
    on: Standing | None
    led: Standing | None


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("wulf.model") / "top500.toml").read_text(encoding="utf-8"))


@cache
def lists() -> tuple[List, ...]:
    """All lists, the oldest first."""
    text = (files("wulf.model") / "top500.csv").read_text(encoding="utf-8")
    return tuple(_list(row) for row in csv.DictReader(text.splitlines()))


def source() -> str:
    """Where the lists are from."""
    return str(_table()["source"])


def law_source() -> str:
    """What the estimate's range was found on."""
    return str(_table()["law"]["source"])


def _list(row: Mapping[str, str]) -> List:
    published = [
        Known(one["place"], one["gflops"] * GIGA, one["source"])
        for one in _table()["published"]
        if one["list"] == row["list"]
    ]
    ends = Known(1, float(row["n1_rmax_gflops"]) * GIGA), Known(LAST_PLACE, float(row["n500_rmax_gflops"]) * GIGA)
    known = (ends[0], *sorted(published, key=lambda one: one.place), ends[1])
    return List(row["list"], known, row["n1_name"], row["n500_name"])


def standing(rate: Interval, one: List) -> Standing:
    """Where a system of that rate [flop/s] would have stood: certain by the known places, estimated between them."""
    where = where_of(rate.value, one)
    sure = where_of(rate.low, one) == where == where_of(rate.high, one)
    if where == "off":
        return Standing(one, where, sure, None, LAST_PLACE + 1, LAST_PLACE + 1)
    if where == "above":
        return Standing(one, where, sure, Interval(1, 1, 1), 1, 1)
    best, worst = _between(rate.high, one)[0], _between(rate.low, one)[1]
    exact = next((known for known in one.known if known.rate == rate.value and rate.low == rate.high), None)
    if exact is not None:
        place = Interval(exact.place, exact.place, exact.place)
        ends = replace(one, known=(one.known[0], one.known[-1]))
        law = None if exact in ends.known else standing(rate, ends).place
        return Standing(one, where, sure, place, exact.place, exact.place, exact.source, law)
    fast, slow = _ranged(_estimate(rate.high, one)), _ranged(_estimate(rate.low, one))
    low, high = (min(max(edge, best), worst) for edge in (fast[0], slow[1]))
    return Standing(one, where, sure, Interval(_estimate(rate.value, one), low, high), best, worst)


def where_of(rate: float, one: List) -> Where:
    """Above no. 1, on the list, or off it; as fast as no. 500 is on it."""
    return "above" if rate > one.first else "on" if rate >= one.last else "off"


def _between(rate: float, one: List) -> tuple[int, int]:
    """The best and the worst place that are possible: behind all that are known to be faster, before all slower."""
    faster = [known.place for known in one.known if known.rate > rate]
    slower = [known.place for known in one.known if known.rate <= rate]
    return max(faster, default=0) + 1, min(slower, default=LAST_PLACE)


def _estimate(rate: float, one: List) -> float:
    """The place by a power law between the two known ones around it; beyond the ends 1 and 500."""
    for above, below in pairwise(one.known):
        if below.rate <= rate <= above.rate:
            share = log(above.rate / rate) / log(above.rate / below.rate)
            return above.place * exp(share * log(below.place / above.place))
    return 1.0 if rate > one.first else float(LAST_PLACE)


def _ranged(place: float) -> tuple[float, float]:
    """The estimate's range, as it was on whole lists."""
    bands: Sequence[Mapping[str, float]] = _table()["law"]["bands"]
    band = bands[max(0, bisect_right([one["from"] for one in bands], place) - 1)]
    return place * band["low"], place * band["high"]


def history(rate: Interval, all_lists: Sequence[List] | None = None) -> History:
    """A system of that rate on every list. No. 500 only ever got faster: who misses one list misses all later ones."""
    found = tuple(standing(rate, one) for one in all_lists or lists())
    missed = next((one for one in found if one.where == "off"), None)
    on = next((one for one in reversed(found) if one.where != "off"), None)
    led = next((one for one in reversed(found) if one.where == "above"), None)
    return History(found, missed, on, led)
