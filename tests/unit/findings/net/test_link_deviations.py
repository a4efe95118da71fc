"""Who deviates over the links of a survey."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.unit.findings.test_run import record
from wulf.core.records import Record
from wulf.findings.net.link_deviations import deviating


def survey(seed: int, nodes: int, slow: float = 1.0, drift: float = 0.0) -> list[Record]:
    """TCP round trips over all pairs; half of the links had enough after 8 of the 24 passes of a drift."""
    random = np.random.default_rng(seed)
    own = 0.005 * random.normal(size=nodes) + np.log(np.r_[slow, np.ones(nodes - 1)])
    found = []
    for number, (a, b) in enumerate(combinations(range(nodes), 2)):
        n = 8 if number % 2 else 24
        x = 2e-5 * np.exp(own[a] + own[b] + 0.01 * random.normal(size=n) + np.linspace(0, drift, 24)[:n])
        found.append(record(f"n{a}>n{b}", float(np.median(x)), "pingpong", samples=x.tolist(), replicates=n))
    return found


def accused(records: list[Record], **more: float) -> list[str]:
    return [f.subject for f in deviating(records, {}, **more) if f.kind == "deviation"]


@pytest.mark.parametrize("drift", [0.0, 0.1, 0.4])
def test_five_per_cent_are_found_whatever_the_machines_drift(drift: float) -> None:
    found = [accused(survey(seed, 12, 1.05, drift)) for seed in range(20)]
    assert sum(one == ["n0"] for one in found) >= 17
    assert not any(accused(survey(seed, 12, 1.0, drift)) for seed in range(20))


def test_of_four_nodes_the_one_that_is_ten_per_cent_slower_is_found() -> None:
    assert sum(accused(survey(seed, 4, 1.10)) == ["n0"] for seed in range(30)) >= 26


def test_who_is_blamed_already_is_left_out_and_the_margin_can_be_set() -> None:
    records = survey(1, 12, 1.08)
    assert accused(records) == ["n0"]
    assert accused(records, margin=0.1) == []
    assert not [f for f in deviating(records, {}, frozenset({"n0"})) if f.kind == "deviation"]
