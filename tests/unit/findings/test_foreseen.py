"""Before measuring, it is said what can be seen."""

from __future__ import annotations

import re

from tests.wording import Wording
from wulf.findings.foreseen import foreseen


def test_four_nodes_are_told_what_will_be_found(wording: Wording) -> None:
    text = foreseen(["a"] * 4, 8, 1, 0.03)
    rest, busy = (float(one) for one in re.findall(r"([\d.]+)% slower", text))
    assert 5 < rest < 10 < busy
    wording(text)


def test_each_number_of_like_nodes_once_and_those_that_cannot_be_judged(wording: Wording) -> None:
    text = foreseen(["a"] * 64 + ["b"] * 64 + ["c"] * 4 + ["d"] * 3, 8, 80, 0.03)
    assert text.count("of 64 like nodes") == text.count("of 4 like nodes") == 1
    wording(text)


def test_more_figures_more_noise_and_a_wider_margin_hide_more() -> None:
    def rest(metrics: int = 1, replicates: int = 8, margin: float = 0.03) -> float:
        return float(re.findall(r"([\d.]+)% slower", foreseen(["a"] * 16, replicates, metrics, margin))[0])

    assert rest() < min(rest(replicates=2), rest(margin=0.10))
    assert rest() <= rest(metrics=1000)
