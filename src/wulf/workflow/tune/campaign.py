"""A campaign while it runs: canary, stages, confirmation, and taking back whatever happens.

It knows sessions and measuring as two objects that it is given, so that every way in which they can fail is tried in a
test without a node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from wulf.core.errors import WulfError
from wulf.core.records import Param
from wulf.measure.engine.watcher import UNWATCHED, Progress, Watcher
from wulf.stats.comparison import Comparison
from wulf.tune.campaign.arms import Arm, Stage, Step, confirm_stage, estimate_stage, main_stage, sweep_stage
from wulf.tune.campaign.deciding import (
    APPLIED,
    INERT,
    REFUSED,
    ArmRow,
    FactorFinding,
    Result,
    WriteOutcome,
    best_levels,
    confirmed,
    estimated,
    judge,
    rows_of,
    rule_for,
)
from wulf.tune.campaign.plan import Campaign, change_of, fresh_visits, stages_of, texts_of
from wulf.tune.campaign.selecting import Factor, Places, is_inert
from wulf.tune.values import Catalogue, Level, level_text, request_of, same
from wulf.workflow.tune.nodes import Leftover, NotReachedError
from wulf.workflow.tune.outcomes import KeptSetting, kept_of, outcome_of, stays, truth_of

Measure = Callable[[Mapping[str, Param]], float | None]
"""One measurement, given what its records shall say beside; None where there is no figure. Raises NodeError where a
node is lost."""


class Hands(Protocol):
    """What a campaign asks of its nodes; `workflow.tune.nodes.Nodes` does it over sessions."""

    taken_back: set[tuple[str, str, str]]

    @property
    def names(self) -> Sequence[str]: ...
    def read(self, wanted: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Places]]: ...
    def apply(self, asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> Mapping[str, list[dict[str, Any]]]: ...
    def revert(self) -> list[Leftover]: ...
    def settle(self, names: Sequence[str]) -> None: ...
    def keep(self, names: Mapping[str, Sequence[str]]) -> None: ...
    def renewing(self) -> AbstractContextManager[None]: ...
    def end(self) -> dict[str, str]: ...


@dataclass
class StageRun:
    """A stage and what was measured of it so far."""

    stage: Stage
    values: list[float | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


@dataclass
class CampaignState:
    """What is known of a campaign, however far it came.

    Attributes
    ----------
    state
        `complete`, `interrupted`, or `failed`: a node was lost, or somebody else changed what was being tried.
    confirmation
        Whether what is worth keeping is faster on fresh data: it decides, and so its figure is a selected one, too.
    together
        What all that was confirmed is worth, on data that decided nothing.
    """

    state: str = "running"
    runs: list[StageRun] = field(default_factory=list)
    rows: list[ArmRow] = field(default_factory=list)
    findings: list[FactorFinding] = field(default_factory=list)
    result: Result | None = None
    confirmation: Comparison | None = None
    together: Comparison | None = None
    kept: list[KeptSetting] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def accounted(self, restore: Callable[[], None]) -> Iterator[None]:
        """Tells how what happens inside ends; every way out of it restores what was changed."""
        try:
            yield
            self.state = "complete"
        except KeyboardInterrupt:
            self.state = "interrupted"
        except WulfError as error:
            self.state = "failed"
            self.notes.append(error.what)
        finally:
            restore()


class _StoppedError(WulfError):
    """Something is not as it was after taking back: going on would measure, or overwrite, somebody else's settings."""


