"""`wulf audit`: every setting of every node, against the catalogue, its like, its start-up value and a baseline."""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wulf import __version__
from wulf.cluster.inventory import Inventory, Node, parse_network
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import agent_program
from wulf.core.errors import FOUND, INCOMPLETE, OK, NodeError, UsageError
from wulf.core.files import replace_file
from wulf.core.findings import Finding, Severity
from wulf.core.given import Unreadable, json_of
from wulf.findings.audit import audit_findings, drift_findings
from wulf.findings.facts.hardware import hardware_findings
from wulf.findings.node.deviating import classes_of
from wulf.findings.run import find
from wulf.report.tune.audit import AUDIT
from wulf.store.reading import StoreError
from wulf.store.run import Facts, RunWriter, read_run, utc_now
from wulf.tune.audit.audited import Audited, audited
from wulf.tune.audit.drift import changes, unlike
from wulf.tune.catalogue import catalogue
from wulf.tune.readings import Readings, wanted
from wulf.tune.setting import Aim, Setting
from wulf.workflow.engine.measuring import RunOutcome, reported

PATIENCE = 60.0
"""Seconds for all nodes together to read facts or settings; one that hangs must not hold the others up for ever."""


@dataclass
class Looked:
    """What the nodes answered.

    Attributes
    ----------
    interfaces
        Node → those that carry the cluster's traffic.
    addresses
        Node → its own in the cluster's network, where that is known.
    failed
        Node → why it could not be asked.
    """

    fingerprint: dict[str, Facts] = field(default_factory=dict)
    readings: dict[str, Any] = field(default_factory=dict)
    interfaces: dict[str, list[str]] = field(default_factory=dict)
    addresses: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, NodeError] = field(default_factory=dict)


def look(inventory: Inventory, settings: Sequence[Setting], say: Callable[[str], None] = lambda _: None) -> Looked:
    """Ask all nodes at the same time for their facts and these settings; nothing on them is changed."""
    looked = Looked()
    with make_launcher(inventory) as launcher:
        say("starting the agents")
        opened = launcher.open(inventory.nodes, agent_program())
        looked.failed = dict(opened.failed)
        say("reading facts and settings")
        asked = {
            what: {node: session.call(op, **fields) for node, session in opened.sessions.items()}
            for what, op, fields in (
                ("facts", "facts", {}),
                ("settings", "settings", {"read": wanted(settings, networks_of(inventory))}),
                ("addresses", "addresses", {}),
            )
        }
        looked.fingerprint = _answers(asked["facts"], "facts", looked.failed)
        looked.readings = _answers(asked["settings"], "settings", looked.failed)
        addresses = _answers(asked["addresses"], "addresses", {})  # without one, all interfaces count
    for node in inventory.nodes:
        facts = looked.fingerprint.get(node.name, {})
        own = [one for one in addresses.get(node.name, ()) if is_cluster(one["address"], node, inventory.network)]
        looked.addresses[node.name] = [one["address"] for one in own]
        looked.interfaces[node.name] = cluster_interfaces(facts, [one["interface"] for one in own])
    return looked


def networks_of(inventory: Inventory) -> list[str]:
    """The cluster's network, as agents take it; none where the inventory names none."""
    return [] if inventory.network is None else [str(parse_network(inventory.network))]


def _answers(asked: Mapping[str, Future[dict[str, Any]]], key: str, failed: dict[str, NodeError]) -> dict[str, Any]:
    """What came back, by node; who did not answer is added to the failed."""
    found = {}
    deadline = time.monotonic() + PATIENCE
    for node, future in asked.items():
        try:
            found[node] = future.result(timeout=max(0.0, deadline - time.monotonic()))[key]
        except FutureTimeout:
            failed[node] = NodeError(node, f"no {key} within {PATIENCE:g} s", "is a file system hanging there?")
        except NodeError as error:
            failed[node] = error
    return found


def is_cluster(address: str, node: Node, network: str | None) -> bool:
    """Whether an address of the node is the one in the inventory, or else within the inventory's network."""
    if node.address is not None:
        return address == node.address
    return network is not None and ipaddress.ip_address(address) in parse_network(network)


def cluster_interfaces(facts: Facts, own: Sequence[str]) -> list[str]:
    """The interfaces that carry the cluster's traffic.

    Those with an address in the cluster's network (`own`), if they are cards; otherwise all that carry traffic at all:
    a bond, a bridge or a VLAN has the settings that matter on the cards below it.
    """
    listed = str(facts.get("nic.interfaces", {}).get("value") or "none").split()
    cards = [name for name in dict.fromkeys(own) if facts.get(f"nic.{name}.bus", {}).get("value") is not None]
    return cards or [name for name in listed if name != "none"]


