"""From verdicts of cells to findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.findings.test_run import record
from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.findings.net.bottlenecks import asymmetric, bottleneck_findings


def held(rule: str, subject: str = "n1", severity: str = "info") -> dict[str, Any]:
    evidence = [{"subject": subject, "metric": "CPU 1 used", "unit": "1", "value": 0.99, "threshold": 0.95}]
    return {
        "rule": rule, "subject": subject, "text": f"{subject} is busy.", "next_step": "spread",
        "severity": severity, "evidence": evidence,
    }  # fmt: skip


def test_one_finding_a_rule_with_the_number_of_its_cases(wording: Wording) -> None:
    records = [record(f"n1>n{i}", 1e9, bottleneck=[held("cpu-bound", f"n{i}")]) for i in range(2, 6)]
    (found,) = bottleneck_findings(records)
    assert (found.kind, found.severity, found.subject) == ("bottleneck", Severity.INFO, "")
    assert found.text.startswith("cpu-bound: n1 → n2 (tcp stream): n2 is busy.")
    assert " 3 more of 4 figures" in found.text
    wording(found.text)
    assert found.next_step == "spread"
    assert found.evidence[0].threshold == 0.95
    (alone,) = bottleneck_findings(records[:1])
    assert (alone.subject, "The same holds" in alone.text) == ("n2", False)


def test_the_strongest_and_whatever_is_worth_a_look() -> None:
    both = record("n1>n2", 1e9, bottleneck=[held("link-bound"), held("cpu-bound"), held("drops", severity="warn")])
    assert [f.text.split(":")[0] for f in bottleneck_findings([both])] == ["drops", "link-bound"]


def test_no_finding_without_a_verdict_nor_for_a_sweeps_sizes() -> None:
    records = [
        record("n1>n2", 1e9),
        record("n1>n2", 1e9, bottleneck=[held("undetermined")]),
        record("n1>n2", 1e9, bottleneck=[held("cpu-bound")], phase="sweep"),
    ]
    assert bottleneck_findings(records) == []


@pytest.mark.parametrize("back, fits", [(0.79e9, False), (0.76e9, True)])
def test_asymmetric_when_the_whole_intervals_are_apart_by_a_quarter(back: float, fits: bool, wording: Wording) -> None:
    records = [record("n1>n2", 1e9), record("n2>n1", back)]
    found = asymmetric(records)
    assert bool(found) is fits
    if fits:
        assert (found[0].subject, found[0].severity) == ("n2>n1", Severity.WARN)
        assert found[0].text.startswith("asymmetric: n1 → n2 ")
        assert lacking(found[0].text, " 7.84–8.16 Gbit/s", "way back only 5.96–6.2 Gbit/s") == []
        wording(found[0].text)


def test_one_way_alone_and_loopback_have_no_way_back() -> None:
    assert asymmetric([record("n1>n2", 1e9), record("n1>n1", 1e6)]) == []
    assert asymmetric([record("n1>n2", 1e9), record("n2>n1", None, verdict="failed", reason="gone")]) == []


def test_a_recorded_pair_whose_one_way_was_shaped() -> None:
    both = json.loads(Path(__file__).with_name("recorded_both_ways.json").read_text())["records"]
    (found,) = asymmetric([record(**one) for one in both])
    assert found.subject == "n2>n1"
    assert found.evidence[0].value == pytest.approx(both[0]["low"] / both[1]["high"])
