"""The checklist: every answer with what it stands on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.tune.make_audit import ABSENT, CATALOGUE, REFUSED, fact, facts_of, read, setting, settings_of
from tests.wording import Wording, lacking
from wulf.tune.audit.answers import Answer, Node, Said
from wulf.tune.audit.checklist import QUESTIONS, answers
from wulf.tune.audit.firewall import FILTERING, LOADING
from wulf.tune.catalogue import catalogue

NO, YES, UNKNOWN = Answer.NO, Answer.YES, Answer.UNKNOWN
ABSENT_FACT = {"value": None, "reason": "the driver does not report it", "absent": True}
UFW = setting("firewall.ufw", mechanism="service", target={"unit": "ufw", "what": "active"}, type="bool")
NFT_SERVICE = setting("firewall.nft", mechanism="service", target={"unit": "nftables"}, type="bool")


def ask(
    key: str, facts: Any = (), settings: Any = (), addresses: Any = (), more: Any = (), date: str = "2024-06-01"
) -> Said:
    """One question of one node, with these facts and readings in the place of the usual ones."""
    nodes = {"n1": {**facts_of(), "kernel.built": fact("2024-02-01"), **dict(facts)}}
    said: dict[str, Any] = {
        "interfaces": {"n1": ["eth0"]}, "addresses": {"n1": list(addresses)}, "roles": {}, "date": date,
        "readings": {"n1": {**settings_of(), **{name: {"": reading} for name, reading in dict(settings).items()}}},
    }  # fmt: skip
    return answers(nodes, said, {**CATALOGUE, **{one.name: one for one in more}})[key]["n1"]


def test_every_question_is_answered_for_every_node_even_without_any_knowledge() -> None:
    said = {"interfaces": {}, "addresses": {}, "roles": {}, "readings": {}}
    found = answers({"n1": {}, "n2": {}}, said, {})
    assert list(found) == ["1a", "1b", "1c", "2a", "2b", "2c", "2d", "2e"] == [question.key for question in QUESTIONS]
    assert all(each.answer is UNKNOWN and each.evidence for own in found.values() for each in own.values())


def test_1a_a_driver_of_the_kernel_is_as_new_as_the_kernel(wording: Wording) -> None:
    said = ask("1a")
    assert said.answer is YES
    assert lacking(said.evidence, "eth0: e1000e", "6.1.0-18-amd64") == []
    wording(said.evidence)


@pytest.mark.parametrize(
    ("built", "date", "answer", "said"),
    [
        (fact("2024-02-01"), "2025-01-31", YES, "built on 2024-02-01"),
        (fact("2024-02-01"), "2025-02-01", NO, "newer ones since"),
        (fact("2024-02-01"), "", UNKNOWN, "how old that is is not known"),
        (fact("2024-02-01"), None, UNKNOWN, "how old that is is not known"),
        ({"value": None, "reason": "no date in it"}, "2025-02-01", UNKNOWN, "not known: no date in it"),
    ],
)
def test_1a_a_driver_of_an_old_kernel_is_not_the_latest(built: Any, date: Any, answer: Answer, said: str) -> None:
    found = ask("1a", {"kernel.built": built, "nic.eth0.firmware": fact("0.5-4")}, date=date)
    assert (found.answer, lacking(found.evidence, said, "firmware 0.5-4")) == (answer, [])


def test_1a_a_driver_from_elsewhere_is_not_known_to_be_the_latest() -> None:
    facts = {"nic.eth0.driver_in_tree": fact(False), "nic.eth0.driver_version": fact("3.8.4")}
    said = ask("1a", facts)
    assert said.answer is UNKNOWN
    assert "e1000e 3.8.4 is no part of the kernel" in said.evidence


def test_1a_of_a_virtual_interface_nothing_is_claimed() -> None:
    facts = {"nic.eth0.driver_in_tree": ABSENT_FACT, "nic.eth0.driver_version": fact("1.0")}
    assert ask("1a", facts).answer is UNKNOWN


def versions(*each: str | None, roles: dict[str, str] | None = None) -> list[Answer]:
    nodes = {
        f"n{i}": {**facts_of(), "nic.eth0.driver_version": fact(one), **({} if one else {"nic.eth0.driver": REFUSED})}
        for i, one in enumerate(each, 1)
    }
    interfaces = {name: ["eth0"] for name in nodes}
    said = {"interfaces": interfaces, "addresses": {}, "roles": roles or {}, "readings": {}}
    return [each.answer for each in answers(nodes, said, {})["1b"].values()]


def test_1b_against_most_nodes_of_the_role() -> None:
    assert versions("1", "1", "1") == [YES, YES, YES]
    assert versions("1", "2", "1") == [YES, NO, YES]
    assert versions("1", "2") == [NO, NO]
    assert versions("1", None, "1") == [YES, UNKNOWN, YES]
    assert versions("1", "2", "2", roles={"n1": "head", "n2": "node", "n3": "node"}) == [YES, YES, YES]
    assert versions("1") == [YES]


def test_1c_what_gathers_interrupts_is_named() -> None:
    said = ask("1c")
    assert (said.answer, said.evidence) == (NO, "eth0: adaptive_rx is on, rx_delay is 3 µs")


def test_1c_what_no_driver_says_is_told_as_it_stands() -> None:
    said = ask("1c", {"nic.eth0.coalescing.adaptive_rx": fact("perhaps")})
    assert (said.answer, said.evidence) == (NO, "eth0: adaptive_rx is perhaps, rx_delay is 3 µs")


def test_1c_adaptive_off_and_no_delay() -> None:
    facts = {"nic.eth0.coalescing.adaptive_rx": fact(False), "nic.eth0.coalescing.rx_delay": fact(0)}
    assert ask("1c", facts).answer is YES


def test_1c_a_driver_that_does_not_report_it() -> None:
    facts = {"nic.eth0.coalescing.adaptive_rx": ABSENT_FACT, "nic.eth0.coalescing.rx_delay": ABSENT_FACT}
    said = ask("1c", facts)
    assert (said.answer, said.evidence) == (UNKNOWN, "eth0: the driver does not report it")


@pytest.mark.parametrize(
    ("bypass", "drops", "answer"),
    [
        (read(False), read(0), YES),
        (read(False), read(12), NO),
        (read(True), read(12), YES),
        (read("10.0.0.0/24"), read(12), YES),
        (read("10.9.0.0/24 fd00::/64"), read(12), NO),
        (read(False), REFUSED, UNKNOWN),
        (read(True), REFUSED, YES),
        (ABSENT, ABSENT, UNKNOWN),
    ],
)
def test_2a_rules_or_a_bypass_for_the_cluster(bypass: Any, drops: Any, answer: Answer) -> None:
    said = ask("2a", settings={"firewall.bypass": bypass, "firewall.drops": drops}, addresses=["10.0.0.1"])
    assert said.answer is answer
    assert said.evidence


def test_2a_a_service_that_filters_says_no_where_rules_can_not_be_read() -> None:
    more = {"firewall.drops": REFUSED, "firewall.ufw": read(True, True), "firewall.nft": read(True, True)}
    assert ask("2a", settings=more, more=[UFW, NFT_SERVICE]).answer is NO
    more["firewall.ufw"] = ABSENT
    said = ask("2a", settings=more, more=[UFW, NFT_SERVICE])
    assert said.answer is UNKNOWN
    assert "needs root" in said.evidence


def test_2a_firewalld_may_trust_the_cluster_s_network() -> None:
    zone = setting("firewall.zone", mechanism="firewalld", target={"zone": "trusted"}, type="bool")
    more = {"firewall.drops": read(12), "firewall.zone": read(True)}
    said = ask("2a", settings=more, more=[zone])
    assert (said.answer, "still tracked" in said.evidence) == (YES, True)
    more["firewall.zone"] = read(False)
    assert ask("2a", settings=more, more=[zone]).answer is NO


def test_2b_at_startup_a_bypass_in_a_file_or_no_service_that_loads_rules() -> None:
    assert ask("2b", settings={"firewall.bypass": read(True, True)}).answer is YES
    services = [setting(f"firewall.{u}", mechanism="service", target={"unit": u}, type="bool")
                for u in ("firewalld", "ufw", "nftables", "iptables")]  # fmt: skip
    off = {one.name: read(False, False) for one in services}
    assert ask("2b", settings=off, more=services).answer is YES
    assert ask("2b", settings={**off, "firewall.ufw": read(False, True)}, more=services).answer is NO
    assert ask("2b", settings={**off, "firewall.nftables": read(False, True)}, more=services).answer is UNKNOWN


def test_2c_running_and_startup_have_to_agree() -> None:
    assert ask("2c", settings={"firewall.bypass": read(True, True)}).answer is YES
    said = ask("2c", settings={"firewall.bypass": read(True, False), "firewall.drops": read(5, 5)})
    assert said.answer is NO
    assert "start-up brings it back" in said.evidence
    later = ask("2c", settings={"firewall.bypass": read(False, True), "firewall.drops": read(5)})
    assert later.answer is NO
    assert "after the next boot" in later.evidence
    assert ask("2c", settings={"firewall.drops": REFUSED}).answer is UNKNOWN


@pytest.mark.parametrize(
    ("reading", "now", "later"),
    [
        (read(True, True), NO, NO),
        (read(False, True), YES, NO),
        (read(True, False), NO, YES),
        (read(False, False), YES, YES),
        (ABSENT, YES, YES),
        (read(False), YES, UNKNOWN),
    ],
)
def test_2d_and_2e_irqbalance_by_its_service(reading: Any, now: Answer, later: Answer) -> None:
    assert ask("2d", settings={"irq.balance": reading}).answer is now
    assert ask("2e", settings={"irq.balance": reading}).answer is later


def test_2d_by_the_processes_where_the_service_could_not_be_asked() -> None:
    assert ask("2d", settings={"irq.balance": REFUSED}).answer is NO
    assert ask("2d", {"software.irqbalance": fact(False)}, {"irq.balance": REFUSED}).answer is YES
    assert ask("2d", {"software.irqbalance": REFUSED}, {"irq.balance": REFUSED}).answer is UNKNOWN


def test_the_firewall_is_never_advised_off() -> None:
    steps = [question.step for question in QUESTIONS if question.key == "2a"]
    assert len(steps) == 1
    assert "leave the firewall on" in steps[0]
    assert "bypass" in steps[0]


@pytest.mark.parametrize(
    ("mechanism", "target"),
    [
        ("nftables", {"what": "bypass"}),
        ("nftables", {"what": "drops"}),
        ("nftables", {"what": "tracks"}),
        ("firewalld", {}),
        *(("service", {"unit": unit, "what": "active"}) for unit in (*FILTERING, *LOADING, "irqbalance")),
    ],
)
def test_the_catalogue_has_what_the_questions_look_for(mechanism: str, target: dict[str, str]) -> None:
    known = catalogue()
    own = {name: {"": read(True)} for name in known}
    assert list(Node({}, (), own, known).of(mechanism, **target)), "a question would never be answered by it"
