"""`wulf links` over simulated nodes whose traffic is made up: who is named, and when it is the host."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.net.test_traffic import columns, group
from tests.unit.workflow.simulating import reach
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.simulated.cluster import Fault, SimulatedCluster
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Provenance
from wulf.measure.net.traffic import is_whole
from wulf.report.net.links import Links
from wulf.report.run.html import render
from wulf.store.run import RunWriter, read_run
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.recover import load
from wulf.workflow.net.links import Following, Schedule, links

NODES = 4

Change = Callable[[str, str], dict[str, Any]]
"""From sender and receiver to what is unusual of their traffic."""


class Made:
    """Traffic of every node to every other one, 10 MB in 10 s, unless `change` has it otherwise; 5 % noise."""

    def __init__(
        self, change: Change = lambda _a, _b: {}, host: Callable[[str], dict[str, float]] | None = None,
        outside: Callable[[str], float] = lambda _: 5e-5,
    ) -> None:  # fmt: skip
        self._change, self._host, self._outside = change, host or (lambda _: {}), outside
        self._polls = Counter[str]()
        self._random = random.Random(1)

    def __call__(self, node: str) -> dict[str, Any]:
        self._polls[node] += 1
        first = self._polls[node] == 1
        usual = {"cpu": 40.0, "softirq": 0.4, "pressure": 0.1, "run_delay": 0.1, "opened": 0.0}
        peers = [f"n{i}" for i in range(1, NODES + 1) if f"n{i}" != node]
        return {
            "seconds": None if first else 10.0, "sockets": 6, "new": 0, "ended": 0, "left_out": 0,
            "cpu_seconds": None if first else 0.004, "host": {} if first else {**usual, **self._host(node)},
            "groups": columns(*([] if first else [*(self._group(node, peer) for peer in peers), self._asked(node)])),
        }  # fmt: skip

    def _asked(self, node: str) -> dict[str, Any]:
        """The connection of whoever polls."""
        return group("192.0.2.1", port=22, segments=9, acked=9000, least=self._outside(node), rtt=1e-3)

    def _group(self, node: str, peer: str) -> dict[str, Any]:
        own = {"rtt": 2e-4, "least": 1e-4, "again": 3, **self._change(node, peer)}
        for name in ("rtt", "least"):
            own[name] *= self._random.uniform(0.95, 1.05)
        return group(f"10.0.0.{peer[1:]}", **own)


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., RunOutcome]:
    def followed(traffic: Callable[[str], Any], *, polls: int = 8, stop_after: int = 99, **cluster: Any) -> RunOutcome:
        inventory = Inventory.from_nodeset(f"n[1-{NODES}]", launcher="null")
        simulated = SimulatedCluster(inventory.names, traffic=traffic, **cluster)
        reach(monkeypatch, lambda i: NullLauncher(i, simulated))
        now = [0.0]

        def sleep(seconds: float) -> None:
            now[0] += seconds
            if now[0] > 10.0 * stop_after:
                raise KeyboardInterrupt

        with RunWriter(tmp_path / "run", "links", {"nodes": list(inventory.names)}) as writer:
            return links(inventory, writer, Following(Schedule(10.0 * polls, 10.0), clock=lambda: now[0], sleep=sleep))

    return followed


def named(outcome: RunOutcome, *severities: Severity) -> dict[str, Finding]:
    wanted = severities or (Severity.BAD,)
    return {one.subject: one for one in outcome.run.findings if one.severity in wanted and one.kind != "note"}


def test_quiet_traffic_names_nobody(follow: Any) -> None:
    outcome = follow(Made())
    assert named(outcome, Severity.BAD, Severity.WARN) == {}
    assert outcome.exit_code == 0
    whole = [one for one in outcome.run.records if is_whole(one)]
    assert len({one.subject for one in whole}) == 12
    assert all(one.provenance is Provenance.MEASURED and one.params["source"] == "traffic" for one in whole)


@pytest.mark.parametrize(("place", "way"), [(0, "send"), (1, "receive")])
def test_losses_name_their_node_and_the_way(follow: Any, place: int, way: str) -> None:
    outcome = follow(Made(lambda *pair: {"again": 70} if pair[place] == "n3" else {}))
    assert outcome.exit_code == 1
    assert list(named(outcome)) == ["n3"]
    assert named(outcome)["n3"].evidence[0].way == way
    assert "segments sent again" in named(outcome)["n3"].text


def test_a_longer_path_names_its_node(follow: Any) -> None:
    outcome = follow(Made(lambda *pair: {"least": 5e-4, "rtt": 6e-4} if "n2" in pair else {}))
    assert list(named(outcome)) == ["n2"]
    assert named(outcome)["n2"].evidence[0].metric == "least_rtt"


def waiting(*pair: str) -> dict[str, Any]:
    """Data always waits, on n2's pairs most."""
    return {"least": 4e-4 if "n2" in pair else 3e-4 if {*pair} == {"n3", "n4"} else 1e-4, "rtt": 9e-3}


def test_a_longer_path_is_told_from_queues_by_what_all_nodes_are_asked_over(follow: Any) -> None:
    outcome = follow(Made(waiting, outside=lambda node: 3e-4 if node == "n2" else 5e-5))
    assert list(named(outcome)) == ["n2"]
    assert "TCP's least round trip over its links is 345 µs" in named(outcome)["n2"].text


def test_where_all_are_as_near_to_whoever_asks_queues_name_nobody(follow: Any) -> None:
    assert named(follow(Made(waiting))) == {}


def test_a_lossy_link_is_named_by_itself(follow: Any) -> None:
    outcome = follow(Made(lambda *pair: {"again": 140} if pair == ("n1", "n4") else {}))
    assert list(named(outcome)) == ["n1>n4"]