class Conductor:
    """Carries a campaign out.

    Parameters
    ----------
    readings
        What the nodes have now, `relevant` places alone.
    kernels
        Releases of the nodes' kernels.
    clock
        Seconds, monotonic.
    """

    def __init__(
        self, campaign: Campaign, catalogue: Catalogue, nodes: Hands, measure: Measure,
        readings: Mapping[str, Mapping[str, Places]], *, kernels: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic, watch: Watcher = UNWATCHED,
    ) -> None:  # fmt: skip
        self._campaign, self._catalogue = campaign, catalogue
        self._nodes, self._measure, self._readings = nodes, measure, readings
        self._clock, self._watch = clock, watch
        self._inert = {name for name, setting in catalogue.items() if is_inert(setting, kernels)}
        self._factors = list(campaign.selection.factors)
        self._outcomes: dict[str, WriteOutcome] = {
            f.name: WriteOutcome(INERT if f.inert else APPLIED) for f in self._factors
        }
        self._expected = sum(len(stage.steps) for stage in stages_of(campaign, catalogue)) + fresh_visits(campaign)
        self._done, self._began = 0, 0.0
        self.told = CampaignState()

    @property
    def settings(self) -> list[str]:
        """All settings that the campaign changes."""
        return [name for factor in self._campaign.selection.factors for name in factor.members]

    def run(self) -> CampaignState:
        """From the canary to the last change taken back; every way out leaves the nodes accounted for."""
        self._began = self._clock()
        with self.told.accounted(self._take_back), self._nodes.renewing():
            self._all()
        return self.told

    def _all(self) -> None:
        self._canary()
        if not self._factors:
            return
        chosen = self._swept()
        self._try(Arm("combined", "combined", dict(chosen)))
        self._main(chosen)
        kept = {f.name: f.level for f in self.told.findings if f.kept and f.level is not None}
        if kept and self._confirmed(kept):
            self._estimate(kept)
            if self._campaign.keep:
                self._keep(kept)

    def _take_back(self) -> None:
        """Whatever is still open; then the locks."""
        self.told.leftovers += self._nodes.revert()
        for node, why in self._nodes.end().items():
            self.told.notes.append(f"{node}: its lock could not be released ({why}); it ends with the lease")

    # The canary: what a write does is known before the other nodes see it, and before anything is measured.

    def _canary(self) -> None:
        """Write each value on the canary alone, then on all nodes, confirmed and taken back; leave out what fails."""
        left = []
        for factor in self._factors:
            usable = tuple(level for level in factor.levels if self._works(factor, level))
            if usable:
                left.append(replace(factor, levels=usable))
            else:
                tried = FactorFinding(factor.name, None, self._outcomes[factor.name], why="could not be tried")
                self.told.findings.append(tried)
        self._factors = left

    def _works(self, factor: Factor, level: Level) -> bool:
        """Whether a value can be written on every node, and the network carries it; remembers what became of it."""
        arm = Arm(level_text(self._catalogue, level), "level", {factor.name: level})
        try:
            results = self._try(arm)
        except NotReachedError as error:
            return self._unusable(factor, arm, error.what)
        outcome = outcome_of(results, self._catalogue)
        if outcome.what != APPLIED:
            self._outcomes[factor.name] = outcome
        if outcome.what == REFUSED or (results and all(same(r.get("after"), r.get("before")) for r in results)):
            return False
        try:
            refused = self._rehearsed(arm)
        except NotReachedError as error:
            return self._unusable(factor, arm, error.what)
        if refused:
            self._outcomes[factor.name] = WriteOutcome(REFUSED, refused)
        return not refused

    def _unusable(self, factor: Factor, arm: Arm, why: str) -> bool:
        """The network does not carry it: taken back, waited for, and said."""
        self._revert(flap=True)
        self._outcomes[factor.name] = WriteOutcome(REFUSED, why)
        self.told.notes.append(f"{arm.name} is not tried: {why}")
        return False

    def _rehearsed(self, arm: Arm) -> str:
        """Why all nodes together can't have these values, where the canary could; empty where they can.

        A packet size that a switch drops harms nobody while one node alone has it.
        """
        if len(self._nodes.names) < 2:
            return ""
        self._watch.say(f"all nodes try {arm.name}")
        results = self._nodes.apply({node: self._asked(arm, node) for node in self._nodes.names})
        self._revert(flap=self._flaps(arm))
        refused = {node: outcome_of(some, self._catalogue) for node, some in results.items()}
        return "; ".join(f"by {node}: {one.reason}" for node, one in refused.items() if one.what == REFUSED)

    def _try(self, arm: Arm) -> list[dict[str, Any]]:
        canary = self._campaign.canary
        self._watch.say(f"{canary} tries {arm.name}")
        results = self._nodes.apply({canary: self._asked(arm, canary)}).get(canary, [])
        self._revert(flap=self._flaps(arm))
        return results

    # The stages.

    def _swept(self) -> dict[str, Level]:
        """The value of each factor to go on with."""
        stage = sweep_stage(self._factors, self._texts(), self._campaign.blocks, self._campaign.seed)
        if stage is None:
            return best_levels(self._factors, None, [], None)
        run = self._measured(stage)
        rule = rule_for(stage, self._campaign.metric, self._campaign.alpha, self._campaign.delta)
        return best_levels(self._factors, stage, run.values, rule)

    def _main(self, chosen: Mapping[str, Level]) -> None:
        campaign = self._campaign
        stage = main_stage(
            self._factors, chosen, self._texts(), blocks=campaign.blocks, seed=campaign.seed, design=campaign.design
        )
        run = StageRun(stage)
        try:
            self._measured(stage, run)
        finally:
            result = judge(
                stage, run.values, run.times, chosen=chosen, outcomes=self._outcomes, metric=campaign.metric,
                alpha=campaign.alpha, delta=campaign.delta,
            )  # fmt: skip
            self.told.result = result
            self.told.findings = [*result.findings, *self.told.findings]
            self.told.notes += result.notes

    def _confirmed(self, kept: Mapping[str, Level]) -> bool:
        """Whether all that is worth keeping is faster together, on fresh data."""
        campaign = self._campaign
        stage = confirm_stage(kept, campaign.blocks, campaign.seed)
        run = self._measured(stage)
        found = confirmed(stage, run.values, campaign.metric, campaign.alpha, campaign.delta)
        self.told.confirmation = found
        if found.judgement != "faster":
            self.told.notes.append(f"Fresh data do not confirm what was to be kept ({found.reason}): nothing is kept.")
        return found.judgement == "faster"

    def _estimate(self, kept: Mapping[str, Level]) -> None:
        """What is confirmed is measured once more, for its figure alone: nothing is decided by it."""
        campaign = self._campaign
        stage = estimate_stage(kept, campaign.blocks, campaign.seed)
        run = self._measured(stage)
        found = estimated(stage, run.values, campaign.metric, campaign.alpha, campaign.delta)
        self.told.together = found.together
        self.told.findings = [replace(one, confirmed=found.each.get(one.name)) for one in self.told.findings]

    def _measured(self, stage: Stage, run: StageRun | None = None) -> StageRun:
        """All steps of a stage; its rows are told even when it is cut short."""
        run = run or StageRun(stage)
        self.told.runs.append(run)
        try:
            for step in stage.steps:
                self._visit(stage, step, run)
        finally:
            rule = rule_for(stage, self._campaign.metric, self._campaign.alpha, self._campaign.delta)
            self.told.rows += rows_of(stage, run.values, rule)
        return run

    def _visit(self, stage: Stage, step: Step, run: StageRun) -> None:
        """Change, confirm, read back, measure, take back."""
        arm = stage.arms[step.arm]
        self._report(stage, step, arm)
        results = self._nodes.apply({node: self._asked(arm, node) for node in self._nodes.names})
        about: dict[str, Param] = {"stage": stage.name, "arm": arm.name, "block": step.block, **self._truth()}
        at, value = self._clock() - self._began, self._measure(about)
        self._revert(flap=self._flaps(arm))
        run.values.append(None if self._gone_meanwhile(arm, results) else value)
        run.times.append(at)
        self._done += 1

    def _gone_meanwhile(self, arm: Arm, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
        """Whether a node took its changes back by itself, so that nobody knows what was measured; then it is said."""
        written = {(node, one["name"], one["place"]) for node, some in results.items() for one in some if stays(one)}
        gone = sorted({f"{node} {name}" for node, name, _ in written - self._nodes.taken_back})
        if gone:
            said = (
                f"While {arm.name} was measured, {', '.join(gone)} went back by itself: that measurement is left out."
            )
            self.told.notes.append(said)
        return bool(gone)

    def _revert(self, *, flap: bool = False) -> None:
        """Take back what the last change wrote; go on only where all is as it was."""
        left = self._nodes.revert()
        if left:
            self.told.leftovers += left
            told = "; ".join(f"{one.node} {one.name} {one.place}: {one.text}" for one in left)
            raise _StoppedError(f"the campaign stops, not everything could be taken back: {told}")
        if flap:
            self._nodes.settle(self._nodes.names)

    def _asked(self, arm: Arm, node: str) -> list[dict[str, Any]]:
        return change_of(arm.writes, self._readings[node], self._catalogue, self._inert)

    def _flaps(self, arm: Arm) -> bool:
        return any(self._catalogue[name].flap for name, _ in arm.writes)

    def _truth(self) -> dict[str, Param]:
        """What the campaign's settings are at this moment, on every node and place, as records say it."""
        wanted = [request_of(self._catalogue[name]) for name in self.settings]
        return truth_of(self._nodes.read(wanted), self._readings)

    def _texts(self) -> dict[Level, str]:
        return texts_of(self._factors, self._catalogue)

    def _report(self, stage: Stage, step: Step, arm: Arm) -> None:
        spent = self._clock() - self._began
        left = spent / self._done * max(0, self._expected - self._done) if self._done else None
        now = f"{stage.name} {step.block + 1}/{stage.blocks}: {arm.name}"
        self._watch.on_progress(Progress(self._done, max(self._expected, self._done), left, now))

    # What stays.

    def _keep(self, kept: Mapping[str, Level]) -> None:
        """Write once more what was confirmed, the canary first, and leave it."""
        arm = Arm("kept", "combined", dict(kept))
        self._try(arm)
        self._watch.say("keeping what is proven faster")
        results = self._nodes.apply({node: self._asked(arm, node) for node in self._nodes.names})
        written = {node: [str(one["name"]) for one in some if stays(one)] for node, some in results.items()}
        self._nodes.keep(written)
        self.told.kept = kept_of(results, self.told.findings)
