"""Facts that differ, gathered by cause, and joined with what stands out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.findings.test_run import record
from tests.wording import Wording, lacking
from wulf.agent.facts import find as find_fact
from wulf.core.findings import Evidence, Finding, Severity
from wulf.findings.facts.causes import Difference, acts, causes, differences, how_to_prove, proving_nodes, told_rules
from wulf.findings.facts.differing import effects_of, fact_findings, with_causes
from wulf.findings.net.bottlenecks import bottleneck_findings
from wulf.selftest.simulated.planted import healthy
from wulf.tune.catalogue import catalogue
from wulf.workflow.tune.measures import neighbours


def fingerprint(odd: Mapping[str, Mapping[str, Any]], nodes: int = 4) -> dict[str, Any]:
    found: dict[str, Any] = healthy(nodes).fingerprint()
    for node, facts in odd.items():
        for name, value in facts.items():
            found[node] = {**found[node], name: {"value": value, "provenance": "reported"}}
    return found


CARD = {"nic.eth0.driver": "virtio_net", "nic.eth0.mtu": 1500, "nic.eth0.rx_queues": 1, "nic.eth0.rings.rx": 256}
BUFFERS = {"sysctl.net.ipv4.tcp_rmem": "4096 8192 8192"}


def node(way: str = "receive", metric: str = "throughput", subject: str = "n4") -> Finding:
    evidence = Evidence.model_validate(
        {"subject": subject, "metric": metric, "way": way, "value": 1.0, "expected": 2.0}
    )
    return Finding(
        kind="node", severity=Severity.BAD, subject=subject, text=f"{subject} stands out.", next_step="look",
        evidence=[evidence],
    )  # fmt: skip


def test_another_device_is_one_finding_with_the_rest_folded_in(wording: Wording) -> None:
    (one,) = differences(fingerprint({"n4": CARD}))
    assert (one.nodes, one.fact, len(one.facts)) == (("n4",), "nic.eth0.driver", 4)
    (finding,) = fact_findings([one])
    assert (finding.kind, finding.subject, finding.severity) == ("fact", "n4", Severity.WARN)
    assert {e.metric for e in finding.evidence} == set(CARD)
    wording(finding.text)


def test_two_causes_on_one_node_are_two_and_nodes_alike_are_one() -> None:
    found = differences(fingerprint({"n2": {**CARD, **BUFFERS}, "n3": BUFFERS}, nodes=8))
    assert [(one.fact, one.nodes) for one in found] == [
        ("nic.eth0.driver", ("n2",)), ("sysctl.net.ipv4.tcp_rmem", ("n2", "n3"))
    ]  # fmt: skip


def test_without_a_majority_each_node_is_told_once_for_each_cause(wording: Wording) -> None:
    (one,) = differences(fingerprint({"n1": CARD, "n2": CARD}))
    assert (one.nodes, dict(one.majority)) == (("n1", "n2", "n3", "n4"), {})
    (finding,) = fact_findings([one])
    assert lacking(finding.text, "n1 has virtio_net", "n3 has mlx5_core") == []
    wording(finding.text)
    assert not acts(one, ["throughput"]), "of halves nobody can say which one is odd"


def test_what_stands_out_is_joined_with_what_differs_there(wording: Wording) -> None:
    found = differences(fingerprint({"n4": {"firewall.rules": 1000}, "n2": {"sysctl.net.ipv4.tcp_sack": 0}}))
    (finding,), left = with_causes([node("both", "rtt")], found, ["n1", "n2", "n3", "n4"])
    assert lacking(finding.text, "n4 stands out.", "firewall.rules is 1000", "the others' 0") == []
    assert lacking(finding.next_step, "wulf tune n3,n4 --settings firewall.bypass") == []
    assert [e.metric for e in finding.evidence] == ["rtt", "firewall.rules"]
    assert [one.nodes for one in left] == [("n2",)]
    wording(finding.text)
    wording(finding.next_step, "next")


@pytest.mark.parametrize(
    ("facts", "way", "metric", "likely"),
    [
        (BUFFERS, "receive", "throughput", True),
        (BUFFERS, "both", "throughput", True),
        (BUFFERS, "send", "throughput", False),
        ({"nic.eth0.offload.tso": False}, "send", "throughput", True),
        ({"nic.eth0.offload.tso": False}, "both", "rtt", False),
        ({"firewall.rules": 1000}, "both", "rtt", True),
        ({"firewall.rules": 2000, "firewall.drops": 2000}, "both", "rtt", True),
        ({"nic.eth0.speed": 125000000}, "both", "throughput", True),
        ({"nic.eth0.speed": 12500000000}, "both", "throughput", False),
        ({"kernel.release": "5.10"}, "both", "rtt", True),
    ],
)
def test_only_what_acts_on_it_that_way_is_likely(facts: dict[str, Any], way: str, metric: str, likely: bool) -> None:
    (one,) = differences(fingerprint({"n4": facts}))
    assert acts(one, effects_of(node(way, metric))) is likely


def test_a_link_through_which_nothing_comes_is_joined_with_what_blocks_at_its_ends(wording: Wording) -> None:
    evidence = Evidence(subject="n1>n3", metric="rtt", way="both", effect="blocked")
    link = Finding(
        kind="link", severity=Severity.BAD, subject="n1>n3", text="The link n1 – n3 stands out.", next_step="look",
        evidence=[evidence],
    )  # fmt: skip
    found = differences(fingerprint({"n3": {"firewall.drops": 1}, "n1": BUFFERS, "n4": {"firewall.drops": 7}}, nodes=8))
    (finding,), left = with_causes([link], found, ["n1", "n2", "n3", "n4"])
    assert finding.text.endswith(
        "Likely cause: n3 has a firewall that drops packets (firewall.drops is 1, the others' 0)."
    )
    assert lacking(finding.next_step, "`nft list ruleset` on n3") == []
    assert {one.nodes for one in left} == {("n1",), ("n4",)}, "what does not block, and who is not at its ends"
    wording(finding.text)
    slow = link.model_copy(update={"evidence": [evidence.model_copy(update={"effect": None})]})
    assert with_causes([slow], found, ["n1", "n2", "n3", "n4"])[0] == [slow], "of a slow link nothing is known to act"


def test_a_fact_shared_by_two_is_left_to_the_one_that_does_not_stand_out() -> None:
    found = differences(fingerprint({"n4": BUFFERS, "n5": BUFFERS}, nodes=8))
    (finding,), left = with_causes([node()], found, ["n3", "n4", "n5"])
    assert "Likely cause" in finding.text
    assert [one.nodes for one in left] == [("n5",)]


def test_a_rule_that_says_the_same_of_every_pair_is_not_told() -> None:
    found = differences(fingerprint({"n4": {"nic.eth0.mtu": 1500}}))
    assert told_rules(found)["mtu-mismatch"] == {"n4"}
    verdict = {"rule": "mtu-mismatch", "subject": "n4", "text": "differ", "next_step": "", "severity": "warn",
               "evidence": []}  # fmt: skip
    records = [record("n1>n4", 1e9, bottleneck=[verdict]), record("n1>n2", 1e9, bottleneck=[verdict])]
    (left,) = bottleneck_findings(records, told=told_rules(found))
    assert "n1 → n2" in left.text


def test_every_cause_names_facts_that_exist_and_settings_that_can_be_tried() -> None:
    for cause in causes():
        for pattern in (*cause.facts, *cause.folds):
            assert _known(pattern), pattern
        assert {effect.partition("/")[0] for effect in cause.effects} <= {"rtt", "throughput", "blocked"}
        if cause.aim:
            facts = [pattern.replace(".*", part) for pattern in cause.facts for part in (".x", ".rx")]
            proofs = [how_to_prove(Difference(cause, ("n1",), {f: 1}, {f: 2}), "n1", ["n2"], []) for f in facts]
            assert any("wulf tune n1,n2 --settings " in proof for proof in proofs), cause
        assert bool(cause.setting) <= (cause.setting in catalogue())


@pytest.mark.parametrize(
    ("node", "effect", "nodes"),
    [
        ("n2", "throughput/send", ["n2", "n3"]),
        ("n4", "throughput/send", ["n1", "n2", "n4"]),
        ("n2", "throughput/receive", ["n1", "n2"]),
        ("n1", "throughput/receive", ["n1", "n2", "n3"]),
        ("n1", "rtt", ["n1", "n2"]),
        ("n10", "rtt", ["n4", "n10"]),
    ],
)
def test_a_campaign_has_the_node_send_or_receive(node: str, effect: str, nodes: list[str]) -> None:
    assert proving_nodes(node, ["n1", "n2", "n3", "n4"], [effect]) == nodes
    ways = neighbours(nodes)
    assert effect == "rtt" or any(pair[effect.endswith("receive")] == node for pair in ways)


def _known(pattern: str) -> bool:
    """Whether a fact of this version may match; `*` stands for parts of a name."""
    from fnmatch import fnmatchcase

    from wulf.agent.facts import all_facts

    return find_fact(pattern.replace("*", "x")) is not None or any(
        fnmatchcase(fact.name, pattern) or fnmatchcase(fact.name.replace("*", "x"), pattern) for fact in all_facts()
    )
