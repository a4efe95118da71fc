"""Who stands out, in words: sender, receiver, node, group, link, and what gave no answer at all."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from tests.unit.findings.test_run import record
from tests.wording import Wording, lacking
from wulf.core.errors import NodeError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.findings.net.standing_out import standing_out
from wulf.findings.run import find

NODES = ("n1", "n2", "n3", "n4")
TIMEOUT = "3 of 3 attempts: timeout: connect"

Shares = Mapping[tuple[str, str], float]
NONE: Shares = {}


def survey(
    rates: Shares = NONE, trips: Shares = NONE, dead: Collection[tuple[str, str]] = (), nodes: Collection[str] = NODES
) -> list[Record]:
    """Streams of all ways, round trips of all pairs; shares of 1 GB/s, multiples of 50 µs."""
    streams = [
        record(f"{a}>{b}", None, verdict="failed", reason=TIMEOUT, replicates=0)
        if (a, b) in dead
        else record(f"{a}>{b}", 1e9 * rates.get((a, b), 1.0))
        for a, b in itertools.permutations(nodes, 2)
    ]
    pings = [
        record(f"{a}>{b}", None, "pingpong", verdict="failed", reason=TIMEOUT, replicates=0)
        if (a, b) in dead
        else record(f"{a}>{b}", 5e-5 * trips.get((a, b), 1.0), "pingpong")
        for a, b in itertools.combinations(nodes, 2)
    ]
    return streams + pings


def leaving(node: str, share: float, nodes: Collection[str] = NODES) -> dict[tuple[str, str], float]:
    return {(node, other): share for other in nodes if other != node}


def entering(node: str, share: float) -> dict[tuple[str, str], float]:
    return {(other, node): share for other in NODES if other != node}


def only(records: list[Record], **more: Any) -> Finding:
    (finding,) = [f for f in find(records, more.get("fingerprint", {}), {}) if f.severity is not Severity.INFO]
    return finding


def test_a_slow_sender_is_told_once_and_not_again_as_asymmetric(wording: Wording) -> None:
    finding = only(survey(leaving("n3", 0.3)))
    assert (finding.kind, finding.subject, finding.severity) == ("node", "n3", Severity.BAD)
    assert finding.text.startswith("n3 is slow to send, to all 3 others: ")
    wording(finding.text)
    wording(finding.next_step, "next")


def test_a_slow_receiver(wording: Wording) -> None:
    finding = only(survey(entering("n3", 0.1)))
    assert finding.text.startswith("n3 is slow to receive, from all 3 others: ")
    wording(finding.text)


def test_several_metrics_are_one_finding(wording: Wording) -> None:
    trips = {pair: 2.0 for pair in itertools.combinations(NODES, 2) if "n3" in pair}
    finding = only(survey(leaving("n3", 0.3), trips))
    assert [(e.metric, e.way) for e in finding.evidence] == [
        ("throughput", "send"),
        ("rtt", "both"),
    ]
    assert finding.text.startswith("n3 is slow to send")
    assert "Also: TCP round trip 100 µs instead of 50 µs." in finding.text
    wording(finding.text)


def test_links_one_way_and_both(wording: Wording) -> None:
    one = only(survey({("n1", "n3"): 0.2}))
    assert (one.kind, one.subject) == ("link", "n1>n3")
    wording(one.text)
    both = only(survey({("n1", "n3"): 0.2, ("n3", "n1"): 0.1}))
    assert (both.kind, both.subject) == ("link", "n1>n3")
    wording(both.text)


def test_a_link_of_a_slow_node_is_told_besides_where_it_is_far_worse(wording: Wording) -> None:
    nodes = tuple(f"n{i}" for i in range(1, 7))
    found = standing_out(survey({**leaving("n3", 0.4, nodes), ("n3", "n1"): 0.02}, nodes=nodes)).findings
    assert [(f.kind, f.subject) for f in found] == [("node", "n3"), ("link", "n3>n1")]
    wording(found[1].text)


def test_what_cuts_a_group_off_is_told_not_its_nodes(wording: Wording) -> None:
    nodes = tuple(f"n{i}" for i in range(1, 9))
    across = {(a, b): 0.25 for a, b in itertools.permutations(nodes, 2) if (a in ("n1", "n2")) != (b in ("n1", "n2"))}
    records = survey(across, nodes=nodes)
    finding = only(records)
    assert (finding.kind, finding.subject) == ("link", "n1, n2")
    wording(finding.text)
    boots = {node: {"kernel.boot_id": {"value": "a" if node in ("n1", "n2") else node}} for node in nodes}
    assert standing_out(records, boots).findings == [], "two nodes of one machine are joined by its memory"


# What gave no answer.


def test_a_node_that_nobody_reaches_is_one_finding(wording: Wording) -> None:
    finding = only(survey(dead=[(other, "n3") for other in NODES if other != "n3"]))
    assert (finding.kind, finding.subject, finding.severity) == ("node", "n3", Severity.BAD)
    assert lacking(finding.text, "from any of the 3 others", "ssh reaches it", "timeout: connect") == []
    assert {e.value for e in finding.evidence} == {None}
    wording(finding.text)


def test_what_else_it_can_not_do_is_not_told_of_its_links() -> None:
    """A firewall that lets nobody in keeps answers over UDP out, too, which come from another port than was asked."""
    udp = [
        record(f"{a}>{b}", None if "n3" in (a, b) else 5e-5, "pingpong", reason=TIMEOUT,
               verdict="failed" if "n3" in (a, b) else "ok", replicates=0 if "n3" in (a, b) else 6,
               params={"transport": "udp", "pattern": "pingpong"})
        for a, b in itertools.combinations(NODES, 2)
    ]  # fmt: skip
    finding = only([*survey(dead=[(other, "n3") for other in NODES if other != "n3"]), *udp])
    assert finding.text.startswith("n3 can't be reached on its measuring ports")


def test_its_firewalls_policy_stands_beside_it(wording: Wording) -> None:
    policies = {node: {"firewall.input_policy": {"value": "drop" if node == "n3" else "accept"}} for node in NODES}
    records = survey(dead=[(other, "n3") for other in NODES if other != "n3"])
    finding = only(records, fingerprint=policies)
    assert "firewall.input_policy is drop, the others' accept" in finding.text
    wording(finding.text)


def test_a_node_cut_off_both_ways_and_one_that_reaches_nobody(wording: Wording) -> None:
    both = only(survey(dead=[pair for pair in itertools.permutations(NODES, 2) if "n3" in pair]))
    assert (both.kind, both.subject) == ("node", "n3")
    wording(both.text)
    out = only(survey(dead=[("n3", other) for other in NODES if other != "n3"]))
    assert (out.kind, out.subject) == ("node", "n3")
    wording(out.text)


def test_a_link_without_an_answer_is_a_bad_link(wording: Wording) -> None:
    finding = only(survey(dead=[("n1", "n3"), ("n3", "n1")]))
    assert (finding.kind, finding.subject, finding.severity) == ("link", "n1>n3", Severity.BAD)
    assert "where the other links reach 8 Gbit/s" in finding.text
    wording(finding.text)


def test_where_round_trips_pass_and_streams_do_not_packets_may_be_too_large(wording: Wording) -> None:
    records = [
        record(r.subject, None, verdict="failed", reason=TIMEOUT, replicates=0)
        if r.metric == "throughput" and set(r.nodes) == {"n1", "n3"}
        else r
        for r in survey()
    ]
    finding = only(records)
    assert "large packets may vanish on the way (MTU)" in finding.text
    wording(finding.text)


def test_what_was_not_tried_often_and_what_a_dead_node_lacks_accuses_nobody() -> None:
    dead = [(other, "n3") for other in NODES if other != "n3"]
    few = [r.model_copy(update={"replicates": min(r.replicates, 2)}) for r in survey(dead=dead)]
    assert [f.kind for f in find(few, {}, {})] == ["failed", "note"]
    gone = NodeError("n3", "died while it was measured", "look at its console")
    found = find(survey(dead=dead), {}, {"n3": gone})
    assert [(f.kind, f.subject) for f in found] == [("failed", "n3"), ("note", "")]


@pytest.mark.parametrize("params", [{"cpu": 3, "server_cpu": 3}, {"cpu": 3, "server_cpu": 2}, {}])
def test_a_core_that_both_ends_were_put_on_is_busy_by_right(params: dict[str, int]) -> None:
    busy = {"rule": "cpu-bound", "subject": "n1", "text": "CPU 3 is 99% used.", "next_step": "", "severity": "info",
            "evidence": []}  # fmt: skip
    trip = record(
        "n1>n2", 5e-5, "pingpong", params={"transport": "tcp", "pattern": "pingpong", **params}, bottleneck=[busy]
    )
    stream = record("n1>n2", 1e9, params={"transport": "tcp", "pattern": "stream", **params}, bottleneck=[busy])
    told = [f.text for f in find([trip, stream], {}, {}) if f.kind == "bottleneck"]
    shared = params.get("cpu", 0) == params.get("server_cpu", 1)
    assert ("more of" in told[0]) is not shared
