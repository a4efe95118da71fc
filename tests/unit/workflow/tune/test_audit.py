"""An audit of simulated nodes: what is found, what counts, what is left on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tune.make_audit import CATALOGUE, MECHANISMS, fact, facts_of, read, settings_of
from tests.wording import Wording, lacking
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import Fault, SimulatedCluster
from wulf.core.errors import FOUND, UsageError
from wulf.core.findings import Finding
from wulf.report.tune.audit import headline
from wulf.store.run import RunWriter
from wulf.tune.setting import Aim
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.tune import audit as auditing
from wulf.workflow.tune.audit import cluster_interfaces, is_cluster, read_baseline, roles_of

Audit = Callable[..., RunOutcome]

QUIET = {"nic.eth0.coalescing.adaptive_rx": {"value": False}, "nic.eth0.coalescing.rx_delay": {"value": 0},
         "software.irqbalance": {"value": False}}  # fmt: skip
"""Facts of a node that the checklist has nothing against."""


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Audit:
    """Audits simulated nodes: `audit("n[1-4]", odd={"n3": {"nic.mtu": {"eth0": read(1400)}}}, aim=Aim.LATENCY)`."""
    monkeypatch.setattr(auditing, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))
    monkeypatch.setattr("wulf.tune.readings.mechanisms", lambda: MECHANISMS)
    count = iter(range(100))

    def run(nodes: str = "n[1-4]", odd: Any = (), cluster: Any = (), usual: Any = (), **how: Any) -> RunOutcome:
        inventory = Inventory.from_nodeset(nodes, launcher="null", roles=how.pop("inventory_roles", {}))
        own = dict(odd)

        def settings(name: str) -> Any:
            off = {"irq.balance": {"": read(False, False)}}
            return {**settings_of(name), **off, **dict(usual), **own.get(name, {})}

        fields = {"facts": lambda name: {**facts_of(name), **QUIET}, "settings": settings, **dict(cluster)}
        simulated = SimulatedCluster(inventory.names, **fields)
        monkeypatch.setattr(auditing, "make_launcher", lambda i: NullLauncher(i, simulated))
        with RunWriter(tmp_path / f"run{next(count)}", "audit", {"nodes": list(inventory.names)}) as writer:
            return auditing.audit(inventory, writer, settings=CATALOGUE, **how)

    return run


def kinds(outcome: RunOutcome) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in outcome.run.findings:
        found.setdefault(finding.kind, []).append(finding)
    return found


def test_alike_nodes_that_were_not_held_against_an_aim_are_well(audit: Audit) -> None:
    outcome = audit()
    assert outcome.exit_code == 0
    assert set(kinds(outcome)) == {"advice", "security"}
    assert outcome.run.meta["state"] == "complete"
    assert outcome.run.meta["exit_code"] == 0
    assert set(outcome.run.settings["readings"]) == {"n1", "n2", "n3", "n4"}
    assert (outcome.run.path / "report.html").exists()


def test_advice_counts_for_the_aim_that_was_asked_for(audit: Audit, wording: Wording) -> None:
    outcome = audit(aim=Aim.LATENCY)
    assert outcome.exit_code == 1
    (advice,) = kinds(outcome)["advice"]
    assert lacking(advice.text, "2 settings", "advised for latency", "nic.adaptive_rx, tcp.autocorking") == []
    wording(advice.text)
    assert audit(aim=Aim.QUIET).exit_code == 0


def test_what_weakens_security_is_a_note_whatever_was_asked(audit: Audit) -> None:
    outcome = audit(aim=Aim.LATENCY)
    (security,) = kinds(outcome)["security"]
    assert security.severity == "info"
    assert "cpu.mitigations" in security.text
    assert "weaken security" in security.text
    assert not any("cpu.mitigations" in advice.text for advice in kinds(outcome)["advice"])


def test_one_node_with_another_mtu_is_found(audit: Audit, wording: Wording) -> None:
    outcome = audit(odd={"n3": {"nic.mtu": {"eth0": read(1400, 1400)}}})
    assert outcome.exit_code == 1
    (finding,) = kinds(outcome)["setting"]
    assert finding.subject == "n3"
    assert lacking(finding.text, "nic.mtu", "eth0 of n3 has 1400 B", "most have 1500 B") == []
    wording(finding.text)
    assert [(e.subject, e.value, e.expected) for e in finding.evidence] == [("eth0 of n3", "1400 B", "1500 B")]


def test_what_a_reboot_would_change_is_found(audit: Audit) -> None:
    outcome = audit(odd={"n2": {"tcp.autocorking": {"": read(True, False)}}})
    assert outcome.exit_code == 1
    (finding,) = kinds(outcome)["startup"]
    assert finding.subject == "n2"
    assert "n2 has on, and off after a reboot" in finding.text


def test_a_value_out_of_range_is_found(audit: Audit, wording: Wording) -> None:
    outcome = audit(odd={f"n{i}": {"nic.mtu": {"eth0": read(70000)}} for i in range(1, 5)})
    (finding,) = kinds(outcome)["setting"]
    assert lacking(finding.text, "70000 B on eth0 of n[1-4]", "68 B to 65535 B") == []
    wording(finding.text)


def test_a_no_of_the_checklist_is_found_with_what_to_do(audit: Audit, wording: Wording) -> None:
    outcome = audit(cluster={"facts": facts_of}, usual={"firewall.drops": {"": read(9)}})
    found = {finding.text[10:12]: finding for finding in kinds(outcome)["checklist"]}
    assert set(found) == {"1c", "2a", "2c"}
    assert lacking(found["2a"].text, "filter or track packets", "no bypass") == []
    wording(found["2a"].text)
    assert "leave the firewall on" in found["2a"].next_step
    assert outcome.exit_code == 1


def test_no_finding_advises_the_firewall_off(audit: Audit) -> None:
    outcome = audit(aim=Aim.LATENCY, usual={"firewall.drops": {"": read(9)}})
    assert not any("firewall.drops" in f"{f.text}{f.next_step}" for f in outcome.run.findings)


def test_roles_may_differ(audit: Audit) -> None:
    odd = {"n1": {"nic.mtu": {"eth0": read(9000)}}}
    assert audit(odd=odd, roles={"n1": "head"}).exit_code == 0
    assert audit(odd=odd, inventory_roles={"n1": "head"}).exit_code == 0
    assert audit(odd=odd).exit_code == 1


def test_drift_against_a_saved_baseline(audit: Audit, tmp_path: Path) -> None:
    saved = tmp_path / "monday.json"
    assert audit(save=saved).exit_code == 0
    assert audit(baseline=read_baseline(saved)).exit_code == 0
    outcome = audit(
        "n[2-5]", {n: {"tcp.autocorking": {"": read(False, False)}} for n in ("n2", "n3", "n4", "n5")},
        baseline=read_baseline(saved),
    )  # fmt: skip
    assert outcome.exit_code == 1
    changed, gone, new = kinds(outcome)["drift"]
    assert "on → off on n[2-4]" in changed.text
    assert (gone.text, new.text) == ("n1 are in the baseline, and were not asked.", "n5 are not in the baseline.")
    assert new.severity == "info"


def test_a_run_is_a_baseline_too(audit: Audit) -> None:
    before = audit().run.path
    assert audit(baseline=read_baseline(before)).exit_code == 0


@pytest.mark.parametrize("content", ["", "[]", '{"readings": 1}', '{"readings": {"n1": {"a": {"": {}}}}}', '{"a": 1}'])
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(UsageError, match="baseline"):
        read_baseline(tmp_path / "x.json")
    with pytest.raises(UsageError, match="can't read"):
        read_baseline(tmp_path / "y.json")


def test_nodes_that_can_not_be_asked_make_it_incomplete_and_the_others_are_audited(audit: Audit) -> None:
    cluster = {"unreachable": {"n1": "no route"}, "faults": [Fault("n2", "settings")]}
    outcome = audit(cluster=cluster)
    assert outcome.exit_code == 3
    assert {finding.subject for finding in kinds(outcome)["failed"]} == {"n1", "n2"}
    assert set(outcome.run.settings["readings"]) == {"n3", "n4"}


def test_a_node_that_hangs_holds_nobody_up(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "PATIENCE", 0.05)
    outcome = audit(cluster={"faults": [Fault("n2", "settings", kind="silence")]})
    assert outcome.exit_code == 3
    assert "no settings within 0.05 s" in kinds(outcome)["failed"][0].text


def test_the_cards_with_an_address_in_the_cluster_s_network() -> None:
    facts = {"nic.interfaces": {"value": "eth0 eth1 bond0"}, "nic.eth1.bus": {"value": "pci"}}
    assert cluster_interfaces(facts, ["eth1"]) == ["eth1"]
    assert cluster_interfaces(facts, ["bond0"]) == ["eth0", "eth1", "bond0"]
    assert cluster_interfaces(facts, []) == ["eth0", "eth1", "bond0"]
    assert cluster_interfaces({"nic.interfaces": {"value": "none"}}, []) == []
    assert is_cluster("10.0.0.1", Node("n1"), "10.0.0.0/24")
    assert not is_cluster("10.0.1.1", Node("n1"), "10.0.0.0/24")
    assert not is_cluster("10.0.0.2", Node("n1", address="10.0.0.1"), "10.0.0.0/24")
    assert not is_cluster("10.0.0.2", Node("n1"), None)


def test_roles_by_hardware_where_nobody_names_any() -> None:
    two = Inventory.from_nodeset("n[1-2]")
    alike = {"n1": {"cpu.model": {"value": "A"}}, "n2": {"cpu.model": {"value": "A"}}}
    assert roles_of(two, {}, alike) == {"n1": "", "n2": ""}
    mixed = {**alike, "n2": {"cpu.model": {"value": "B"}}}
    found = roles_of(two, {}, mixed)
    assert found["n1"] != found["n2"]
    assert roles_of(two, {"n1": "head"}, mixed) == {"n1": "head", "n2": "other"}


def test_settings_json_is_what_was_read(audit: Audit) -> None:
    run = audit(aim=Aim.LATENCY).run
    content = json.loads((run.path / "settings.json").read_text())
    assert (content["aim"], content["counted"]) == ("latency", True)
    assert content["readings"]["n1"]["nic.mtu"] == {"eth0": {"value": 1500, "startup": 1500}}
    assert content["interfaces"]["n1"] == ["eth0"]


def test_a_card_on_fewer_lanes_than_it_can_have_is_found_and_counted(audit: Audit) -> None:
    lanes = {"pcie_width": 4, "pcie_width_max": 8, "pcie_speed": 8e9, "pcie_speed_max": 8e9}
    card = {f"nic.eth0.{name}": fact(value) for name, value in lanes.items()}

    def facts(name: str) -> Any:
        return {**facts_of(name), **QUIET, **(card if name == "n3" else {})}

    outcome = audit(cluster={"facts": facts})
    (found,) = kinds(outcome)["hardware"]
    assert (found.subject, outcome.exit_code) == ("n3", FOUND)
    assert "1 device below its best" in headline(outcome.run)
