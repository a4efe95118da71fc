"""All pairs, and samples of them, over a simulated cluster."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit.workflow.simulating import simulator
from tests.wording import Wording, lacking
from wulf.core.errors import UsageError
from wulf.report.run.terminal import print_report
from wulf.workflow.net.pairs import Pairs, rounds_wanted


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    return simulator(monkeypatch, tmp_path, Pairs)


def slow_link(a: str, b: str) -> Any:
    def value(client: str, server: str, params: Mapping[str, Any]) -> float:
        worse = 10.0 if {client, server} == {a, b} else 1.0
        return 5e-5 * worse if params["pattern"] == "pingpong" else 1e9 / worse

    return value


def test_all_pairs_of_a_small_cluster(simulate: Any) -> None:
    outcome = simulate("n[1-4]", clocks={"n2": 1e6, "n3": -50.0}, page=True)
    assert outcome.exit_code == 0
    assert len({r.subject for r in outcome.run.records if r.metric == "rtt"}) == 6
    assert len({r.subject for r in outcome.run.records if r.metric == "throughput"}) == 12
    rates = [r for r in outcome.run.records if r.metric == "throughput"]
    assert all(rate.together == 2 for rate in rates)
    assert all(0 < rate.start_bound < 1 for rate in rates)
    covered = next(f for f in outcome.run.findings if f.kind == "coverage")
    assert covered.text.startswith("All 6 pairs of 4 nodes, in 3 rounds")
    assert [e.value for e in covered.evidence] == [0.0, 0.0]
    assert (outcome.run.path / "report.html").exists()


def test_a_sample_says_what_it_may_miss(simulate: Any, wording: Wording) -> None:
    outcome = simulate("n[1-20]", {"rounds": 3})
    covered = next(f for f in outcome.run.findings if f.kind == "coverage")
    assert lacking(covered.text, "30 of 190 pairs", "3 of 19 rounds", "each node in 3") == []
    wording(covered.text)
    assert [e.value for e in covered.evidence] == [pytest.approx(160 / 190), 0.0]
    text = io.StringIO()
    print_report(outcome.run, Console(file=text, width=80), whole=True)
    assert "chance of 84.21%" in " ".join(text.getvalue().split())
    assert max(map(len, text.getvalue().splitlines())) <= 80


def test_a_slow_link_is_named_and_with_one_partner_each_nobody_can_say_whose_fault_it_is(simulate: Any) -> None:
    outcome = simulate("n[1-4]", value=slow_link("n2", "n3"))
    assert outcome.exit_code == 1
    named = {f.subject for f in outcome.run.findings if f.kind in ("node", "link")}
    assert named == {"n2>n3"}


def test_with_one_round_a_slow_pair_is_told_but_not_whose_fault_it_is(simulate: Any) -> None:
    def value(client: str, server: str, params: Mapping[str, Any]) -> float:
        worse = 10.0 if "n3" in (client, server) else 1.0
        return 5e-5 * worse if params["pattern"] == "pingpong" else 1e9 / worse

    outcome = simulate("n[1-12]", {"rounds": 1}, value=value)
    slow = [f for f in outcome.run.findings if f.kind in ("node", "link")]
    assert {f.kind for f in slow} == {"link"}
    assert all("Cannot tell node from link" in f.text for f in slow)


def test_how_many_rounds() -> None:
    assert rounds_wanted(64, None, False) == 63
    assert rounds_wanted(65, None, False) == 4
    assert rounds_wanted(10_000, None, True) == 9_999
    assert rounds_wanted(5, 99, False) == 5
    with pytest.raises(UsageError):
        rounds_wanted(5, 2, True)


def test_one_node_has_no_pairs(simulate: Any) -> None:
    with pytest.raises(UsageError, match="at least 2 nodes"):
        simulate("n1")
