"""Campaigns over nodes in memory: right verdicts, and every way out leaves the nodes as they were, or says so."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Any

import pytest

from tests.unit.workflow.tune_fakes import FakeCluster, FakeNode, Truth, setting
from tests.wording import Wording, lacking
from wulf.core.errors import NodeError
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.plan import Campaign
from wulf.tune.campaign.selecting import Criteria, select
from wulf.tune.campaign.wording import verdict
from wulf.tune.setting import Aim, Setting
from wulf.workflow.tune.campaign import CampaignState, Conductor
from wulf.workflow.tune.nodes import Nodes
from wulf.workflow.tune.result import kept_object

NAMES = ("n1", "n2", "n3")
EFFECTS = {"net.good": -0.3, "net.bad": 0.2, "net.none": 0.0, "net.clamped": -0.1}
METRIC = CampaignMetric("rtt", "s")

CATALOGUE: dict[str, Setting] = {
    "net.good": setting("net.good"),
    "net.bad": setting("net.bad"),
    "net.none": setting("net.none"),
    "net.clamped": setting("net.clamped", advice={"latency": {"value": 100, "why": ""}}),
    "net.refused": setting("net.refused"),
    "net.old": setting("net.old", kernels={"inert_since": "4.14"}),
}


class Lab:
    """A campaign over `NAMES`, ready to run once."""

    def __init__(
        self, catalogue: Mapping[str, Setting] = CATALOGUE, *, named: Any = None, keep: bool = True,
        seed: int = 3, blocks: int = 10, **truth: Any,
    ) -> None:  # fmt: skip
        self.catalogue = dict(catalogue)
        self.cluster = FakeCluster(
            {
                name: FakeNode(
                    name, dict.fromkeys(((one, "") for one in catalogue), 0),
                    clamp={"net.clamped": lambda value: min(value, 64)},
                    refuse={"net.refused": "Operation not permitted"},
                )
                for name in NAMES
            }
        )  # fmt: skip
        self.before = self.cluster.state()
        self.truth = Truth(self.cluster, **{"effects": EFFECTS, **truth})
        readings = {n: {one: {"": {"value": 0}} for one in catalogue} for n in NAMES}
        criteria = Criteria(Aim.LATENCY, dict.fromkeys(named or catalogue, ()), kernels=("6.1.0",))
        self.campaign = Campaign(
            Aim.LATENCY, NAMES, select(catalogue, criteria, readings), METRIC, "a fake", 0.1, blocks, seed, keep=keep
        )
        self.now = 0.0
        self.silent: list[dict[str, str]] = []
        self.nodes = Nodes(
            NAMES, self.cluster.open, "c1", "me@here", confirm=30, lease=120, reach=self._reach,
            clock=self._clock, sleep=self._sleep,
        )  # fmt: skip
        self.nodes.open()
        self.conductor = Conductor(
            self.campaign, self.catalogue, self.nodes, self.truth, readings, kernels=("6.1.0",), clock=self._clock
        )

    def _reach(self, _: Any) -> dict[str, str]:
        return self.silent[0] if self.silent else {}

    def _clock(self) -> float:
        self.now += 0.01
        return self.now

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def run(self) -> CampaignState:
        return self.conductor.run()


def found(told: CampaignState) -> dict[str, Any]:
    return {one.name: one for one in told.findings}


def test_right_verdicts_and_planted_effects_inside_their_intervals() -> None:
    lab = Lab(drift=0.0005, seed=6)
    told = lab.run()
    assert told.state == "complete" and not told.leftovers
    by_name = found(told)
    assert {name: one.judgement for name, one in by_name.items()} == {
        "net.good": "faster", "net.bad": "slower", "net.none": "none", "net.clamped": "faster", "net.old": "none",
        "net.refused": "none",
    }  # fmt: skip
    for name, planted in {**EFFECTS, "net.old": 0.0}.items():
        effect = by_name[name].effect
        assert effect.low <= exp(planted) <= effect.high, name
    texts = {name: verdict(one, lab.truth.base, METRIC) for name, one in by_name.items()}
    assert texts["net.good"] == "faster"
    assert texts["net.clamped"] == "clamped (asked 100, got 64): faster"
    assert texts["net.old"].startswith("inert: no detectable effect; minimum detectable ")
    assert texts["net.none"].startswith("no detectable effect; minimum detectable ")
    assert texts["net.refused"] == "refused: Operation not permitted"
    assert told.result is not None and told.result.control is not None
    assert not told.result.control.changed
    assert told.result.analysis is not None and told.result.analysis.drift is not None
    assert told.result.analysis.drift.p is not None and told.result.analysis.drift.p < 0.01


def test_what_is_proven_faster_is_confirmed_on_fresh_data_and_kept_and_nothing_else() -> None:
    lab = Lab()
    told = lab.run()
    assert told.confirmation is not None and told.confirmation.judgement == "faster"
    assert {(one.name, one.value, one.before, one.nodes) for one in told.kept} == {
        ("net.good", 1, 0, NAMES), ("net.clamped", 64, 0, NAMES),
    }  # fmt: skip
    for node in lab.cluster.nodes.values():
        assert {name: value for (name, _), value in node.values.items() if value} == {"net.good": 1, "net.clamped": 64}
        assert node.holder is None


def test_the_effect_that_is_kept_is_measured_after_all_was_decided() -> None:
    """What passed a test was measured to be large; the figures that decided nothing are half as great here."""
    lab = Lab()
    real = lab.truth.effects

    def measure(about: Mapping[str, Any]) -> float | None:
        share = 0.5 if about["stage"] == "estimate" else 1.0
        lab.truth.effects = {name: share * effect for name, effect in real.items()}
        return lab.truth(about)

    lab.conductor._measure = measure
    told = lab.run()
    good = found(told)["net.good"]
    assert good.effect.low <= exp(-0.3) <= good.effect.high
    assert good.confirmed.low <= exp(-0.15) <= good.confirmed.high
    assert told.confirmation is not None and told.together is not None
    assert told.together.ratio == pytest.approx(exp(-0.2), abs=0.01)
    kept = {one.name: kept_object(one, lab.campaign, lab.catalogue)["effect"] for one in told.kept}
    assert kept["net.good"]["value"] == pytest.approx(1 - exp(-0.15), abs=0.01)
    assert kept["net.good"]["basis"] == "confirmed"
    assert found(told)["net.bad"].confirmed is None


def test_with_no_keep_all_is_as_before() -> None:
    lab = Lab(keep=False)
    told = lab.run()
    assert told.confirmation is not None and told.together is not None and not told.kept
    assert lab.cluster.state() == lab.before
    assert all(not node.journal and node.holder is None for node in lab.cluster.nodes.values())


def test_nothing_is_kept_that_fresh_data_do_not_confirm() -> None:
    lab = Lab()
    real = lab.truth.effects
    told_so: dict[str, float] = {}

    def measure(about: Mapping[str, Any]) -> float | None:
        lab.truth.effects = told_so if about["stage"] == "confirm" else real
        return lab.truth(about)

    lab.conductor._measure = measure
    told = lab.run()
    assert told.confirmation is not None and told.confirmation.judgement != "faster"
    assert not told.kept and lab.cluster.state() == lab.before
    assert any("do not confirm" in note for note in told.notes)


def test_every_change_is_tried_on_the_canary_first_and_confirmed_over_new_sessions() -> None:
    lab = Lab(named=["net.good"], keep=False)
    lab.run()
    first = [node for node, op in lab.cluster.log if op == "change_apply"]
    assert first[:2] == ["n1", "n1"]  # alone, and all together
    assert set(first[2:5]) == set(NAMES)
    applied = sum(op == "change_apply" for _, op in lab.cluster.log)
    assert applied == sum(op == "change_confirm" for _, op in lab.cluster.log)
    assert all(not node.pending for node in lab.cluster.nodes.values())


def test_records_hold_the_true_settings_as_read_back() -> None:
    lab = Lab(named=["net.good", "net.clamped"], keep=False)
    lab.run()
    alone = [about for about in lab.truth.abouts if about["arm"] == "net.clamped = 100"]
    assert len(alone) == 10
    assert all(about["set.net.clamped"] == 64 and about["set.net.good"] == 0 for about in alone)


def test_the_order_is_random_by_the_seed_alone() -> None:
    orders = []
    for seed in (3, 3, 4):
        lab = Lab(keep=False, seed=seed)
        lab.run()
        orders.append([about["arm"] for about in lab.truth.abouts])
    assert orders[0] == orders[1] != orders[2]
    blocks = [about["arm"] for about in lab.truth.abouts if about["block"] == 2 and about["stage"] == "main"]
    assert len(set(blocks)) == len(blocks) == 14  # all arms once


def test_an_interaction_is_told() -> None:
    lab = Lab(named=["net.good", "net.none"], both={("net.good", "net.none"): -0.2}, keep=False)
    told = lab.run()
    by_name = found(told)
    good = by_name["net.good"]
    assert good.alone.low <= exp(-0.3) <= good.alone.high
    assert good.in_company.low <= exp(-0.5) <= good.in_company.high
    assert good.interaction.low <= exp(-0.2) <= good.interaction.high
    effects = {one.name: one for one in told.result.analysis.effects}  # type: ignore[union-attr]
    assert effects["net.good × net.none"].holm < 0.01  # type: ignore[operator]


def test_what_is_swept_is_tried_at_every_value_and_the_best_goes_on() -> None:
    swept = setting("net.ring", advice={"latency": {"sweep": [256, 512, 1024], "why": ""}})
    lab = Lab({"net.ring": swept, "net.good": CATALOGUE["net.good"]}, keep=False)
    values = {256: -0.1, 512: -0.3, 1024: 0.1}

    def measure(about: Mapping[str, Any]) -> float | None:
        lab.truth.effects = {"net.ring": values.get(lab.cluster.nodes["n1"].values["net.ring", ""], 0.0)}
        return lab.truth(about)

    lab.conductor._measure = measure
    told = lab.run()
    assert {row.name for row in told.rows if row.stage == "sweep"} == {
        "default", "A/A", "net.ring = 256", "net.ring = 512", "net.ring = 1024",
    }  # fmt: skip
    ring = found(told)["net.ring"]
    assert ring.level.writes == (("net.ring", 512),)
    assert ring.effect.low <= exp(-0.3) <= ring.effect.high


# How it ends when something breaks.


def died(node: FakeNode) -> None:
    node.dead = True
    raise NodeError(node.name, "the connection was lost")


def test_a_node_that_dies_during_a_change_is_named_and_the_others_are_as_before() -> None:
    lab = Lab()
    lab.cluster.faults["n2", "change_apply", 25] = died
    told = lab.run()
    assert told.state == "failed"
    assert any("n2" in note and "can't be changed" in note for note in told.notes)
    left = [one for one in told.leftovers if one.outcome == "unknown"]
    assert [one.node for one in left] == ["n2"] and "wulf tune revert c1" in left[0].text
    for name in ("n1", "n3"):
        assert dict(lab.cluster.nodes[name].values) == lab.before[name]
        assert lab.cluster.nodes[name].holder is None
    assert told.rows, "what was measured is kept"


def test_a_session_that_dies_is_opened_anew_and_the_node_taken_back() -> None:
    lab = Lab()

    def lost(node: FakeNode) -> None:
        raise NodeError(node.name, "the connection was lost")

    lab.cluster.faults["n2", "change_revert", 4] = lost
    told = lab.run()
    assert told.state == "complete" and not told.leftovers


def test_a_node_that_can_not_be_reached_afresh_is_not_confirmed() -> None:
    lab = Lab()
    lab.silent = [{"n1": "no answer within 2 s"}]
    told = lab.run()
    assert told.state == "failed"
    assert any("not reached over the cluster's network" in note for note in told.notes)
    assert ("n1", "change_confirm") not in lab.cluster.log
    assert lab.cluster.state() == lab.before


def test_a_value_that_the_network_does_not_carry_is_left_out_and_the_rest_goes_on(wording: Wording) -> None:
    """A packet size that a switch drops: no harm while one node alone has it, and all of it when all have."""
    lab = Lab()
    nodes = lab.cluster.nodes.values()
    lab.nodes._reach = lambda names: (
        {"n1": "nothing moved for 2.0 s"} if all(node.values["net.bad", ""] for node in nodes) else {}
    )
    told = lab.run()
    assert told.state == "complete"
    bad = found(told)["net.bad"]
    assert bad.level is None
    said = verdict(bad, 5e-5, METRIC)
    assert said.startswith("refused: ")
    assert lacking(said, "cluster's network", ": n1: nothing moved for 2.0 s") == []
    wording(said)
    assert not any(about["arm"] == "net.bad = 1" for about in lab.truth.abouts)
    assert found(told)["net.good"].judgement == "faster"
    assert {name for node in nodes for (name, _), value in node.values.items() if value} == {"net.good", "net.clamped"}


def test_a_refused_confirmation_takes_everything_back() -> None:
    lab = Lab()
    lab.cluster.faults["n3", "change_confirm", 2] = lambda node: (_ for _ in ()).throw(NodeError(node.name, "too late"))
    told = lab.run()
    assert told.state == "failed" and lab.cluster.state() == lab.before


def test_another_controllers_lock_is_respected() -> None:
    lab = Lab()
    lab.cluster.nodes["n1"].holder = "c0"
    told = lab.run()
    assert told.state == "failed"
    assert any("campaign c0 holds it" in note for note in told.notes)
    assert lab.cluster.state() == lab.before


def test_what_somebody_else_changed_meanwhile_is_left_and_said(wording: Wording) -> None:
    lab = Lab()

    def person() -> float:
        lab.cluster.nodes["n2"].values["net.good", ""] = 7
        return 5e-5

    changed = next(i for i in range(1, 200) if _arm_of(i) == "net.good = 1")
    lab.truth.at[changed] = person
    told = lab.run()
    assert told.state == "failed"
    assert [(one.node, one.name, one.outcome) for one in told.leftovers] == [("n2", "net.good", "changed-since")]
    assert lab.cluster.nodes["n2"].values["net.good", ""] == 7
    assert lacking(told.leftovers[0].text, "somebody else", "it is 7, wulf wrote 1, it was 0") == []
    wording(told.leftovers[0].text)


def _arm_of(number: int) -> str:
    """The arm of such a campaign's n-th measurement."""
    if not _ARMS:
        lab = Lab()
        lab.run()
        _ARMS.extend(about["arm"] for about in lab.truth.abouts)
    return _ARMS[number - 1]


