"""What was counted stands with whom it is about."""

from __future__ import annotations

import itertools
from typing import Any

from tests.unit.findings.test_run import record
from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.core.records import Record
from wulf.findings.run import find

NODES = ("n1", "n2", "n3", "n4")


def verdict(rule: str, subject: str, severity: str = "warn") -> dict[str, Any]:
    evidence = [{"subject": subject, "metric": "segments", "unit": "1", "value": 0.02, "threshold": 0.001}]
    return {
        "rule": rule, "subject": subject, "text": f"2.00% of segments: the queue at {subject} is full.",
        "next_step": "a longer queue", "severity": severity, "evidence": evidence,
    }  # fmt: skip


def survey(**verdicts: Any) -> list[Record]:
    """n3 sends at a third; its streams hold the verdicts."""
    return [
        record(f"{a}>{b}", 3e8, bottleneck=[verdict(**verdicts)]) if a == "n3" else record(f"{a}>{b}", 1e9)
        for a, b in itertools.permutations(NODES, 2)
    ]


def test_where_it_says_why_it_is_told_once_with_the_node(wording: Wording) -> None:
    (finding,) = find(survey(rule="drop-bound", subject="n3"), {}, {})
    assert (finding.kind, finding.subject, finding.next_step) == ("node", "n3", "a longer queue")
    assert lacking(finding.text, "n3 is slow to send", "What was counted: 2.00% of segments") == []
    assert finding.evidence[-1].metric == "segments"
    wording(finding.text)


def test_of_a_link_on_which_the_sender_sends_it_is_the_senders() -> None:
    (finding,) = find(survey(rule="drop-bound", subject="n3>n4"), {}, {})
    assert "What was counted of n3 → n1: 2.00% of segments" in finding.text


def test_the_window_of_a_healthy_receiver_is_full_for_the_senders_sake() -> None:
    (finding,) = find(survey(rule="window-bound", subject="n1"), {}, {})
    assert (finding.kind, finding.subject) == ("node", "n3")


def test_of_others_and_what_is_only_good_to_know_it_is_told_by_itself() -> None:
    others = [record(f"n4>{to}", 1e9, bottleneck=[verdict("drop-bound", "n2")]) for to in ("n1", "n2", "n3")]
    records = [*survey(rule="drop-bound", subject="n3")[:-3], *others]
    assert [(f.kind, f.subject) for f in find(records, {}, {})] == [("node", "n3"), ("bottleneck", "n2")]
    kinds = [(f.kind, f.severity) for f in find(survey(rule="cpu-bound", subject="n3", severity="info"), {}, {})]
    assert kinds == [("node", Severity.BAD), ("bottleneck", Severity.INFO)]


def test_of_a_link_either_way() -> None:
    records = [
        record(f"{a}>{b}", 3e8, bottleneck=[verdict("drop-bound", "n3>n1")]) if (a, b) == ("n3", "n1")
        else record(f"{a}>{b}", 2e8 if (a, b) == ("n1", "n3") else 1e9)
        for a, b in itertools.permutations(NODES, 2)
    ]  # fmt: skip
    finding, *seen = find(records, {}, {})
    assert {one.kind for one in seen} == {"note"}
    assert (finding.kind, finding.subject) == ("link", "n1>n3")
    assert "What was counted" in finding.text
