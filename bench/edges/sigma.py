"""cpu-rate over caches whose sizes are known, to hold Brown's hypothesis against: what makes σ(size) peak, and where.

A run over n elements takes n·t, more where part of it misses. Two things scatter its time:

- *luck* at the edge: which part of the working set the cache keeps differs from run to run, most where half misses;
- *interruptions* of length d that come λ times a second. A run that takes T has λT of them: the relative σ they make,
  d·√(λ/T), falls with the length. But a hundred runs meet any at all only where they take longer than there is peace,
  100·T > 1/λ: below, the usual sweep sees none. So σ has a peak there, too, and it moves with the interruptions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.edges.curves import soft
from wulf.stats.claims import Claim
from wulf.stats.curves.sigma_peak import Peak, find_sigma_peaks
from wulf.stats.samples import Floats

RUNS = 100
ELEMENT = 1.3e-9
"""Seconds an element of eight bytes takes where nothing misses: a divide's throughput."""

PENALTY = 0.5
"""What an element costs more where it misses: the loop is ascending, so that prefetching hides most."""


@dataclass(frozen=True)
class Machine:
    """A cache, and what disturbs the runs.

    Attributes
    ----------
    cache
        B.
    luck
        Standard deviation of the share that misses, where half does, between runs.
    interruptions
        Pairs of how many a second and how many seconds each.
    """

    name: str
    cache: float
    luck: float
    interruptions: tuple[tuple[float, float], ...]

    def scatter(self, random: np.random.Generator, size: float) -> float:
        """σ over mean of a replicate's runs."""
        share = float(soft(np.array([size]), np.array([self.cache]))[0])
        missing = share + 4 * self.luck * share * (1 - share) * random.normal(size=RUNS)
        times: Floats = size / 8 * ELEMENT * (1 + PENALTY * missing) * (1 + 0.005 * random.normal(size=RUNS))
        for rate, seconds in self.interruptions:
            times = times + seconds * random.poisson(rate * times)
        return float(times.std(ddof=1) / times.mean())


def sizes() -> Floats:
    """Working sets: 2 KiB to 64 MiB, four an octave."""
    found: Floats = 2048 * 2.0 ** (np.arange(61) / 4)
    return found


def peaks(random: np.random.Generator, machine: Machine, replicates: int = 8) -> tuple[Peak, ...]:
    """The resolved peaks of one sweep."""
    swept = {float(s): [machine.scatter(random, s) for _ in range(replicates)] for s in sizes()}
    return tuple(peak for peak in find_sigma_peaks(swept, random=random) if peak.resolved)


def _near(peak: Peak, size: float) -> bool:
    """Within an octave about the size."""
    return size / 2 <= peak.size.value <= 2 * size


MIB = float(1 << 20)
CASES = (
    Machine("an idle machine, luck at the edge", MIB, 0.1, ()),
    Machine("ticks of 3 µs, 250 a second", MIB, 0.1, ((250.0, 3e-6),)),
    Machine("others take 4 ms, 10 a second", MIB, 0.1, ((10.0, 4e-3),)),
    Machine("others take 4 ms, 100 a second", MIB, 0.1, ((100.0, 4e-3),)),
    Machine("ticks, no luck at the edge", MIB, 0.0, ((250.0, 3e-6),)),
)


def claims(random: np.random.Generator, campaigns: int) -> list[Claim]:
    """Shares of sweeps whose highest peak marks the cache, and whose highest peak is elsewhere: shown, not promised."""
    made = []
    for machine in CASES:
        found = [peaks(random, machine) for _ in range(campaigns)]
        highest = [each[0] for each in found if each]
        edge = sum(_near(peak, machine.cache) for peak in highest)
        any_edge = sum(any(_near(peak, machine.cache) for peak in each) for each in found)
        for what, count in (
            ("some peak of σ lies at the cache", any_edge),
            ("the highest peak of σ lies at the cache", edge),
            ("the highest peak of σ lies elsewhere", len(highest) - edge),
        ):
            made.append(Claim(what, machine.name, count / campaigns, campaigns, None))
    return made