_ARMS: list[str] = []


@pytest.mark.parametrize("number", [1, 5, 40, 150])
def test_an_interrupt_takes_everything_back_and_keeps_what_was_measured(number: int) -> None:
    lab = Lab()

    def interrupt() -> float:
        raise KeyboardInterrupt

    lab.truth.at[number] = interrupt
    told = lab.run()
    assert told.state == "interrupted"
    assert lab.cluster.state() == lab.before and not told.kept
    assert sum(row.n for row in told.rows) == number - 1
    assert all(node.holder is None for node in lab.cluster.nodes.values())


def test_an_interrupt_while_a_change_is_made_takes_it_back() -> None:
    lab = Lab()

    def interrupt(node: FakeNode) -> None:
        node.write({"name": "net.bad", "place": "", "value": 1})
        raise KeyboardInterrupt

    lab.cluster.faults["n2", "change_apply", 3] = interrupt
    told = lab.run()
    assert told.state == "interrupted" and lab.cluster.state() == lab.before


def test_a_configuration_that_gives_no_figure_costs_only_its_block() -> None:
    lab = Lab(keep=False)
    lab.truth.at[next(i for i in range(1, 200) if _arm_of(i) == "net.good = 1")] = lambda: None
    told = lab.run()
    assert told.state == "complete"
    assert found(told)["net.good"].judgement == "faster"
    assert (found(told)["net.good"].effect.n, found(told)["net.bad"].effect.n) == (9, 10)


def test_what_a_watchdog_took_back_meanwhile_is_not_taken_for_measured(wording: Wording) -> None:
    lab = Lab(keep=False)

    def silence() -> float:
        lab.cluster.nodes["n2"].take_back()
        return 1e-6

    number = next(i for i in range(1, 200) if _arm_of(i) == "net.good = 1")
    lab.truth.at[number] = silence
    told = lab.run()
    assert told.state == "complete" and lab.cluster.state() == lab.before
    (note,) = (note for note in told.notes if "went back by itself" in note)
    assert lacking(note, "net.good = 1 was measured", "n2 net.good") == []
    wording(note)
    assert found(told)["net.good"].effect.n == 9


def test_a_node_refusing_what_the_canary_took_is_said() -> None:
    lab = Lab()
    lab.cluster.nodes["n3"].refuse = {"net.good": "Invalid argument"}
    told = lab.run()
    good = found(told)["net.good"]
    assert verdict(good, 5e-5, METRIC) == "refused: by n3: Invalid argument"
    assert "net.good" not in {one.name for one in told.kept}
