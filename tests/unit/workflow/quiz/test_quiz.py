"""Planted faults through a whole survey: the right one is named, once, with its cause where facts tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.workflow.simulating import simulator
from wulf.cluster.simulated.cluster import Refusal
from wulf.core.errors import FOUND, INCOMPLETE, OK
from wulf.selftest.blame import SIZES, surveyed
from wulf.selftest.simulated.planted import NOISES, Planted, accusations, figures, healthy, mistakes, planted
from wulf.stats.series.streams import Stream
from wulf.workflow.engine.effort import QUICK_LOOKS
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.net.survey import Survey

EVERY = 6
"""`make test` asks every sixth question, `make test-all` all of them."""

HARDEST, CV = NOISES[0.05][-1], 0.05
GENTLE = NOISES[0.02][0]

Quiz = Callable[[Planted], RunOutcome]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Quiz:
    """Survey a simulated cluster with a fault, noise of CV 2 %; its page is not written."""
    monkeypatch.setattr(Survey, "page", False)
    run = simulator(monkeypatch, tmp_path, Survey)

    def asked(fault: Planted) -> RunOutcome:
        figure = figures(fault, np.random.default_rng(len(fault.name)), GENTLE, 0.02)

        def value(client: str, server: str, params: Mapping[str, Any]) -> float:
            found = figure(client, server, str(params["pattern"]))
            if found is None:
                raise Refusal("timeout", f"{server}: no answer within {params['timeout']:g} s")
            return found

        unreachable = dict.fromkeys(fault.dead, "no route to host")
        return run(f"n[1-{fault.nodes}]", value=value, facts=fault.facts_of, unreachable=unreachable)

    return asked


def _question(fault: Planted, marks: bool) -> Any:
    return pytest.param(fault, id=fault.name, marks=[pytest.mark.full] if marks else [])


def _questions() -> list[Any]:
    """All; those of many nodes, and five of six of the others, are left to `make test-all`."""
    return [_question(fault, number % EVERY > 0 or fault.nodes > 8) for number, fault in enumerate(planted())]


@pytest.mark.parametrize("fault", _questions())
def test_who_is_to_blame(ask: Quiz, fault: Planted) -> None:
    outcome = ask(fault)
    assert mistakes(fault, outcome.run.findings) == []
    harmless = all(one["kind"] == "fact" for one in fault.blame)
    silent = any(one.get("blocked") or one.get("streams") or one.get("dead") for one in fault.plant)
    assert outcome.exit_code == (INCOMPLETE if silent else OK if harmless else FOUND)


def test_a_healthy_cluster_has_nothing_to_say(ask: Quiz) -> None:
    outcome = ask(healthy(6))
    assert accusations(outcome.run.findings) == []
    assert outcome.exit_code == OK


def test_there_are_enough_questions_of_every_size_and_each_is_asked_once() -> None:
    assert len({fault.name for fault in planted()}) == len(planted()) >= 40
    assert {fault.nodes for fault in planted()} == set(SIZES)
    assert all(fault.blame for fault in planted())
    assert QUICK_LOOKS == (6,), "the quiz is held with the fewest replicates that a user can ask for"


@pytest.mark.full
@pytest.mark.timeout(3600)  # a minute and a half of one CPU each, of which a busy machine gives a twentieth
@pytest.mark.parametrize("cv", NOISES)
def test_the_right_one_is_named_in_19_of_20(cv: float) -> None:
    for stream in NOISES[cv]:
        wrong = {
            f"{fault.name}, {seed}": found
            for seed in range(2)
            for fault in planted()
            if (found := mistakes(fault, surveyed(fault, np.random.default_rng([seed, 7]), stream, cv)))
        }
        assert len(wrong) <= 0.05 * 2 * len(planted()), wrong


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_nobody_is_accused_in_19_of_20_of_a_thousand_healthy_clusters() -> None:
    accused = {
        (nodes, seed): [finding.text for finding in found]
        for nodes in SIZES
        for seed in range(1000 // len(SIZES))
        if (found := accusations(_healthy(nodes, seed, HARDEST)))
    }
    assert len(accused) <= 0.05 * 1000, list(accused.items())[:10]


def _healthy(nodes: int, seed: int, stream: Stream) -> Any:
    return surveyed(healthy(nodes), np.random.default_rng([seed, nodes]), stream, CV)
