"""Incast over a simulated cluster."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.unit.workflow.simulating import simulator
from wulf.core.errors import UsageError
from wulf.report.run.terminal import print_report
from wulf.workflow.net.incast import MOST_SENDERS, Incast, targets_of


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    return simulator(monkeypatch, tmp_path, Incast)


def value(client: str, server: str, params: Mapping[str, Any]) -> float:
    """n3 receives slowly; n1 sends twice as much as the others; all others receive 400 MB/s together."""
    if server == "n1":
        return 4e8 / 3
    return (2e8 if client == "n1" else 1e8) / (10 if server == "n3" else 1)


def test_each_node_in_turn(simulate: Any) -> None:
    outcome = simulate("n[1-4]", value=value)
    whole = {(r.subject, r.metric): r for r in outcome.run.records if r.phase == "whole"}
    assert {subject for subject, _ in whole} == {"n1", "n2", "n3", "n4"}
    assert whole["n1", "incast"].value == pytest.approx(4e8)
    assert whole["n2", "incast"].value == pytest.approx(4e8)
    assert whole["n2", "fairness"].value == pytest.approx(16 / (3 * 6))
    assert whole["n1", "incast_ratio"].value == pytest.approx(3.0)
    assert whole["n1", "fairness"].value == pytest.approx(1.0)
    assert whole["n1", "incast"].params["senders"] == 3
    assert [f.subject for f in outcome.run.findings if f.kind == "node"] == ["n3"]
    assert outcome.exit_code == 1
    assert {f.subject for f in outcome.run.findings if "unevenly" in f.text} == {"n2", "n3", "n4"}
    cells = [r for r in outcome.run.records if r.metric == "throughput" and r.params["wave"] in (0, 4, 8, 12)]
    assert {r.together for r in cells} == {3}


def test_where_together_they_reach_less_than_one_it_has_collapsed(
    simulate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collapsed(client: str, server: str, params: Mapping[str, Any]) -> float:
        return 1e7 if params.get("start_at") else 1e8  # together with others, or alone

    outcome = simulate("n[1-4]", {"to": "n2"}, value=collapsed)
    (finding,) = [f for f in outcome.run.findings if f.kind == "incast" and f.severity == "bad"]
    assert finding.subject == "n2"
    assert "30%" in finding.text
    assert outcome.exit_code == 1


def test_the_table_fits_80_columns(simulate: Any) -> None:
    outcome = simulate("n[1-4]", {"to": "n[2-3]"}, value=value)
    text = io.StringIO()
    print_report(outcome.run, Console(file=text, width=80))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    head = next(i for i, line in enumerate(lines) if "one alone" in line)
    rows = [line.split() for line in lines[head:]]
    first, second = (next(i for i, row in enumerate(rows) if row[:1] == [n] and len(row) > 6) for n in ("n3", "n2"))
    assert first < second, "who reaches least stands first"


def test_senders_and_those_alone() -> None:
    nodes = [f"n{i}" for i in range(200)]
    targets = targets_of(nodes, ["n5", "n6"], 1000, np.random.default_rng(1))
    assert [len(target.senders) for target in targets] == [MOST_SENDERS, MOST_SENDERS]
    waves = [wave for target in targets for wave in (target.wave, *target.alone)]
    assert waves == list(range(8))
    assert all(target.receiver not in target.senders for target in targets)


def test_a_sender_that_dies_leaves_the_others(simulate: Any) -> None:
    from wulf.cluster.simulated.cluster import Fault

    outcome = simulate("n[1-5]", {"to": "n[1-2]"}, value=value, faults=[Fault("n4", "run", call=3, kind="die")])
    assert outcome.exit_code == 3
    assert next(f.subject for f in outcome.run.findings if f.kind == "failed") == "n4"


def test_what_is_not_there_is_refused(simulate: Any) -> None:
    with pytest.raises(UsageError, match="at least 3"):
        simulate("n[1-2]")


def test_a_receiver_that_is_not_there_is_refused(simulate: Any) -> None:
    with pytest.raises(UsageError, match="n9"):
        simulate("n[1-4]", {"to": "n9"})
