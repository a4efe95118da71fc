"""Settings of nodes as knobs of a search: changed for one run, by the change protocol of a campaign, and taken back.

Nothing but the run happens while a setting is changed: the node journals what was there, takes it back when it is told
to, when its controller is silent, or dies; and the next run begins from what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from wulf.cluster.access import Access, access_to
from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError, WulfError
from wulf.core.records import Param
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.search.space import Space
from wulf.search.trial import FAILED, Outcome, Trial
from wulf.store.run import RunWriter
from wulf.tune.campaign.arms import Arm
from wulf.tune.campaign.deciding import CLAMPED, REFUSED, WriteOutcome
from wulf.tune.campaign.plan import CONFIRM_SECONDS, risks
from wulf.tune.campaign.selecting import SO_ALREADY, Factor
from wulf.tune.setting import Aim, Value
from wulf.tune.values import Level, value_text
from wulf.workflow.tune.campaign import Conductor
from wulf.workflow.tune.nodes import Leftover, Nodes, NotReachedError
from wulf.workflow.tune.outcomes import outcome_of
from wulf.workflow.tune.prepare import CampaignRequest, Prepared, prepare, read_all
from wulf.workflow.tune.result import differences
from wulf.workflow.tune.run import check_own_network, opened

ATTEMPTS = 2
"""At a run during which a node took its settings back by itself."""

Run = Callable[[], Outcome]


class SettingKnobs(Conductor):
    """Carries settings out for one run at a time.

    Attributes
    ----------
    refused
        (setting, value) → why no node can have that value.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.refused: dict[tuple[str, Value], str] = {}

    def try_all(self, values: Mapping[str, Sequence[Value]]) -> None:
        """Every value on the canary alone, and then on all nodes; what can't be written is remembered.

        Raises
        ------
        ChangeFailedError
            A node is lost.
        """
        for name, wanted in values.items():
            levels = tuple(Level(((name, value),)) for value in wanted)
            for value, level in zip(wanted, levels, strict=True):
                self._outcomes[name] = WriteOutcome()
                if not self._works(Factor(name, (name,), levels), level):
                    why = self._outcomes[name].reason or "it stays what it was"
                    self.refused[name, value] = f"{self._text(name, value)} can't be set: {why}"
                elif self._outcomes[name].what == CLAMPED:
                    self.told.notes.append(f"{name}: {self._outcomes[name].reason}")

    def visit(self, wanted: Mapping[str, Value], run: Run) -> Outcome:
        """One run with these values; what can't be is an outcome.

        Raises
        ------
        WulfError
            A node is lost, or not all could be taken back.
        """
        bad = next((why for name, value in wanted.items() if (why := self.refused.get((name, value)))), "")
        if bad:
            return Outcome(FAILED, None, 0.0, reason=bad)
        arm = Arm(", ".join(self._text(*one) for one in wanted.items()), "combined", {"": Level(tuple(wanted.items()))})
        for _ in range(ATTEMPTS):
            outcome = self._once(arm, run)
            if outcome is not None:
                return outcome
        return Outcome(FAILED, None, 0.0, reason=f"{arm.name} went back by itself while it ran")

    def _once(self, arm: Arm, run: Run) -> Outcome | None:
        """Change, run, take back; None: nobody knows with which settings it ran."""
        try:
            results = self._nodes.apply({node: self._asked(arm, node) for node in self._nodes.names})
        except NotReachedError as error:
            self._revert(flap=True)
            return Outcome(FAILED, None, 0.0, reason=f"{arm.name}: {error.what}")
        told = outcome_of([one for some in results.values() for one in some], self._catalogue)
        outcome = Outcome(FAILED, None, 0.0, reason=told.reason) if told.what == REFUSED else run()
        self._revert(flap=self._flaps(arm))
        return None if self._gone_meanwhile(arm, results) else outcome

    def _text(self, name: str, value: Value) -> str:
        return f"{name} = {value_text(self._catalogue[name], value)}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """The nodes know that their controller lives; every way out takes back what is still changed."""
        try:
            with self._nodes.renewing():
                yield
        finally:
            self._take_back()


@dataclass
class NodeKnobs:
    """Settings of a search while it runs, and what is to be said of them at its end.

    Attributes
    ----------
    same
        Whether all settings are as they were; None: not known.
    """

    space: Space
    arms: SettingKnobs
    planned: list[dict[str, Any]] = field(default_factory=list)
    same: bool | None = None
    differ: list[dict[str, Any]] = field(default_factory=list)

    def visit(self, trial: Trial, run: Run) -> Outcome:
        """A trial with the settings that its configuration wants."""
        values = cast("Mapping[str, Value]", self.space.named(trial.config))  # a setting is never None
        return self.arms.visit({name: values[name] for name in self.space.settings}, run)

    @property
    def impossible(self) -> Collection[tuple[str, Param]]:
        """(setting, value) that no node can have."""
        return self.arms.refused.keys()

    @property
    def undone(self) -> bool:
        """Whether everything is known to be as before."""
        return not self.arms.told.leftovers and self.same is True

    def about(self) -> dict[str, Any]:
        """As search.json has it."""
        left = [_left(one) for one in self.arms.told.leftovers]
        refused = [{"name": name, "reason": why} for (name, _), why in self.arms.refused.items()]
        return {
            "varied": self.planned, "refused": refused, "leftovers": left, "same": self.same, "differ": self.differ,
            "notes": list(self.arms.told.notes),
        }  # fmt: skip


def _left(one: Leftover) -> dict[str, str]:
    return {"node": one.node, "name": one.name, "place": one.place, "outcome": one.outcome, "text": one.text}


Varied = Mapping[str, tuple[Value, ...]]
"""Setting → the values that a search tries, what is there first."""


def plan_of_settings(
    inventory: Inventory, settings: Varied, command: tuple[str, ...], *, watch: Watcher = UNWATCHED
) -> dict[str, Any]:
    """What a search of a program would change, and its risks: nothing is changed.

    Raises
    ------
    UsageError
        A setting can't be changed here.
    """
    with access_to(inventory) as access, opened(access, "plan", watch, CONFIRM_SECONDS) as (connected, nodes):
        prepared = prepare(inventory, _request(settings, command), connected, nodes)
    _check(settings, prepared)
    return {"settings": _planned(settings, prepared), "risks": risks(prepared.campaign, prepared.catalogue)}


@contextmanager
def open_knobs(
    access: Access, space: Space, command: tuple[str, ...], writer: RunWriter, *,
    resumed: bool, watch: Watcher = UNWATCHED,
) -> Iterator[NodeKnobs]:  # fmt: skip
    """The nodes' settings for the length of a search; afterwards all are as before, or the knobs say which are not.

    Parameters
    ----------
    space
        The search's, with settings among its knobs.
    command
        What its runs start.
    resumed
        A search that was killed goes on: what it left changed is taken back first.

    Raises
    ------
    UsageError
        A setting can't be changed here.
    """
    settings = cast("Varied", space.settings)  # a setting is never None
    check_own_network(access.inventory)
    with opened(access, writer.id, watch, CONFIRM_SECONDS, {}) as (connected, nodes):
        connected.settled()
        if resumed:
            _recover(nodes)
        prepared = prepare(access.inventory, _request(settings, command), connected, nodes)
        _check(settings, prepared)
        arms = SettingKnobs(
            prepared.campaign, prepared.catalogue, nodes, lambda _: None, prepared.readings,
            kernels=prepared.kernels, watch=watch,
        )  # fmt: skip
        knobs = NodeKnobs(space, arms, _planned(settings, prepared))
        try:
            with arms.held():
                arms.try_all(settings)
                yield knobs
        finally:
            _compare(knobs, prepared, nodes)


def _recover(nodes: Nodes) -> None:
    left = nodes.recover()
    if left:
        told = "; ".join(f"{one.node} {one.name}: {one.text}" for one in left)
        raise UsageError(f"what the search changed before it was cut short can't be taken back: {told}",
                         "`wulf tune status` shows what the nodes hold")  # fmt: skip


def _compare(knobs: NodeKnobs, prepared: Prepared, nodes: Nodes) -> None:
    try:
        after = read_all(nodes, prepared.catalogue)
    except WulfError as error:
        knobs.arms.told.notes.append(f"Whether all settings are as before is not known: {error.what}")
        return
    knobs.differ = differences(prepared.dump, after, [])
    knobs.same = not knobs.differ


def _request(settings: Varied, command: tuple[str, ...]) -> CampaignRequest:
    return CampaignRequest(Aim.LATENCY, settings, measure="app", command=command, keep=False)


def _check(settings: Varied, prepared: Prepared) -> None:
    """Raises UsageError where a setting can't be changed on these nodes."""
    for one in prepared.campaign.selection.omitted:
        if one.name in settings and one.reason != SO_ALREADY:
            raise UsageError(f"settings.{one.name}: {one.reason}", "leave it out of the search")


def _planned(settings: Varied, prepared: Prepared) -> list[dict[str, Any]]:
    """Each setting: what nodes have, and what is tried."""
    known, found = prepared.catalogue, []
    for name, values in settings.items():
        now = {
            value_text(known[name], reading.get("value"))
            for settings in prepared.readings.values() for reading in settings.get(name, {}).values()
        }  # fmt: skip
        found.append({"name": name, "now": sorted(now), "tried": [value_text(known[name], value) for value in values]})
    return found
