"""A curve over a simulated pair: what is slower beyond the best size, and the cause that was planted, alone."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.simulating import QUICK, simulator
from wulf.cluster.simulated import cluster as simulated
from wulf.core.findings import Finding
from wulf.measure.engine.curve import NET_ARMS, NET_SUSPECTS, PROOF, SUSPECT
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.workflow.engine.curve import Curve
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.net.one_pair import PairCurve

SIZES = [2**exponent for exponent in range(10, 21, 2)]
PATIENT = Effort(width=0.05)

STREAM = Cell(0, "n1", "n2", "tcp", "stream", {"seconds": 0.01}, (Metric("throughput", "B/s", "higher"),))

MORE = [
    {"name": "direction", "type": "str", "unit": "", "default": "out", "help": "", "choices": ["out", "both"]},
    {"name": "waiting", "type": "str", "unit": "", "default": "block", "help": "", "choices": ["block", "epoll"]},
    {"name": "call_bytes", "type": "int", "unit": "B", "default": None, "help": ""},
    {"name": "cold", "type": "bool", "unit": "", "default": False, "help": ""},
]

Rate = Callable[[Mapping[str, Any]], float]


def rising(params: Mapping[str, Any]) -> float:
    """Each message costs 2 µs beside its bytes."""
    size = int(params["bytes"])
    return size / (2e-6 + size / 1e9)


def falling(params: Mapping[str, Any]) -> float:
    """Beyond 64 KiB a call is a third slower; in pieces it is not."""
    call = params["call_bytes"] or params["bytes"]
    return rising(params) * (2 / 3 if call > 65536 else 1.0)


def cached(params: Mapping[str, Any]) -> float:
    """What does not fit into 64 KiB of cache is a third slower, and so is what comes from memory."""
    return rising(params) * (2 / 3 if params["bytes"] > 65536 or params["cold"] else 1.0)


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    net = copy.deepcopy(simulated.WULF_NET)
    next(one for one in net["patterns"] if one["name"] == "stream")["params"] += MORE
    monkeypatch.setattr(simulated, "WULF_NET", net)
    run = simulator(monkeypatch, tmp_path, PairCurve)

    def simulate(rate: Rate, effort: Effort = PATIENT, spread: float = 0.01) -> RunOutcome:
        noise = random.Random(3)
        curve = Curve(NET_ARMS[:1], NET_SUSPECTS, SIZES)
        value = lambda _client, _server, params: rate(params) * noise.lognormvariate(0, spread)  # noqa: E731
        return run("n1,n2", {"cell": STREAM, "curve": curve}, effort=effort, value=value)

    return simulate


def told(outcome: RunOutcome) -> Finding:
    (found,) = [finding for finding in outcome.run.findings if finding.kind == "curve"]
    return found


def test_the_planted_cause_is_named_and_no_other(simulate: Any) -> None:
    outcome = simulate(falling)
    assert outcome.exit_code == 0
    text = told(outcome).text
    assert "best" in text.split(".", maxsplit=1)[0] and "64 KiB" in text.split(".", maxsplit=1)[0]
    assert "It falls beyond" in text
    assert "calls of the best size" in text
    assert "caches" not in text and "woken" not in text


def test_another_cause_is_told_from_it(simulate: Any) -> None:
    text = told(simulate(cached)).text
    assert "caches" in text
    assert "calls of the best size" not in text


def test_an_unknown_cause_stays_unknown(simulate: Any) -> None:
    text = told(simulate(lambda params: rising(params) * (2 / 3 if params["bytes"] > 65536 else 1.0))).text
    assert "Nothing that was tried explains it." in text


def test_a_curve_that_does_not_fall_accuses_nobody(simulate: Any) -> None:
    outcome = simulate(rising)
    assert "falls" not in told(outcome).text
    assert not [record for record in outcome.run.records if record.params.get(SUSPECT)]


def test_ratios_are_of_blocks_measured_anew(simulate: Any) -> None:
    outcome = simulate(falling)
    (fall,) = [
        record for record in outcome.run.records
        if record.metric == "ratio" and SUSPECT not in record.params and record.seen and record.params["bytes"] > 65536
    ]  # fmt: skip
    assert fall.phase == PROOF
    assert fall.low is not None and fall.high is not None
    assert (
        fall.low < falling({"bytes": fall.params["bytes"], "call_bytes": None}) / rising({"bytes": 65536}) < fall.high
    )
    assert fall.replicates >= 8


def test_to_be_quick_proves_nothing_and_says_so(simulate: Any) -> None:
    outcome = simulate(falling, replace(QUICK, width=0.05))
    assert "too few blocks prove it" in told(outcome).text
    assert not [record for record in outcome.run.records if record.phase == PROOF]


def test_noise_alone_is_no_fall(simulate: Any) -> None:
    """Flat, and noisy: the best of six sizes is best by chance, and is not claimed to be better than the others."""
    text = told(simulate(lambda _params: 1e9, spread=0.15)).text
    assert "It falls beyond" not in text
