"""Cases of the verdict as they were measured in a lab: what the rules read of a run, and what they must say of it.

    WULF_KEEP_RUNS=DIR pytest tests/lab/net/test_verdict.py
    python -m tests.unit.measure.recorded_cases DIR

Then write what the rules say with `WULF_UPDATE=1 pytest tests/unit/measure/net/test_rules.py`, and read the difference.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Metric
from wulf.measure.net.situation import Situation, situation_of
from wulf.store.run import read_run
from wulf.workflow.engine.baseline import joined

FOLDER = Path(__file__).with_name("recorded")
_COUNTERS = ("cpu", "softnet", "snmp", "netstat", "nic")
_PROTOCOLS = ("Tcp", "Udp", "TcpExt")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content


def save(name: str, content: dict[str, Any]) -> None:
    """A replicate, a node and a verdict a line."""
    parts = []
    for key, value in content.items():
        items = value if isinstance(value, list) else None
        text = "[\n  " + ",\n  ".join(json.dumps(one) for one in items) + "\n ]" if items else json.dumps(value)
        parts.append(f" {json.dumps(key)}: {text}")
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


def situation(case: dict[str, Any]) -> Situation:
    cell = Cell(**{**case["cell"], "metrics": tuple(Metric(**metric) for metric in case["cell"]["metrics"])})
    return situation_of(cell, case["replicates"], case["facts"], case["idle"])


def _trimmed(counters: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {key: counters[key] for key in _COUNTERS if key in counters}
    for file in {"snmp", "netstat"} & set(kept):
        kept[file] = {key: value for key, value in kept[file].items() if key in _PROTOCOLS}
    return kept


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    """What the rules read; a lab's nodes share one boot, whose identifier is masked."""
    wanted = ("speed", "duplex", "mtu", "qdisc", "driver", "rx_delay", "gro_flush_timeout", "napi_defer_hard_irqs",
              "interfaces")  # fmt: skip
    kept = {
        name: {key: value for key, value in fact.items() if key in ("value", "unit")}
        for name, fact in facts.items()
        if name.startswith("nic.") and name.rsplit(".", 1)[-1] in wanted and fact.get("value") is not None
    }
    return {"kernel.boot_id": {"value": "one machine"}, **kept}


def record(path: Path) -> None:
    """Keep what the rules read of one run of one cell."""
    run = read_run(path)
    cells = Plan.from_json(run.plan).cells
    if len(cells) != 1:
        return
    replicates = []
    for one in run.replicates[:8]:
        kept = {key: value for key, value in one.items() if key not in ("at", "info")}
        if one["ok"]:
            kept["counters"] = {end: _trimmed(counters) for end, counters in one["counters"].items()}
        replicates.append(kept)
    idle = {
        node: {**one, "counters": _trimmed(one["counters"])} for node, one in joined(*run.baseline.values()).items()
    }
    content = {
        "source": f"recorded in a lab of two nodes: wulf {' '.join(run.meta['argv'][:8])}",
        "cell": {**asdict(cells[0]), "params": dict(cells[0].params)},
        "facts": {node: _facts(facts) for node, facts in run.fingerprint.items()},
        "idle": idle,
        "replicates": replicates,
        "expected": [],
    }
    save(path.name.removeprefix("test_"), content)


if __name__ == "__main__":
    for folder in sorted(Path(sys.argv[1]).glob("test_*")):
        record(folder)
