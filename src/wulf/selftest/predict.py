"""`wulf predict`: networks whose figures are known to an interval alone, and a program whose run time is a formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from wulf.model.foresight.forecast import USUAL_DRAWS
from wulf.model.foresight.prediction import Prediction, Traced
from wulf.model.network.figures import PICO, Network, scaled
from wulf.model.network.file import Costs, Figure, NetworkFile
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.scene import Wanted

COMPUTE, LATENCIES, MESSAGES, BYTES, RESENT = 1.0, 20_000, 15_000, 4e8, 3e8
"""Of the program: seconds, and what lies on its critical path; of bytes those that may be hidden behind latencies."""

OWN = {"latency": 20e-6, "send": 4e-6, "receive": 5e-6, "gap": 1e-6, "byte": 1e-9}
OFFERED = {"latency": 4e-6, "send": 2e-6, "receive": 2e-6, "gap": 0.5e-6, "byte": 0.4e-9}
SLOWER = {"latency": 60e-6, "send": 9e-6, "receive": 9e-6, "gap": 2e-6, "byte": 4e-9}
"""Networks as they are: the cluster's own, a better one, and a worse one on which latencies just hide the bytes."""

MEASURED, ESTIMATED = 0.05, 0.3
"""Half widths of their figures' 95 % intervals, as logarithms: what is measured, and what a source prints."""

MISS = 0.1
"""Standard deviation of what the model misses the baseline by, as a logarithm."""

COVERED, WRONG = 0.93, 0.05


@dataclass(frozen=True)
class DrawnFigures:
    """Figures as they are told: off by chance, with the interval that is right in 95 of 100 tellings."""

    truth: Mapping[str, float]
    width: float

    def network(self, random: np.random.Generator, name: str) -> Network:
        """One telling."""
        figures = {part: self._figure(value, random) for part, value in self.truth.items()}
        eager = Figure(value=4096, source="selftest")
        return Network(NetworkFile(name=name, title=name, stack="none", inter=Costs(**figures, eager=eager)))

    def _figure(self, value: float, random: np.random.Generator) -> Figure:
        told = value * np.exp(self.width / float(ndtri(0.975)) * random.normal())
        ends = told * np.exp([-self.width, self.width])
        return Figure(value=float(told), low=float(ends[0]), high=float(ends[1]), source="selftest")


THIS, BETTER, WORSE = DrawnFigures(OWN, MEASURED), DrawnFigures(OFFERED, ESTIMATED), DrawnFigures(SLOWER, ESTIMATED)


def run_time(of: Mapping[str, float]) -> float:
    """Seconds of the program on a network, as the model has it: part of its bytes is hidden where latency is longer."""
    hidden = max(LATENCIES * of["latency"], RESENT * of["byte"])
    return COMPUTE + hidden + MESSAGES * (of["send"] + of["receive"]) + (BYTES - RESENT) * of["byte"]


class _Session:
    """wulf-replay for that program: run times alone."""

    def request(self, op: str, timeout: float | None = None, **fields: Any) -> dict[str, Any]:
        empty: dict[str, dict[str, Any]] = {
            "load": {"program": 1, "ranks": 4, "ops": 1, "messages": MESSAGES, "bytes": BYTES, "compute": COMPUTE},
            "tolerance": {"tolerances": [{}, {}]},
            "breakpoints": {"points": [[0, 0]], "slopes": []},
            "path": {"count": 0, "steps": [], "ranks": []},
            "calls": {"calls": [], "kinds": 0, "traced_ps": 0, "replayed_ps": 0},
        }
        return {"runs": [_run(one) for one in fields["networks"]]} if op == "replay" else empty[op]


def _run(network: Mapping[str, Any]) -> dict[str, Any]:
    own = network["inter"]
    values = {part: own[f"{part}_ps"] / PICO for part in ("latency", "send", "receive")}
    seconds = run_time({**values, "byte": own["byte_fp"] / PICO / (1 << 20)})
    return {"ps": seconds * PICO}


