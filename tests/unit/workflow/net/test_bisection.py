"""Bisection over a simulated cluster of two racks with a thin uplink between them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.workflow.simulating import simulator
from wulf.core.errors import UsageError
from wulf.workflow.net.bisection import Bisection, random_halving, swapped


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    return simulator(monkeypatch, tmp_path, Bisection)


def racks(client: str, server: str, params: Mapping[str, Any]) -> float:
    """n1 to n4 in one rack, n5 to n8 in the other; between them a quarter of the rate, when others stream, too."""
    across = (int(client[1:]) <= 4) != (int(server[1:]) <= 4)
    return 1e9 / (4 if across and params.get("start_at") else 1)


def whole(outcome: Any) -> dict[str, Any]:
    return {r.metric: r for r in outcome.run.records if r.phase == "whole"}


@pytest.mark.parametrize(("both", "streams"), [(True, 8), (False, 4)])
def test_the_search_finds_the_halving_across_the_uplink(simulate: Any, both: bool, streams: int) -> None:
    outcome = simulate("n[1-8]", {"halvings": 2, "steps": 20, "both": both}, value=racks)
    figures = whole(outcome)
    assert figures["bisection_worst"].value == pytest.approx(streams * 0.25e9)
    assert figures["bisection_worst"].params["kind"] == "confirmed"
    assert figures["bisection_random"].value > figures["bisection_worst"].value
    assert figures["share_worst"].value == pytest.approx(0.25e9)
    assert figures["stream_alone"].value == pytest.approx(1e9)
    assert figures["full_share_worst"].value == pytest.approx(0.25)
    (finding,) = [f for f in outcome.run.findings if f.kind == "bisection"]
    assert "25%" in finding.text
    assert finding.severity == "warn"


def test_each_node_is_in_one_pair_of_every_halving(simulate: Any) -> None:
    outcome = simulate("n[1-8]", {"halvings": 3, "steps": 4}, value=racks)
    waves: dict[Any, list[str]] = {}
    for cell in outcome.run.plan["cells"]:
        if cell["phase"] == "bisection":
            waves.setdefault(cell["wave"], []).append(f"{cell['client']}>{cell['server']}")
    assert len(waves) == 3 + 4 + 1
    for subjects in waves.values():
        ends = [node for subject in subjects for node in subject.split(">")]
        assert sorted(ends) == sorted([f"n{i}" for i in range(1, 9)] * 2), "once each way"


def test_a_full_bisection_is_said(simulate: Any) -> None:
    outcome = simulate("n[1-6]", {"steps": 2}, value=lambda *_: 1e9)
    (finding,) = [f for f in outcome.run.findings if f.kind == "bisection"]
    assert "full bisection bandwidth, 100%" in finding.text
    assert outcome.exit_code == 0


def test_a_slow_node_is_named(simulate: Any) -> None:
    def slow(client: str, server: str, params: Mapping[str, Any]) -> float:
        return 1e9 / (10 if "n3" in (client, server) else 1)

    outcome = simulate("n[1-8]", {"halvings": 4, "steps": 3}, value=slow)
    assert [f.subject for f in outcome.run.findings if f.kind == "node"] == ["n3"]
    assert outcome.exit_code == 1


def test_swaps_keep_everybody_in_one_pair_and_change_the_fastest() -> None:
    random = np.random.default_rng(0)
    pairs = random_halving([f"n{i}" for i in range(16)], random)
    rates = {pair: float(number) for number, pair in enumerate(pairs)}
    more = swapped(pairs, rates, random, 0.25)
    assert sorted(node for pair in more for node in pair) == sorted(node for pair in pairs for node in pair)
    changed = set(pairs) - set(more)
    assert len(changed) == 2
    assert changed <= set(pairs[-4:])


def test_an_odd_number_leaves_one_out() -> None:
    assert len(random_halving(list("abcde"), np.random.default_rng(0))) == 2


def test_three_nodes_are_too_few(simulate: Any) -> None:
    with pytest.raises(UsageError, match="at least 4"):
        simulate("n[1-3]")
