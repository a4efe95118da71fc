"""Chases over caches whose sizes are known, to hold `wulf.stats.curves.edges` against: found, or made up.

The latency of a working set S is the sum over the levels of what a miss adds times the share of misses, which follows
from how the cache replaces and how the pages lie:

- `sharp`: least recently used, and pages that fill it evenly. A cycle of loads then misses always, as soon as it is
  larger than the cache.
- `soft`: replacement that is not LRU keeps part of a larger cycle; the misses grow as 1 − (C/S)².
- `coloured`: small pages fall on the colours of the cache as balls into bins (Poisson): all lines miss of a colour that
  got more pages than there are ways. The rise begins at half the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import poisson

from wulf.stats.claims import Claim
from wulf.stats.curves.edges import LEFT, Profile, find
from wulf.stats.samples import Floats

Misses = Callable[[Floats, Floats], Floats]
"""The share of loads that miss, of working sets of these sizes, in a cache of that size."""

LEVELS = (1.1e-9, 4e-9, 15e-9, 90e-9)
"""Latencies in seconds of three caches and memory, as of a server of 2023."""

SLOPE = 0.08
"""Log latency an octave within the last cache: no plateau is quite flat."""

WAYS = 8


def sharp(sizes: Floats, caches: Floats) -> Floats:
    """LRU, evenly filled."""
    return np.where(sizes > caches, 1.0, 0.0)


def soft(sizes: Floats, caches: Floats) -> Floats:
    """Not LRU."""
    return np.maximum(0.0, 1 - (caches / sizes) ** 2)


def coloured(sizes: Floats, caches: Floats) -> Floats:
    """Small pages at random: the share of pages on a colour with more pages than ways."""
    expected = WAYS * sizes / caches
    # Of Poisson counts N with mean m, the share of pages that have N − 1 ≥ WAYS others beside them.
    share: Floats = poisson.sf(WAYS - 1, expected)
    return share


@dataclass(frozen=True)
class Noise:
    """What a replicate adds.

    Attributes
    ----------
    cv
        Relative standard deviation of a replicate.
    stolen, times
        Share of replicates that something else slowed down, and up to how many times.
    neighbours
        The last cache's size is this share of it at least, another one in each replicate: others take the rest.
    """

    name: str
    cv: float
    stolen: float = 0.0
    times: float = 1.0
    neighbours: float = 1.0
    found: float | None = 0.9
    """The share of edges that is to be found; None: no promise, `unresolved` is an answer."""


QUIET = Noise("quiet", 0.01)
USUAL = Noise("usual", 0.03, stolen=0.05, times=2.0)
STOLEN = Noise("stolen", 0.05, stolen=0.15, times=5.0, found=None)
SHARED = Noise("shared", 0.03, stolen=0.05, times=2.0, neighbours=0.5)


@dataclass(frozen=True)
class Machine:
    """Caches whose edges are to be found; `misses` and the noise say how plain they are."""

    name: str
    caches: tuple[float, ...]
    misses: Misses = sharp
    levels: tuple[float, ...] = LEVELS

    def latency(self, sizes: Floats, shrunk: Floats) -> Floats:
        """Seconds a load, of working sets of these sizes, each beside a last cache that is shrunk to a share."""
        total = np.full(sizes.shape, self.levels[0])
        last = len(self.caches) - 1
        for number, (below, above, cache) in enumerate(zip(self.levels, self.levels[1:], self.caches, strict=False)):
            total += (above - below) * self.misses(sizes, cache * (shrunk if number == last else np.ones(sizes.shape)))
        if last > 0:
            octaves = np.log2(np.clip(sizes, self.caches[-2], self.caches[-1]) / self.caches[-2])
            total *= np.exp(SLOPE * octaves)
        return total

    def crossing(self, number: int, share: float) -> float:
        """Where one edge by itself has climbed so much of its rise, on a log scale."""
        below, above = self.levels[number : number + 2]
        wanted: float = (below * (above / below) ** share - below) / (above - below)
        cache = self.caches[number]
        if self.misses is sharp:
            return cache

        def beyond(size: float) -> float:
            return float(self.misses(np.array([size]), np.array([cache]))[0]) - wanted

        found: float = brentq(beyond, cache / 16, cache * 16)
        return found

    def shrunk(self, share: float) -> Machine:
        """The same with a smaller last cache."""
        return replace(self, caches=(*self.caches[:-1], self.caches[-1] * share)) if self.caches else self


def grid(per_octave: int, machine: Machine) -> Floats:
    """Working sets of a sweep: from 2 KiB to four times the last cache."""
    most = 4 * (machine.caches[-1] if machine.caches else 32 << 20)
    sizes = 2048 * 2.0 ** (np.arange(0, np.log2(most / 2048) * per_octave + 0.5) / per_octave)
    return np.round(sizes / 64) * 64


def sweep(
    random: np.random.Generator, machine: Machine, noise: Noise, sizes: Floats, replicates: int
) -> dict[float, list[float]]:
    """One campaign: size → latencies, one a replicate."""
    shape = (replicates, sizes.size)
    truth = machine.latency(np.broadcast_to(sizes, shape), random.uniform(noise.neighbours, 1.0, shape))
    slowed = np.where(random.random(shape) < noise.stolen, random.uniform(1.0, noise.times, shape), 1.0)
    measured = truth * slowed * np.exp(noise.cv * random.normal(size=shape))
    return {float(size): measured[:, i].tolist() for i, size in enumerate(sizes)}


@dataclass
class Score:
    """Counts over campaigns: of caches, of edges, and of those that were found, which intervals hold the truth, and how
    many would agree with a cache of half or twice the size as well.
    """

    campaigns: int = 0
    caches: int = 0
    found: int = 0
    unresolved: int = 0
    made_up: int = 0
    left: int = 0
    half: int = 0
    lax: int = 0

    def add(self, machine: Machine, profile: Profile) -> None:
        """Count one campaign."""
        resolved = [edge for edge in profile.edges if edge.unresolved is None]
        self.campaigns += 1
        self.caches += len(machine.caches)
        self.unresolved += len(profile.edges) - len(resolved)
        self.made_up += any(
            not any(edge.holds(cache, coloured=machine.misses is coloured) for cache in machine.caches)
            for edge in resolved
        )
        for number, cache in enumerate(machine.caches):
            small = machine.misses is coloured
            edge = next((edge for edge in resolved if edge.holds(cache, coloured=small)), None)
            if edge is not None:
                self.found += 1
                self.left += edge.left.low <= machine.crossing(number, LEFT) <= edge.left.high
                self.lax += any(edge.holds(cache * times, coloured=small) for times in (0.5, 2.0))
                self.half += edge.half.low <= machine.crossing(number, 0.5) <= edge.half.high


Draw = Callable[[np.random.Generator], Machine]


def score(
    random: np.random.Generator, draw: Draw, noise: Noise, *, campaigns: int, per_octave: int, replicates: int = 8
) -> Score:
    """So many campaigns, each over a machine as drawn."""
    total = Score()
    for _ in range(campaigns):
        machine = draw(random)
        measured = sweep(random, machine, noise, grid(per_octave, machine), replicates)
        truth = machine.shrunk((1 + noise.neighbours) / 2)  # the median of what the neighbours leave
        total.add(truth, find(measured, random=random))
    return total


KIB, MIB = float(1 << 10), float(1 << 20)
SERVER, LAPTOP, SMALL, NONE = (32 * KIB, MIB, 32 * MIB), (48 * KIB, 1.25 * MIB, 12 * MIB), (64 * KIB, 512 * KIB), ()


def _cover(machine: Machine) -> float:
    """How often the interval is to hold the end of the plateau: less often where the rise has no sharp beginning."""
    return 0.8 if machine.misses is coloured else 0.93


def _always(machine: Machine) -> Draw:
    return lambda _: machine


def claims(random: np.random.Generator, campaigns: int, per_octave: int) -> list[Claim]:
    """What is promised of edges, over machines whose edges are known, at so many sizes an octave."""
    made = []
    for machine, noise in CASES:
        found = score(random, _always(machine), noise, campaigns=campaigns, per_octave=per_octave)
        made += _claims(f"{machine.name}, {noise.name}", machine, noise, found)
    found = score(random, drawn, USUAL, campaigns=4 * campaigns, per_octave=per_octave)
    return [*made, *_claims("caches, latencies and misses drawn, usual", DRAWN, USUAL, found)]


def _claims(name: str, machine: Machine, noise: Noise, found: Score) -> list[Claim]:
    made = [Claim("an edge is made up", name, found.made_up / found.campaigns, found.campaigns, 0.05)]
    if not machine.caches:
        return made
    n, share = max(1, found.found), found.found / found.caches
    return [
        *made,
        Claim("a cache's edge is found", name, share, found.caches, noise.found, at_most=False),
        Claim("its end of the plateau is covered", name, found.left / n, n, _cover(machine), at_most=False),
        Claim("its half-rise is covered", name, found.half / n, n, 0.93, at_most=False),
        Claim("half or twice the size would agree, too", name, found.lax / n, n, None),
    ]


DRAWN = Machine("drawn", SERVER)
"""Stands for all that are drawn."""


def drawn(random: np.random.Generator) -> Machine:
    """A machine that no threshold was chosen on: first, second and last cache of any size, also 5·2ⁿ and 7·2ⁿ."""
    parts = np.array([4, 5, 6, 7]) / 4
    sizes = [
        float(low * 2.0 ** random.integers(0, octaves) * random.choice(parts))
        for low, octaves in ((32 * KIB, 2), (512 * KIB, 2), (16 * MIB, 3))
    ]
    levels = np.cumprod([1e-9, *(random.uniform(2.5, 6.0, 3))])
    return Machine("drawn", tuple(sizes), (sharp, soft)[random.integers(2)], tuple(levels.tolist()))


CASES = (
    (Machine("no cache", NONE), USUAL),
    (Machine("32K 1M 32M sharp", SERVER), QUIET),
    (Machine("32K 1M 32M sharp", SERVER), STOLEN),
    (Machine("48K 1.25M 12M sharp", LAPTOP), USUAL),
    (Machine("48K 1.25M 12M soft", LAPTOP, soft), USUAL),
    (Machine("48K 1.25M 12M coloured", LAPTOP, coloured), USUAL),
    (Machine("64K 512K soft", SMALL, soft), USUAL),
    (Machine("32K 1M 32M soft", SERVER, soft), SHARED),
)
