"""Runs of audits for tests of reports: settings.json and fingerprint.json as an audit leaves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.tune.make_audit import ABSENT, CATALOGUE, REFUSED, facts_of, read, settings_of
from wulf.core.errors import FOUND, OK
from wulf.findings.audit import audit_findings
from wulf.report.tune.audit import audit_of
from wulf.store.run import Run
from wulf.tune.audit.audited import audited


def audit_run(nodes: int = 4, odd: dict[str, Any] | None = None, roles: dict[str, str] | None = None) -> Run:
    """An audit of so many nodes, some with other settings."""
    names = [f"n{i}" for i in range(1, nodes + 1)]
    said = {
        "aim": "latency", "counted": True, "interfaces": {name: ["eth0"] for name in names},
        "addresses": {}, "roles": roles or dict.fromkeys(names, ""),
        "readings": {name: {**settings_of(name), **(odd or {}).get(name, {})} for name in names},
    }  # fmt: skip
    facts = {name: facts_of(name) for name in names}
    findings = audit_findings(audited(said, facts, CATALOGUE))
    meta = {
        "id": "20261121T000000-audit-0000", "command": "audit", "version": "0.1.0", "state": "complete",
        "started": "2026-11-21T00:00:00Z", "ended": "2026-11-21T00:00:02Z", "nodes": names,
        "argv": ["audit", f"n[1-{nodes}]"], "exit_code": FOUND if findings else OK,
    }  # fmt: skip
    return Run(Path("/nowhere"), meta, fingerprint=facts, findings=findings, settings=said)


def odd_nodes() -> Run:
    """One node of each kind of trouble, and a name and a value that want to be markup."""
    odd = {
        "n2": {"nic.mtu": {"eth0": read(1400, 1500)}},
        "n3": {"tcp.autocorking": {"": read(True, False)}, "firewall.drops": {"": read(12)}},
        "n4": {"irq.balance": {"": ABSENT}, "cpu.mitigations": {"": REFUSED}},
    }
    return audit_run(4, odd)


def markup() -> Run:
    hostile = "<img src=x onerror=alert(1)>"
    return audit_run(2, {"n1": {"cpu.mitigations": {"": read(hostile)}}}, {"n1": hostile, "n2": "plain"})


AUDIT_SHAPES: dict[str, Callable[[], Run]] = {
    "audit": odd_nodes,
    "audit-alone": lambda: audit_run(1),
    "audit-many": lambda: audit_run(200, {"n7": {"nic.mtu": {"eth0": read(1400)}}}),
    "audit-markup": markup,
}

__all__ = ["AUDIT_SHAPES", "audit_of", "audit_run", "odd_nodes"]
