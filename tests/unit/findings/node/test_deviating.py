"""Who deviates among the nodes of a survey: judged by figures that the passes' drift is taken out of."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.measure.node_records import record
from tests.wording import Wording
from wulf.core.records import Record
from wulf.findings.node.deviating import node_findings

ROW = "os.syscall.null"


def survey(seed: int, nodes: int, slow: float = 1.0, drift: float = 0.0) -> list[Record]:
    """One row: like nodes differ by half a per cent, replicates by one; the first is `slow`."""
    random = np.random.default_rng(seed)
    own = 0.005 * random.normal(size=nodes) + np.log(np.r_[slow, np.ones(nodes - 1)])
    samples = 1e-7 * np.exp(own[:, None] + 0.01 * random.normal(size=(nodes, 8)) + np.linspace(0, drift, 8))
    return [record(f"n{node}", ROW, float(np.median(x)), samples=x.tolist()) for node, x in enumerate(samples)]


def accused(records: list[Record], margin: float = 0.03) -> list[str]:
    return [f.subject for f in node_findings(records, {}, margin) if f.kind == "deviation"]


@pytest.mark.parametrize("drift", [0.0, 0.1, 0.4])
def test_five_per_cent_are_found_whatever_the_machines_drift(drift: float) -> None:
    found = [accused(survey(seed, 16, 1.05, drift)) for seed in range(30)]
    assert sum(one == ["n0"] for one in found) >= 26
    assert all(set(one) <= {"n0"} for one in found)
    assert not any(accused(survey(seed, 16, 1.0, drift)) for seed in range(30))


def test_of_four_nodes_the_one_that_is_ten_per_cent_slower_is_found() -> None:
    assert sum(accused(survey(seed, 4, 1.10)) == ["n0"] for seed in range(40)) >= 36


def test_one_that_is_within_the_margin_is_not_and_the_margin_can_be_set() -> None:
    assert accused(survey(1, 64, 1.05)) == ["n0"]
    assert accused(survey(1, 64, 1.05), margin=0.05) == []


def test_a_clocks_ticks_are_no_deviation() -> None:
    ticks = [record(f"n{node}", ROW, 20.0, samples=[21.0 if node == 3 else 20.0] * 8) for node in range(16)]
    assert accused(ticks) == []


def test_the_chance_that_it_is_not_so_and_what_could_have_been_seen_are_told(wording: Wording) -> None:
    deviation, note = node_findings(survey(2, 16, 1.08), {})
    (evidence,) = deviation.evidence
    assert evidence.low is not None
    assert evidence.low > 1.03
    assert evidence.p < 1e-3
    wording(deviation.text)
    wording(note.text)


def test_a_node_of_three_is_not_judged() -> None:
    (note,) = node_findings(survey(2, 3, 1.5), {})
    assert "can't be judged" in note.text