def roles_of(inventory: Inventory, given: Mapping[str, str], fingerprint: Mapping[str, Facts]) -> dict[str, str]:
    """Node → role: as given, else as the inventory has it, else by its hardware; '' where all are of one kind.

    Where roles are given, a node without one is of the role 'other'.
    """
    named = given or inventory.roles
    if named:
        return {node: named.get(node, "other") for node in inventory.names}
    kinds = classes_of(inventory.names, fingerprint)
    if len(set(kinds)) == 1:
        return dict.fromkeys(inventory.names, "")
    return dict(zip(inventory.names, kinds, strict=True))


def audit(
    inventory: Inventory,
    writer: RunWriter,
    *,
    aim: Aim | None = None,
    roles: Mapping[str, str] | None = None,
    baseline: Readings | None = None,
    save: Path | None = None,
    settings: Mapping[str, Setting] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> RunOutcome:
    """Audit the nodes, and leave a complete run on disk, report included.

    Parameters
    ----------
    aim
        What the nodes are for; None: latency's advice is shown, and not following it is no fault.
    roles
        Node → role; None: see `roles_of`.
    baseline
        What settings were: see `read_baseline`.
    save
        A file to write what they are into.
    settings
        By name; None: the catalogue.
    """
    known = catalogue() if settings is None else settings
    looked = look(inventory, list(known.values()), say)
    writer.write_json("fingerprint.json", looked.fingerprint)
    said: dict[str, Any] = {
        "aim": str(aim or Aim.LATENCY), "counted": aim is not None, "date": utc_now()[:10],
        "interfaces": looked.interfaces, "addresses": looked.addresses,
        "roles": roles_of(inventory, roles or {}, looked.fingerprint), "readings": looked.readings,
    }  # fmt: skip
    writer.write_json("settings.json", said, compact=True)
    if save is not None:
        write_baseline(save, looked.readings)
    found = audited(said, looked.fingerprint, known)
    findings = [
        *find([], {}, looked.failed), *audit_findings(found), *hardware_findings(looked.fingerprint),
        *_drift(found, baseline, known),
    ]  # fmt: skip
    writer.write_findings(findings)
    code = exit_code_of(findings)
    writer.finish("complete", exit_code=code)
    outcome = RunOutcome(read_run(writer.path), code)
    outcome.run.derived[AUDIT] = found
    return reported(writer, outcome)


def _drift(found: Audited, before: Readings | None, settings: Mapping[str, Setting]) -> list[Finding]:
    if before is None:
        return []
    gone, new = unlike(before, found.readings)
    return drift_findings(changes(settings.values(), before, found.readings), gone, new)


def exit_code_of(findings: Sequence[Finding]) -> int:
    """3 where a node could not be asked, 1 where anything deviates, else 0: what is only noted is no fault."""
    if any(finding.kind == "failed" for finding in findings):
        return INCOMPLETE
    return OK if all(finding.severity is Severity.INFO for finding in findings) else FOUND


def write_baseline(path: Path, readings: Readings) -> None:
    """Save what settings are, to compare with later.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    content = {"wulf": __version__, "saved": utc_now(), "readings": readings}
    try:
        replace_file(path, json.dumps(content, separators=(",", ":")) + "\n")
    except OSError as error:
        raise StoreError(f"can't write the baseline {path}: {error.strerror}", "name another file") from error


def read_baseline(path: Path) -> Readings:
    """What settings were: a file of `--save`, or an audit's run.

    Raises
    ------
    UsageError
        It is none.
    """
    file = path / "settings.json" if path.is_dir() else path
    how = "`wulf audit … --save FILE` makes one; an audit's run is one, too"
    try:
        content = json_of(file)
        readings = content["readings"]
        complete = all("value" in reading for own in readings.values() for places in own.values()
                       for reading in places.values())  # fmt: skip
    except Unreadable as error:
        raise UsageError(f"can't read the baseline {file}: {error}", how) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{file} is no baseline of settings: {error}", how) from error
    if not complete:
        raise UsageError(f"{file} is no baseline of settings: a reading has no value", how)
    return dict(readings)


def values_of(inventory: Inventory, setting: Setting, say: Callable[[str], None] = lambda _: None) -> Audited:
    """One setting on the nodes, for a person who asks about it."""
    looked = look(inventory, [setting], say)
    for error in looked.failed.values():
        raise error
    roles = roles_of(inventory, {}, looked.fingerprint)
    said = {"aim": str(Aim.LATENCY), "roles": roles, "interfaces": {}, "addresses": {}, "readings": looked.readings}
    return audited(said, looked.fingerprint, {setting.name: setting})
