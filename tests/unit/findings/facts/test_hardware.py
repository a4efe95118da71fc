"""Memory under its rating and cards on fewer lanes, each node by itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.findings.facts.causes import acts, differences
from wulf.findings.facts.differing import fact_findings
from wulf.findings.facts.hardware import hardware_findings

MEMORY = {"memory.speed": 2400 * 10**6, "memory.speed_rated": 3200 * 10**6}


def facts(**more: Any) -> dict[str, dict[str, Any]]:
    return {name: {"value": value} for name, value in more.items()}


def card(width: int, speed: float = 16e9, network: float | None = 12.5e9, stem: str = "nic.eth0.pcie_") -> Any:
    best = facts(**{f"{stem}width_max": 8, f"{stem}speed_max": 16e9})
    own = facts(**{f"{stem}width": width, f"{stem}speed": speed})
    return best | own | (facts(**{"nic.eth0.speed": network}) if network else {})


def test_a_card_on_half_its_lanes_is_named_with_what_the_link_carries(wording: Wording) -> None:
    (one,) = hardware_findings({"n1": card(8), "n2": card(4), "n3": card(4)})
    assert (one.subject, one.severity) == ("n[2-3]", Severity.WARN)
    assert lacking(one.text, "4 lanes of 16 GT/s", "8 lanes of 16 GT/s", "63 Gbit/s", "100 Gbit/s") == []
    assert [e.subject for e in one.evidence] == ["n2", "n3"]
    wording(one.text)
    wording(one.next_step, "next")


@pytest.mark.parametrize(
    ("link", "severity", "said"),
    [
        (card(8, 8e9), Severity.WARN, "63 Gbit/s"),
        (card(4, network=3.125e9), Severity.INFO, "25 Gbit/s: enough"),
        (card(1, 2.5e9, network=None), Severity.WARN, "at most 2 Gbit/s"),
        (card(4, network=None, stem="pcie.0000:3b:00.0."), Severity.WARN, "the device can have"),
    ],
)
def test_lanes_that_carry_the_network_s_speed_are_a_note(link: Any, severity: Severity, said: str) -> None:
    (one,) = hardware_findings({"n1": link})
    assert (one.severity, said in one.text, bool(one.next_step)) == (severity, True, severity is Severity.WARN)


def test_a_graphics_card_that_idles_is_in_order() -> None:
    assert hardware_findings({"n1": card(8, 2.5e9, None, "pcie.0000:3b:00.0.")}) == []


def test_what_is_not_known_is_not_judged() -> None:
    unknown = card(4) | {"nic.eth0.pcie_width": {"value": None, "reason": "a virtual function", "absent": True}}
    assert hardware_findings({"n1": unknown, "n2": {"memory.speed": {"value": 1}}, "n3": {}}) == []


def test_memory_below_its_rating_is_a_note_with_what_it_costs(wording: Wording) -> None:
    (one,) = hardware_findings({"n1": facts(**MEMORY), "n2": facts(**{**MEMORY, "memory.speed": 3200 * 10**6})})
    assert (one.subject, one.severity) == ("n1", Severity.INFO)
    assert lacking(one.text, "2.4 GT/s", "3.2 GT/s", "75%") == []
    wording(one.text)


def unlike(usual: dict[str, Any], odd: dict[str, Any]) -> Any:
    return {f"n{i}": facts(**(odd if i == 4 else usual)) for i in range(1, 5)}


@pytest.mark.parametrize(
    ("usual", "odd", "words", "effect", "severity"),
    [
        ({"memory.modules": 8, "memory.empty_slots": "none"}, {"memory.modules": 7, "memory.empty_slots": "B1"},
         "other memory modules", "throughput", Severity.WARN),
        ({"nic.eth0.pcie_width": 8}, {"nic.eth0.pcie_width": 4}, "", "throughput", Severity.WARN),
        ({"system.bios_date": "02/19/2024", "system.bios_version": "2.21"},
         {"system.bios_date": "01/01/2020", "system.bios_version": "2.1"}, "another firmware", "rtt", Severity.WARN),
        ({"lldp.eth0.switch": "leaf-1"}, {"lldp.eth0.switch": "leaf-2"}, "", "rtt", Severity.INFO),
        ({"lldp.eth0.medium": "25GbaseCR"}, {"lldp.eth0.medium": "10GbaseCR"}, "", "throughput", Severity.WARN),
    ],
)  # fmt: skip
def test_a_node_unlike_the_others_is_one_finding_and_a_cause(
    usual: dict[str, Any], odd: dict[str, Any], words: str, effect: str, severity: Severity
) -> None:
    (one,) = differences(unlike(usual, odd))
    (finding,) = fact_findings([one])
    assert (finding.subject, finding.severity, words in finding.text) == ("n4", severity, True)
    assert finding.next_step
    assert acts(one, [effect])
