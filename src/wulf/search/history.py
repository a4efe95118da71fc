"""What a search has run so far, and the questions that its stages ask of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import log
from random import Random

from wulf.search.plan import SearchPlan
from wulf.search.space import Config
from wulf.search.surrogate import Surrogate
from wulf.search.trial import CUT, OK, Outcome, Trial

Steps = Generator[Trial, Outcome, None]
"""A stage: it yields trials, and is sent what became of them."""

ANCHOR, SCREEN, EXPLORE, PROMOTED, FINAL, CONFIRM, PATH, JOINT = (
    "anchor", "screening", "first rung", "second rung", "full size", "confirmation", "path", "interactions",
)  # fmt: skip
COMPARED = (CONFIRM, PATH, JOINT)
"""Stages of comparisons: each run counts within its block, and none tells which configuration is the best."""

FIRST_CUT = 4.0
"""Times the best of its size at which a run of the first rung is cut: how much slower it is tells of its knobs."""


@dataclass
class History:
    """All runs in order.

    Attributes
    ----------
    random
        Everything drawn comes from here, in an order that the runs so far decide alone.
    """

    plan: SearchPlan
    lines: list[tuple[Trial, Outcome]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.plan.seed)  # noqa: S311 - which configurations to run is no secret
        self.surrogate = Surrogate(self.plan.space, self.plan.sizes, self.plan.power)
        self._since_anchor: int | None = None

    @property
    def spent(self) -> float:
        """Seconds of all runs."""
        return sum(outcome.seconds for _, outcome in self.lines)

    def best_seconds(self, size: float) -> float | None:
        """Of the fastest run of this size that was right."""
        return min((o.seconds for t, o in self.lines if t.size == size and o.verdict == OK), default=None)

    def affords(self, seconds: float) -> bool:
        """Whether the budget has room for so much more."""
        return self.plan.budget is None or self.spent + seconds <= self.plan.budget

    def predicted_seconds(self, size: float) -> float:
        """About how long a good run of this size takes: measured, or scaled from the size measured nearest."""
        known = [(t.size, o.seconds) for t, o in self.lines if o.verdict == OK]
        if not known:
            return 0.0
        near = min((s for s, _ in known), key=lambda s: abs(s - size))
        best = min(seconds for s, seconds in known if s == near)
        return float(best * (size / near) ** self.plan.power)

    def costs(self, config: Config, size: float) -> list[float]:
        """Of every run that was right."""
        return [o.cost for t, o in self.lines if t.config == config and t.size == size and o.cost is not None]

    def failed(self, config: Config) -> bool:
        """Whether it ever failed, but for being cut or disturbed: it is not tried at greater sizes."""
        return any(t.config == config and o.verdict not in (OK, CUT) for t, o in self.lines)

    def ask(
        self, stage: str, config: Config, size: float, *, cut: float = 0.0, block: int | None = None
    ) -> Generator[Trial, Outcome, Outcome]:
        """One run; before it an anchor where one is due."""
        if stage not in COMPARED:
            yield from self._anchor()
        best = self.best_seconds(size)
        limit = cut * best if cut and best is not None else None
        return (yield from self._run(Trial(len(self.lines), stage, config, size, limit, block)))

    def _anchor(self) -> Steps:
        every = self.plan.anchor_every
        due = self._since_anchor is None or self._since_anchor >= every
        self._since_anchor = 1 if due else (self._since_anchor or 0) + 1
        if due:
            yield from self._run(Trial(len(self.lines), ANCHOR, self.plan.space.default, self.plan.sizes[0]))

    def _run(self, trial: Trial) -> Generator[Trial, Outcome, Outcome]:
        outcome = yield trial
        self.lines.append((trial, outcome))
        return outcome

    def learn(self, *, tune: bool) -> None:
        """Take all runs into the surrogate.

        Of one that was cut it is known that it costs more than a bound: it is taken at the bound where the others would
        make it cheaper than that, and else left out, for it says nothing that they do not.
        """
        known = [(t.config, t.size, o.cost) for t, o in self.lines if o.cost is not None]
        bounds = [(t.config, t.size, cost) for t, o in self.lines if (cost := self._bound(t, o)) is not None]
        self._learn(known, tune=tune)
        surprising = [one for one in bounds if self.surrogate.predict([one[0]], one[1])[0][0] < log(one[2])]
        if surprising:
            self._learn([*known, *surprising], tune=False)

    def _learn(self, points: Sequence[tuple[Config, float, float]], *, tune: bool) -> None:
        configs, sizes, costs = zip(*points, strict=True) if points else ((), (), ())
        self.surrogate.learn(configs, sizes, costs, tune=tune)

    def _bound(self, trial: Trial, outcome: Outcome) -> float | None:
        """What a run that was cut costs at least; None: it was not."""
        if outcome.verdict != CUT or trial.limit is None:
            return None
        best = min((c for t, o in self.lines if t.size == trial.size and (c := o.cost) is not None), default=None)
        seconds = self.best_seconds(trial.size)
        return None if best is None or not seconds else best * trial.limit / seconds