def test_a_queue_is_told_and_is_no_fault(follow: Any) -> None:
    outcome = follow(Made(lambda *pair: {"rtt": 4e-3} if "n2" in pair else {}))
    assert outcome.exit_code == 0
    (queue,) = (one for one in outcome.run.findings if one.kind == "queue")
    assert (queue.subject, queue.severity) == ("n2", Severity.INFO)


def test_a_busy_host_is_named_in_the_place_of_the_network(follow: Any) -> None:
    slow, busy = (lambda *pair: {"rtt": 4e-3} if "n2" in pair else {}), {"pressure": 6.0}
    outcome = follow(Made(slow, lambda node: busy if node == "n2" else {}))
    (noise,) = (one for one in outcome.run.findings if one.kind == "host-noise")
    assert (noise.subject, noise.severity) == ("n2", Severity.WARN)
    assert "tasks waited for a CPU in 60%" in noise.text
    assert {one.metric for one in noise.evidence} >= {"smoothed_rtt", "cpu_pressure"}


def test_hosts_that_are_all_as_busy_excuse_nobody(follow: Any) -> None:
    outcome = follow(Made(lambda *pair: {"rtt": 4e-3} if "n2" in pair else {}, lambda _: {"pressure": 6.0}))
    assert not any(one.kind == "host-noise" for one in outcome.run.findings)


def test_losses_are_no_hosts_noise(follow: Any) -> None:
    lossy = Made(
        lambda *pair: {"again": 70} if pair[1] == "n3" else {}, lambda node: {"pressure": 6.0 * (node == "n3")}
    )
    assert list(named(follow(lossy))) == ["n3"]


@pytest.mark.parametrize(("pressure", "severity"), [(0.1, Severity.WARN), (6.0, Severity.INFO)])
def test_losses_everywhere_are_doubted_where_all_hosts_are_late(
    follow: Any, pressure: float, severity: Severity
) -> None:
    outcome = follow(Made(lambda *_: {"again": 35}, lambda _: {"pressure": pressure}))
    (losses,) = (one for one in outcome.run.findings if one.text.startswith("drop-bound"))
    assert (losses.severity, "may have come late" in losses.text) == (severity, severity is Severity.INFO)


def test_what_the_receiver_holds_up_is_a_verdict(follow: Any) -> None:
    outcome = follow(Made(lambda *pair: {"rwnd": 0.9, "window": 65_535} if pair == ("n1", "n2") else {}))
    assert any(one.text.startswith("window-bound: n1 → n2 (tcp traffic): n2's receive") for one in outcome.run.findings)


def test_a_node_that_ends_has_failed_and_the_others_go_on(follow: Any) -> None:
    outcome = follow(Made(), faults=[Fault("n4", "sockets", call=3, kind="die")])
    assert outcome.exit_code == 3
    assert list(named(outcome)) == ["n4"]
    blocks = {one["block"] for one in outcome.run.replicates}
    assert blocks == set(range(8))


@pytest.mark.parametrize("first", [2, 1], ids=["in the middle", "from the beginning"])
def test_where_no_node_answers_any_more_nobody_waits_for_the_end(follow: Any, first: int) -> None:
    faults = [Fault(f"n{i}", "sockets", call=first, kind="die") for i in range(1, NODES + 1)]
    outcome = follow(Made(), polls=60, stop_after=7, faults=faults)
    assert outcome.exit_code == 3
    assert len(named(outcome)) == NODES


def test_an_interrupt_keeps_what_was_seen(follow: Any) -> None:
    outcome = follow(Made(), polls=60, stop_after=7)
    assert outcome.exit_code == 130
    assert outcome.run.meta["state"] == "interrupted"
    assert any(one.low is not None for one in outcome.run.records if is_whole(one))


def test_a_run_that_was_cut_short_has_the_figures_of_its_replicates(follow: Any) -> None:
    run = follow(Made()).run
    (run.path / "records.jsonl").write_text("")
    meta = (run.path / "run.json").read_text().replace('"complete"', '"running"')
    (run.path / "run.json").write_text(meta)
    assert {one.subject for one in load(run.path).records if is_whole(one)} >= {"n1>n2", "n4>n3"}


def test_the_report_has_maps_services_and_the_cost(follow: Any) -> None:
    run = read_run(follow(Made(lambda *pair: {"again": 70} if pair[1] == "n3" else {})).run.path)
    headings = [section.heading for section in Links().view(run)]
    assert headings == ["Traffic of every pair", "What held it up", "By application and port", "Hosts"]
    page = render(run)
    assert "Polling took 0.0004 of a core at most, 0.04%." in page
    assert "n3 loses some of what it receives" in Links().headline(run)


def test_without_traffic_that_is_said(follow: Any) -> None:
    quiet = Made()
    outcome = follow(lambda node: {**quiet(node), "groups": columns()})
    assert Links().headline(outcome.run) == "No traffic between these nodes was seen."
    assert "No connection was open between two of these nodes." in [one.text for one in outcome.run.findings]


@pytest.mark.parametrize(("seconds", "every"), [(60.0, 0.1), (5.0, 10.0)])
def test_a_schedule_that_makes_no_sense_is_refused(seconds: float, every: float) -> None:
    with pytest.raises(UsageError):
        Schedule(seconds, every)


def test_how_often_is_chosen_so_that_losses_can_be_told_from_bursts() -> None:
    chosen = [(Schedule(s).step, Schedule(s).polls) for s in (3600.0, 960.0, 96.0, 24.0, 3.0)]
    assert chosen == [(10.0, 360), (10.0, 96), (1.0, 96), (0.25, 96), (0.25, 12)]
