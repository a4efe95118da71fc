"""Sums and shares over what was measured at the same time: exactly."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.core.records import Record
from wulf.stats.estimates import Estimate
from wulf.workflow.net.waves import Scribe, by_wave, jain, ratio, shares


def record(subject: str, samples: list[float], blocks: list[int], wave: int | None = 0) -> Record:
    return Record.model_validate(
        {
            "run": "r", "subject": subject, "probe": "net", "metric": "throughput", "unit": "B/s", "value": 1.0,
            "verdict": "ok", "at": "now", "samples": samples, "blocks": blocks,
            "params": {} if wave is None else {"wave": wave},
        }
    )  # fmt: skip


def test_only_blocks_in_which_all_have_a_value_count() -> None:
    members = [record("a>c", [1.0, 2.0, 3.0], [0, 1, 3]), record("b>c", [10.0, 30.0, 40.0], [0, 3, 4])]
    assert shares(members).tolist() == [[1.0, 10.0], [3.0, 30.0]]
    assert shares([record("a>c", [1.0], [0]), record("b>c", [2.0], [1])]).shape == (0, 2)


def test_waves_are_told_apart() -> None:
    records = [
        record("a>b", [], [], 1),
        record("c>d", [], [], 1),
        record("a>b", [], [], 2),
        record("x>y", [], [], None),
    ]
    assert {wave: len(members) for wave, members in by_wave(records).items()} == {1: 2, 2: 1}


def test_jains_index() -> None:
    values = np.array([[5.0, 5.0, 5.0, 5.0], [8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 1.0, 0.0]])
    assert jain(values) == pytest.approx([1.0, 0.25, 16 / 24])


def test_a_ratio_is_as_unsure_as_both() -> None:
    found = ratio(Estimate(10.0, 8.0, 12.0, 0.97, 6), Estimate(5.0, 4.0, 6.0, 0.96, 9))
    assert (found.value, found.low, found.high, found.n) == (2.0, 8.0 / 6.0, 3.0, 6)
    assert found.confidence == pytest.approx(0.93)
    assert ratio(Estimate.unresolved(1, "few"), Estimate(5.0, 4.0, 6.0, 0.96, 9)).value is None
    assert ratio(Estimate(1.0, 1.0, 1.0, 0.97, 6), Estimate(5.0, 0.0, 6.0, 0.96, 9)).value is None


def test_only_a_figure_that_was_requested_is_held_to_the_width() -> None:
    scribe = Scribe("r", {"transport": "tcp"}, 0.05)
    wide = Estimate(10.0, 8.0, 12.0, 0.97, 6)
    assert scribe.record("n1", "incast", "B/s", wide).verdict == "ok"
    assert scribe.record("n1", "incast", "B/s", wide, requested=True).verdict == "noisy"
    none = scribe.record("n1", "incast", "B/s", Estimate.unresolved(2, "too few"), requested=True)
    assert (none.verdict, none.reason, none.statistic) == ("unresolved", "too few", None)
