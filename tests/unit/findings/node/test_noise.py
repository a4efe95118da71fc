"""Who loses more to somebody than its like; who takes much anywhere; what tracing could not tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.unit.measure.node.test_culprits import cell, replicate, row
from tests.wording import Wording
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.findings.node.noise import deviating, noise_findings
from wulf.measure.node.culprits import culprit_records

KWORKER = 0.021
"""Share of n3's CPU 1 that a kernel thread takes."""


def cluster(nodes: int, *, sick: float = KWORKER, seed: int = 1, **info: Any) -> list[Record]:
    """Nodes with a tick and a little kworker, of which n3's CPU 1 has another."""
    random = np.random.default_rng(seed)
    cells, replicates = [], []
    for number in range(nodes):
        for cpu in (0, 1):
            cells.append(cell(len(cells), f"n{number + 1}", cpu))
            for _ in range(10):
                share = sick if (number, cpu) == (2, 1) else 0.001
                rows = [
                    row("timer", "tick_nohz_handler", 0.5 * 0.0015 * random.uniform(0.9, 1.1)),
                    row(
                        "kernel_thread", f"kworker/{cpu}:{number}", 0.5 * share * random.uniform(0.8, 1.2), 30 + number
                    ),
                ]
                replicates.append(replicate(rows, cell=cells[-1].id, **info))
    return culprit_records(cells, replicates, "run", "2026-01-01T00:00:00Z")


def facts(nodes: int, **models: str) -> dict[str, dict[str, dict[str, Any]]]:
    return {
        f"n{number + 1}": {"cpu.model": {"value": models.get(f"n{number + 1}", "A"), "provenance": "reported"}}
        for number in range(nodes)
    }


def kinds(found: list[Finding]) -> list[str]:
    return [one.kind for one in found]


def test_the_node_that_loses_to_a_kernel_thread_is_named_with_figures(wording: Wording) -> None:
    found = list(deviating(cluster(6), facts(6)))
    assert [one.subject for one in found] == ["n3"]
    (finding,) = found
    assert finding.severity is Severity.BAD
    (evidence,) = finding.evidence
    assert isinstance(evidence.value, float)
    assert evidence.low is not None
    assert evidence.high is not None
    assert evidence.low < KWORKER < evidence.high
    assert isinstance(evidence.expected, float)
    assert 0.0009 < evidence.expected < 0.0012
    assert "n3's CPU 1" in finding.text
    assert "kworker/1:2" in finding.text
    wording(f"{finding.text} → {finding.next_step}")


def test_nobody_is_accused_where_all_are_alike_or_too_few() -> None:
    assert not any(list(deviating(cluster(6, sick=0.001, seed=seed), facts(6))) for seed in range(20))
    assert list(deviating(cluster(3), facts(3))) == []
    assert list(deviating(cluster(6), facts(6, n3="B"))) == []  # none like it
    assert "can't be judged" in noise_findings(cluster(3), facts(3))[-1].text


def test_a_culprit_that_the_others_have_none_of() -> None:
    records = [one for one in cluster(5) if one.subject == "n3" or one.params["class"] != "kernel_thread"]
    (finding,) = deviating(records, facts(5))
    assert finding.subject == "n3"
    assert "lose nothing" in finding.text


def test_who_takes_much_is_told_of_one_node_too() -> None:
    records = [one for one in cluster(3) if one.subject == "n3"]
    (finding,) = noise_findings(records, facts(3))
    assert finding.kind == "noise source"
    assert finding.severity is Severity.WARN
    assert finding.about == {"class": "kernel_thread", "culprit": "kworker/1:2"}
    # and not twice
    assert kinds(noise_findings(cluster(6), facts(6))) == ["deviation"]


def test_steal_lost_records_and_a_full_loop_are_said() -> None:
    tracing = {"records": 900, "lost_records": 100}
    records = [
        one
        for one in cluster(1, steal={"unit": "s", "value": 0.05}, tracing=tracing, stopped_early=True)
        if one.params["cpu"] == 0
    ]
    found = noise_findings(records, facts(1))
    assert kinds(found) == ["note", "note", "noise"]
    assert "1,000 records of 10,000" in found[0].text
    assert "5.00%" in found[2].text
