"""Before and after over nodes and links in memory: applications that fail, hang, or answer something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any

import numpy as np
import pytest

from tests.unit.workflow.tune.test_campaign import CATALOGUE, NAMES, Lab
from wulf.apps.driver import Figure
from wulf.apps.ran import FAILED, OK, TIMEOUT, WRONG, Ran
from wulf.core.errors import FOUND, INCOMPLETE, NodeError, UsageError
from wulf.core.pattern import Pattern
from wulf.core.records import Record
from wulf.lab.labs import LabNode
from wulf.model.impact import AFTER, BEFORE, Impact, Quantity, figures_of, impact_of
from wulf.workflow.impact.arms import LinkArms, NetworkArms, SettingsArms, parse_links, stage_of
from wulf.workflow.impact.measure import ArmsYardstick, ImpactMeasure
from wulf.workflow.impact.profile import Profiled
from wulf.workflow.impact.result import figures_object, impact_object
from wulf.workflow.impact.run import exit_code_of
from wulf.workflow.tune.campaign import CampaignState

TIME, RTT = Quantity("application, wall time", "s"), Quantity("ping-pong", "s")
BLOCKS = 8


class Sink:
    id = "run-1"

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, record: Record) -> None:
        self.records.append(record)

    def append_replicate(self, replicate: Mapping[str, Any]) -> None: ...


@dataclass
class World:
    """An application and a network that know which arm is there: `arm()` says."""

    arm: Callable[[], str]
    gain: float = 0.25
    says: Mapping[str, str] = field(default_factory=lambda: {BEFORE: "answer 42", AFTER: "answer 42"})
    fails: Mapping[str, Ran] = field(default_factory=dict)
    at: dict[int, Exception] = field(default_factory=dict)
    runs: int = 0
    cells: list[Any] = field(default_factory=list)
    environments: list[Mapping[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(1)

    def run(self, environment: Mapping[str, str]) -> Ran:
        self.runs += 1
        self.environments.append(environment)
        if self.runs in self.at:
            raise self.at[self.runs]
        if self.arm() in self.fails:
            return self.fails[self.arm()]
        effect = (1 - self.gain) if self.arm() == AFTER else 1.0
        seconds = 10 * effect * exp(self._random.normal(0, 0.01))
        return Ran(OK, "", (Figure("wall", "s", seconds, "lower"),), seconds=seconds, stdout=self.says[self.arm()])

    def __call__(self, about: Mapping[str, Any]) -> float:
        return 2e-4 if self.arm() == BEFORE else 2e-5


def measure_of(world: World, sink: Sink, take: Any = None) -> ImpactMeasure:
    return ImpactMeasure(
        world.run, TIME, {RTT: world}, sink, take=take, answer=Pattern(r"answer (\d+)"), subject="n[1-3]",
        command="solve it",
    )  # fmt: skip


def settings_campaign(take: Any = None, **world: Any) -> tuple[Lab, World, ImpactMeasure, SettingsArms, Sink]:
    lab = Lab({"net.good": CATALOGUE["net.good"]}, blocks=BLOCKS, keep=False)
    made = World(lambda: AFTER if any(lab.cluster.nodes["n1"].values.values()) else BEFORE, **world)
    sink = Sink()
    measure = measure_of(made, sink, take)
    readings = {n: {"net.good": {"": {"value": 0}}} for n in NAMES}
    arms = SettingsArms(
        replace(lab.campaign, blocks=BLOCKS), lab.catalogue, lab.nodes, measure, readings, clock=lab._clock
    )
    return lab, made, measure, arms, sink


def judged(measure: ImpactMeasure) -> Impact:
    return impact_of(measure.visits, measure.quantities, blocks=BLOCKS)


def test_the_gain_beside_the_ping_pongs_own_and_all_as_before() -> None:
    lab, world, measure, arms, sink = settings_campaign()
    told = arms.run()
    assert told.state == "complete" and not told.leftovers
    assert lab.cluster.state() == lab.before
    assert world.runs == 2 * BLOCKS == len(sink.records)
    impact = judged(measure)
    assert impact.claim == "faster" and impact.same_answers
    assert impact.rows[0].compared.low < 0.75 < impact.rows[0].compared.high
    assert impact.rows[1].compared.ratio == pytest.approx(0.1)
    assert {record.params["arm"] for record in sink.records} == {BEFORE, AFTER}
    assert sink.records[0].params["set.net.good"] in (0, 1) and sink.records[0].subject == "n[1-3]"


def test_every_block_has_both_arms_in_a_drawn_order() -> None:
    steps = stage_of({}, 20, 7).steps
    orders = {tuple(s.arm for s in steps if s.block == block) for block in range(20)}
    assert orders == {(0, 1), (1, 0)}
    assert stage_of({}, 20, 7).steps == steps != stage_of({}, 20, 8).steps
    with pytest.raises(UsageError, match="5 blocks can never prove"):
        stage_of({}, 5, 7)


@pytest.mark.parametrize(
    "bad",
    [
        Ran(FAILED, "it ended with status 3; its last words: no route", (), seconds=1.0),
        Ran(TIMEOUT, "it did not end in time", (), seconds=600.0),
    ],
)
def test_an_application_that_fails_in_one_arm_is_said_and_no_gain_claimed(bad: Ran) -> None:
    lab, world, measure, arms, sink = settings_campaign(fails={AFTER: bad})
    told = arms.run()
    impact = judged(measure)
    assert told.state == "complete" and world.runs == 2 * BLOCKS  # the campaign goes on
    assert impact.claim == "void" and impact.failed[AFTER] == {bad.verdict: BLOCKS}
    assert lab.cluster.state() == lab.before
    assert [record.reason for record in sink.records if record.value is None] == [bad.reason] * BLOCKS
    assert exit_code_of(told, impact_object(impact, told, {})) == FOUND


def test_an_application_that_never_runs_is_said_with_its_words() -> None:
    bad = Ran(FAILED, "it ended with status 1; its last words: Connection refused", (), seconds=1.0)
    _, _, measure, arms, _ = settings_campaign(fails={BEFORE: bad, AFTER: bad})
    told = arms.run()
    impact = judged(measure)
    assert (impact.claim, impact.why) == ("void", f"every run failed: {bad.reason}")
    found = impact_object(impact, told, {})
    assert found["reasons"] == {BEFORE: {FAILED: bad.reason}, AFTER: {FAILED: bad.reason}}
    assert exit_code_of(told, found) == INCOMPLETE


def test_an_application_that_is_always_wrong_is_found_and_not_called_incomplete() -> None:
    bad = Ran(WRONG, "its answer is wrong: residual: 20", (), seconds=1.0)
    _, _, measure, arms, _ = settings_campaign(fails={BEFORE: bad, AFTER: bad})
    told = arms.run()
    impact = judged(measure)
    assert impact.claim == "void" and "answers are wrong" in impact.why
    assert exit_code_of(told, impact_object(impact, told, {})) == FOUND


def test_different_answers_in_both_arms_are_said_and_no_gain_claimed() -> None:
    _, _, measure, arms, _ = settings_campaign(says={BEFORE: "answer 42", AFTER: "answer 41"})
    told = arms.run()
    impact = judged(measure)
    assert impact.claim == "void" and impact.answers == {BEFORE: ("42",), AFTER: ("41",)}
    assert impact_object(impact, told, {})["same_answers"] is False


def test_a_node_lost_meanwhile_ends_it_with_everything_taken_back() -> None:
    lab, _, measure, arms, _ = settings_campaign(at={5: NodeError("n2", "its session ended")})
    told = arms.run()
    assert told.state == "failed" and "n2" in told.notes[-1]
    assert lab.cluster.state() == lab.before
    assert exit_code_of(told, impact_object(judged(measure), told, {})) == INCOMPLETE


def test_ctrl_c_leaves_nothing_changed() -> None:
    lab, world, _, arms, _ = settings_campaign()
    world.at[6] = KeyboardInterrupt()  # type: ignore[assignment]
    assert arms.run().state == "interrupted"
    assert lab.cluster.state() == lab.before


def test_a_setting_that_is_refused_is_an_error_and_nothing_is_measured() -> None:
    lab, world, _, arms, _ = settings_campaign()
    for node in lab.cluster.nodes.values():
        node.refuse = {"net.good": "Operation not permitted"}
    told = arms.run()
    assert told.state == "failed" and "Operation not permitted" in told.notes[-1] and world.runs == 0


def test_each_arm_is_profiled_once_beside_the_timed_runs() -> None:
    def take(run: Callable[[Mapping[str, str]], Ran]) -> Profiled:
        return Profiled(None, "none here", run({"LD_PRELOAD": "lib"}).seconds)

    _, world, measure, arms, sink = settings_campaign(take)
    arms.run()
    assert world.runs == 2 * BLOCKS + 2 and len(sink.records) == 2 * BLOCKS
    assert sorted(measure.profiles) == [AFTER, BEFORE]
    assert sum("LD_PRELOAD" in one for one in world.environments) == 2


def test_all_figures_of_a_suite_are_kept_and_compared() -> None:
    def suite(seconds: float) -> Ran:
        rates = (Figure("hpl", "flop/s", 1e9 / seconds, "higher"), Figure("fft", "flop/s", 2e9, "higher"))
        return Ran(OK, "", (*rates, Figure("wall", "s", seconds, "lower")), seconds=seconds, stdout="answer 42")

    _, world, measure, arms, sink = settings_campaign()
    plain = world.run
    world.run = lambda environment: suite(plain(environment).seconds or 0.0)  # type: ignore[method-assign]
    measure._run = world.run
    arms.run()
    assert [one.name for one in measure.figures] == ["hpl", "fft", "wall"]
    assert [one.lower_is_better for one in measure.figures] == [False, False, True]
    assert Counter(record.metric for record in sink.records) == {TIME.name: 16, "fft": 16, "wall": 16}
    hpl, fft, wall = figures_of(measure.visits, measure.figures, ["hpl", "fft"], blocks=BLOCKS)
    assert hpl.row.compared.judgement == "faster" and hpl.holm == pytest.approx(2 * 2 / 2**BLOCKS)
    assert fft.row.compared.judgement == "equivalent"
    assert wall.row.compared.judgement == "faster" and wall.holm is None


def test_an_application_of_one_figure_has_no_table_of_them() -> None:
    _, _, measure, arms, _ = settings_campaign()
    arms.run()
    assert measure.figures == []
    assert figures_object((), {}, void=False) == {"figures": [], "figures_blocks": None}


# Links.


class FakeLab:
    """Links as texts by node; remembers every change."""

    def __init__(self) -> None:
        emulated = {"emulator": "link", "out": {"delay": 5e-5, "loss": 0.001}, "in": {"rate": 1e9, "queue": 100}}
        self.nodes = (LabNode("n1", "10.0.0.1", None, "200mbit"), LabNode("n2", "10.0.0.2", None, None, emulated))
        self.changes: list[tuple[Any, ...]] = []

    def set_link(self, node: str, options: Mapping[str, str], **more: Any) -> None:
        self.changes.append((node, dict(options), more))

    def set_rate(self, node: str, rate: str | None) -> None:
        self.changes.append((node, rate))


def test_links_are_switched_by_arm_and_found_again_afterwards() -> None:
    lab, links = FakeLab(), parse_links(["delay=200us", "delay=20us, mtu=9000"])
    assert links == ({"delay": "200us", "mtu": "none"}, {"delay": "20us", "mtu": "9000"})
    arms = LinkArms(lab, ("n1", "n2"), links, stage_of({}, BLOCKS, 1), clock=lambda: 0.0)  # type: ignore[arg-type]
    world = World(lambda: BEFORE if lab.changes[-1][1]["delay"] == "200us" else AFTER)
    measure = measure_of(world, Sink())
    assert arms.run(measure).state == "complete"
    assert judged(measure).claim == "faster"
    last = lab.changes[-4:]
    assert last[0] == ("n1", {}, {"emulator": "none"}) and last[1] == ("n1", "200mbit")
    (_, out, side), (_, into, other) = last[2:]
    assert side == {"direction": "out"} and out["delay"] == "0.000050000000s" and out["loss"].startswith("0.1")
    assert other == {"direction": "in"} and into["queue"] == "100" and into["rate"] == "1gbit"
    assert out["rate"] == "none"


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["delay=20us", "delay=20us"], "both links are"),
        (["delay=20us"], "1 descriptions"),
        (["delay", "delay=20us"], "describes no link"),
        (["colour=red", "delay=20us"], "describes no link"),
        (["delay=20", "delay=20us"], "no delay"),
    ],
)
def test_links_that_are_none(texts: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_links(texts)


def test_a_link_that_can_not_be_taken_back_is_told() -> None:
    from wulf.core.errors import LabError

    class Broken(FakeLab):
        def set_rate(self, node: str, rate: str | None) -> None:
            raise LabError("n1: the node is down")

    arms = LinkArms(Broken(), ("n1",), parse_links(["delay=1ms", "delay=0"]), stage_of({}, 6, 1))  # type: ignore[arg-type]
    told = arms.run(lambda about: 1.0)
    assert [one.text for one in told.leftovers] == ["n1: the node is down"]
    assert exit_code_of(told, {"claim": "faster"}) == INCOMPLETE


def test_exit_codes() -> None:
    some, none = [{"n": {BEFORE: 6, AFTER: 6}}], [{"n": {BEFORE: 0, AFTER: 0}}]
    assert exit_code_of(CampaignState("complete"), {"claim": "faster", "same": True, "failed": {}, "rows": some}) == 0
    assert exit_code_of(CampaignState("complete"), {"claim": "void", "same": True, "failed": {}, "rows": some}) == FOUND
    assert (
        exit_code_of(CampaignState("complete"), {"claim": "faster", "same": False, "failed": {}, "rows": some}) == FOUND
    )
    assert (
        exit_code_of(CampaignState("complete"), {"claim": "void", "same": False, "failed": {}, "rows": none}) == FOUND
    )
    assert (
        exit_code_of(CampaignState("complete"), {"claim": "void", "same": True, "failed": {}, "rows": none})
        == INCOMPLETE
    )
    assert exit_code_of(CampaignState("interrupted"), {"claim": "faster", "failed": {}, "rows": some}) == 130


def test_networks_are_only_measured_and_nothing_is_changed() -> None:
    networks = ("10.0.0.0/24", "10.1.0.0/24")
    arms = NetworkArms(networks, stage_of({}, BLOCKS, 1), clock=lambda: 0.0)
    sticks = {BEFORE: World(lambda: BEFORE, cells=["a"]), AFTER: World(lambda: AFTER, cells=["b"])}
    stick = ArmsYardstick(sticks)
    sink = Sink()
    measure = ImpactMeasure(World(lambda: arms.arm).run, TIME, {RTT: stick}, sink)
    assert arms.run(measure).state == "complete" and not arms.told.leftovers
    found = judged(measure)
    assert found.claim == "faster" and found.rows[1].compared.ratio == pytest.approx(0.1)
    said = {(record.params["arm"], record.params["network"]) for record in sink.records}
    assert said == {(BEFORE, networks[0]), (AFTER, networks[1])}
    assert list(map(str, measure.cells)) == ["a", "b"]
