"""Runs of commands beside the survey as folders, whole: their files are broken one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.kept import write_kept
from tests.unit.cli.tune.test_export import KEPT
from tests.unit.report.impact.test_effects import outcome as impact
from tests.unit.report.make_audit import AUDIT_SHAPES
from tests.unit.report.make_hpcc import hpcc_run
from tests.unit.report.make_layers import layered
from tests.unit.report.make_node import NODE_SHAPES
from tests.unit.report.net.test_curve import curve
from tests.unit.report.search.test_found import searched
from tests.unit.report.tune.test_campaign import outcome as campaign
from wulf.store.run import Run, RunWriter
from wulf.tune.kept import KeptSettings

IN_MEMORY: Mapping[str, Callable[[], Run]] = {
    "node": NODE_SHAPES["node"], "audit": AUDIT_SHAPES["audit"], "layers": layered, "hpcc": hpcc_run,
    "curve": curve,
}  # fmt: skip
"""Command → a run of it."""

OUTCOMES: Mapping[str, tuple[str, Callable[[], Any]]] = {
    "tune": ("campaign.json", campaign), "impact": ("impact.json", impact), "search": ("search.json", searched),
}  # fmt: skip
"""Command → the file that its outcome is in, and an outcome."""

READERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "node": (("report", "node"), ("model", "roofline", "--from", "node"), ("rates", "publish", "--from", "node")),
    "audit": (("report", "audit"), ("audit", "--baseline", "runs/audit", "n[1-4]")),
    "layers": (("report", "layers"),),
    "hpcc": (("report", "hpcc"),),
    "curve": (("report", "curve"),),
    "tune": (("report", "tune"), ("tune", "export", "tune", "--format", "shell"), ("tune", "verify", "tune")),
    "impact": (("report", "impact"), ("impacts", "impact")),
    "search": (("report", "search"),),
}  # fmt: skip
"""Command → who reads its run."""


def write_runs(runs: Path) -> None:
    """A run of each command."""
    for name, make in IN_MEMORY.items():
        write_run(runs / name, make())
    for command, (file, outcome) in OUTCOMES.items():
        with RunWriter(runs / command, command, {"seed": 1, "nodes": ["n1", "n2"]}) as writer:
            writer.write_json(file, outcome())
            writer.write_findings([])
            writer.finish("complete", exit_code=0)
    write_kept(runs / "tune", KeptSettings(campaign="c1", kept=KEPT))


def write_run(path: Path, run: Run) -> None:
    """A run as a folder."""
    told = {key: value for key, value in run.meta.items() if key not in ("id", "command", "state", "ended")}
    with RunWriter(path, str(run.meta["command"]), told) as writer:
        for record in run.records:
            writer.append(record)
        for name, content in (("plan", run.plan), ("fingerprint", run.fingerprint), ("settings", run.settings)):
            if content:
                writer.write_json(f"{name}.json", content)
        writer.write_findings(list(run.findings))
        writer.finish("complete", exit_code=0)
