"""Planted faults by the self-test's fast way: the product's runner and findings, without sessions."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.core.findings import Evidence, Finding, Severity
from wulf.selftest.blame import accused, found, surveyed
from wulf.selftest.simulated.planted import NOISES, Planted, accusations, figures, healthy, mistakes, planted
from wulf.stats.claims import Size

STREAM = NOISES[0.02][0]
NAMED = {fault.name: fault for fault in planted()}


def finding(kind: str, subject: str, way: str = "send", metric: str = "throughput") -> Finding:
    evidence = Evidence.model_validate({"subject": subject, "metric": metric, "way": way})
    return Finding(kind=kind, severity=Severity.BAD, subject=subject, text="told", evidence=[evidence])


def test_a_question_is_answered_and_a_healthy_cluster_accuses_nobody() -> None:
    fault = NAMED["a slow sender and a slow receiver of four"]
    assert mistakes(fault, surveyed(fault, np.random.default_rng(1), STREAM, 0.02)) == []
    assert accusations(surveyed(healthy(4), np.random.default_rng(1), STREAM, 0.02)) == []


def test_rows_of_the_self_test() -> None:
    (right,) = found(np.random.default_rng(1), size=Size(12, 12), stream=STREAM, cv=0.02)
    (false,) = accused(np.random.default_rng(1), size=Size(12, 24), stream=STREAM, cv=0.02)
    assert (right.n, right.share, false.n, false.share) == (1, 1.0, 2, 0.0)


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([finding("node", "n3")], []),
        ([], ["found 0 times"]),
        ([finding("node", "n3", way="both")], ["found 0 times", "falsely: node n3"]),
        ([finding("node", "n3"), finding("node", "n3")], ["found 2 times"]),
        ([finding("node", "n3"), finding("link", "n1>n3")], ["falsely: link n1>n3"]),
    ],
)
def test_what_counts_as_a_mistake(findings: list[Finding], words: list[str]) -> None:
    told = mistakes(NAMED["a slow sender of four"], findings)
    assert [mistake for mistake, word in zip(told, words, strict=True) if word not in mistake] == []


def test_a_missing_cause_is_a_mistake() -> None:
    fault = NAMED["a small receive buffer"]
    (told,) = mistakes(fault, [finding("node", "n3", "receive")])
    assert told.startswith("without its cause: sysctl.net.ipv4.tcp_rmem")


def test_a_link_is_as_slow_as_its_slowest_part() -> None:
    fault = Planted(
        "", 4, ({"node": "n1", "send": 0.5}, {"link": "n1>n2", "share": 0.1}, {"node": "n3", "delay": 1e-3})
    )
    figure = figures(fault, np.random.default_rng(1), STREAM, 0.0)
    assert figure("n1", "n2", "stream") == pytest.approx(1.17e8, rel=0.05)
    assert figure("n1", "n3", "stream") == pytest.approx(5.85e8, rel=0.05)
    assert figure("n2", "n1", "stream") == pytest.approx(1.17e9, rel=0.05)
    assert figure("n2", "n3", "pingpong") == pytest.approx(1.05e-3, rel=0.05)