def predicted(this: Network, others: Sequence[Network], measured: float, seed: int, draws: int) -> Prediction:
    """What `wulf predict` makes of it."""
    traced = Traced("selftest", "program", "none", 4, hosts=("a", "b", "c", "d"), seconds=measured)
    return predict(Replay(_Session()), traced, this, Wanted(others, draws=draws, seed=seed))


def forecasts(random: np.random.Generator, size: Size, draws: int = USUAL_DRAWS) -> list[Claim]:
    """Do run times' and gains' intervals cover, where the model is right and the figures are uncertain?"""
    n, hits = max(20, size.surveys), Counter[str]()
    base = run_time(OWN)
    for number in range(n):
        this = THIS.network(random, "own")
        others = [BETTER.network(random, "better"), WORSE.network(random, "worse"), scaled(this, latency=0.5)]
        found = predicted(this, others, base, number, draws)
        truths = (run_time(OFFERED), run_time(SLOWER), run_time({**OWN, "latency": OWN["latency"] / 2}))
        for what, one, truth in zip(GAINS, found.candidates, truths, strict=True):
            hits[what] += one.gain.low <= 1 - truth / base <= one.gain.high
        time = found.candidates[0].forecast.interval
        hits["its run time"] += time.low <= truths[0] <= time.high
    noise = f"figures ±{ESTIMATED:.0%}, own ±{MEASURED:.0%}, {draws} draws"
    return [
        Claim(f"predict: the interval covers {what}", noise, hits[what] / n, n, COVERED, at_most=False)
        for what in (*GAINS, "its run time")
    ]


GAINS = ("a better network's gain", "a worse network's loss, at a bend", "the gain of half the latency")


def verdicts(random: np.random.Generator, size: Size) -> list[Claim]:
    """The model misses the measured run, and on the other network anything between nothing and twice of that."""
    n, hits = max(20, size.surveys), Counter[str]()
    for number in range(n):
        miss = MISS * random.normal()
        base, others = run_time(OWN) * np.exp(-miss), [BETTER.network(random, "better"), WORSE.network(random, "worse")]
        found = predicted(THIS.network(random, "own"), others, base, number, USUAL_DRAWS)
        for one, figures in zip(found.candidates, (OFFERED, SLOWER), strict=True):
            grown = random.choice([0.0, 1.0, run_time(figures) / run_time(OWN), 2.0])
            gain = 1 - (run_time(figures) + grown * (base - run_time(OWN))) / base
            hits["covered"] += one.bounds.low <= gain <= one.bounds.high
            hits["wrong"] += (one.verdict.word == "buy" and gain < one.required) or (
                one.verdict.word == "don't" and gain >= one.required
            )
    noise = f"the model misses by {MISS:.0%}: gone there, the same, grown with the run, or twice as much"
    return [
        Claim("predict: the bounds with all doubts cover the gain", noise, hits["covered"] / (2 * n), 2 * n, COVERED,
              at_most=False),
        Claim("predict: a verdict is wrong", noise, hits["wrong"] / (2 * n), 2 * n, WRONG),
    ]  # fmt: skip


def close(random: np.random.Generator, size: Size) -> list[Claim]:
    """A network that saves exactly what is required: is it told to buy or not, where neither is surely so?"""
    n, told = max(20, size.surveys), 0
    base = run_time(OWN)
    gain = 1 - run_time(OFFERED) / base
    traced = Traced("selftest", "program", "none", 4, hosts=("a", "b", "c", "d"), seconds=base)
    for number in range(n):
        wanted = Wanted([BETTER.network(random, "better")], seed=number, gain=gain)
        [one] = predict(Replay(_Session()), traced, THIS.network(random, "own"), wanted).candidates
        told += one.verdict.word != "not resolvable"
    what = "predict: buy or don't is said of a gain that is just what is required"
    return [Claim(what, f"figures ±{ESTIMATED:.0%}, own ±{MEASURED:.0%}", told / n, n, WRONG)]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps, with the words for the progress line."""
    return [
        ("predictions, intervals", forecasts),
        ("predictions, verdicts", verdicts),
        ("predictions, at the gain required", close),
    ]
