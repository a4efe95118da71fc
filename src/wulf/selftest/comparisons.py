"""`--versus`: two configurations in randomised blocks."""

from __future__ import annotations

import numpy as np

from wulf.selftest.noise import CV, everything, over
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.comparison import Comparison, PairedRule
from wulf.stats.samples import Floats
from wulf.stats.streams import SYNTHETIC, Stream

EFFECT = 0.02
"""The difference to be found."""


def paired(random: np.random.Generator, stream: Stream, n: int, effect: float) -> tuple[Floats, Floats]:
    """A and B of n blocks over one series of noise, AB or BA as a coin falls."""
    noise = CV * stream.draw(random, 2 * n).reshape(n, 2)
    a_first = random.random(n) < 0.5
    a = np.where(a_first, noise[:, 0], noise[:, 1])
    b = np.where(a_first, noise[:, 1], noise[:, 0]) + np.log1p(effect)
    return np.exp(a), np.exp(b)


def comparisons(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """A/A and A/B campaigns with the stopping rule as `--versus` uses it."""
    rule = PairedRule()
    false = covered = found = early = 0
    for _ in range(size.campaigns):
        false += _campaign(rule, *paired(random, stream, rule.most, 0.0)).changed
        outcome = _campaign(rule, *paired(random, stream, rule.most, EFFECT))
        covered += outcome.low is not None and outcome.high is not None and outcome.low <= 1 + EFFECT <= outcome.high
        found += outcome.judgement == "slower"
        early += outcome.judgement == "slower" and outcome.n <= 12
    n = size.campaigns
    claims = [
        Claim("A/A: a difference is claimed", stream.name, false / n, n, 0.05),
        Claim("2 % slower: the ratio's interval covers it", stream.name, covered / n, n, 0.93, at_most=False),
    ]
    if stream is SYNTHETIC[0]:
        claims.append(
            Claim("2 % slower at CV 1 %: found within 12 pairs", stream.name, early / n, n, 0.9, at_most=False)
        )
    return [*claims, Claim("2 % slower: found within 40 pairs", stream.name, found / n, n, None)]


def _campaign(rule: PairedRule, a: Floats, b: Floats) -> Comparison:
    """The comparison at the look at which the rule ends it."""
    n = next(look for look in rule.looks if rule.enough(a[:look], b[:look]))
    return rule.compare(a[:n], b[:n])


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return over("comparisons", comparisons, everything())
